// Package perftest makes latency objectives of language-model servers into Go
// tests. A test describes a [Scenario], [Run] drives it against a server and
// gives a [Result], and package assert holds that against objectives:
//
//	func TestQwen3(t *testing.T) {
//		res := perftest.Run(t, perftest.Scenario{
//			Target:   fixtures.Server(t, simserver.Qwen3_32B),
//			Workload: fixtures.Builtin{Output: 128},
//			Load:     perftest.Closed{Concurrency: 8, Requests: 512},
//			Warmup:   perftest.Warmup{Requests: 8},
//		})
//		assert.SLOs(t, res,
//			assert.TTFT(assert.P99).Below(time.Second),
//			assert.TPOT(assert.Mean).Below(50*time.Millisecond),
//			assert.ErrorRate().AtMost(0),
//		)
//	}
//
// # Environment
//
// Run reads these when it starts. A flag follows -args and wins over its
// variable. There is no flag for the key: a command line can be read by every
// user of a machine.
//
//	variable           flag             meaning
//	PERFTEST_URL       -perf.url        server to measure, with its scheme; with or without /v1.
//	                                    Without it, fixtures.Server starts a simulated one.
//	PERFTEST_MODEL     -perf.model      model to ask for; else the first that the server lists
//	PERFTEST_API_KEY   none             key to send as a bearer token; else OPENAI_API_KEY
//	PERFTEST_RESULTS   -perf.results    folder for results; else .perftest in the test's package.
//	                                    A relative one counts from the package's folder.
//	PERFTEST_SHARD     -perf.shard      part i/n of the load that this process sends; [Merge]
//	                                    joins the parts' results
//	PERFTEST_RENDEZVOUS  none           host:port at which the shards of a load meet, to begin
//	                                    together and give one result; see package perftest/cluster
//	PERFTEST_NONCE     none             the run's own number, which makes random prompts new to the
//	                                    server; set it to repeat them, or for shards of one run
//	PERFTEST_CHARTS    -perf.charts     "svg", "png" or "svg,png": the charts of report.html as
//	                                    files too, in the folder charts beside it
//	none               -perf.compare    folders of results, by commas: [Main] compares them in one
//	                                    page and runs no test
//	PERFTEST_REPLAY    -perf.replay     folders, by commas, in or below which the stored runs of the
//	                                    tests are: Run sends nothing, and gives these to be judged
//	                                    and reported again; shards of one run are merged
//	PERFTEST_MISSING   -perf.missing    replay a run although shards are missing: it is partial
//	PERFTEST_LIVE      -perf.live       address, such as 127.0.0.1:8088, of a page that shows the runs
//	                                    under way and has a button that ends them as Ctrl-C does
//	PERFTEST_LIVE_OUTSIDE  -perf.live-outside  let it be an address that other machines reach:
//	                                    whoever can open the page can end the runs
//	PERFTEST_BOTTLENECK  none           "warn" judges a run although its client was the bottleneck
//	PERFTEST_UPDATE    -perf.update     append what was measured to the baselines of assert.NoRegression
//	PERFTEST_REQUIRED  -perf.required   fail instead of simulating, and (with [Main]) when no
//	                                    scenario ran; for gates in CI
//
// For CI, of which each is off unless its variable is set (GitHub sets its own); a
// relative path counts from the package's folder:
//
//	PERFTEST_METRICS      a file of OpenMetrics text, for GitLab's metrics report: the headline
//	                      figures and the verdicts (slo_verdict: 1 PASS, 0 FAIL, 0.5 INCONCLUSIVE,
//	                      -1 INVALID) of all tests, to three digits. One absolute path serves
//	                      several packages; a test that runs again replaces its own figures
//	PERFTEST_BENCH        a file to which each run appends a line in the Go benchmark format, for
//	                      benchstat; [BenchmarkLines] gives the same
//	GITHUB_STEP_SUMMARY   each test appends its verdicts, and what they are to the baseline's, to
//	                      the summary of the step, as Markdown; with all figures folded below
//	GITHUB_ACTIONS        "true" shows each failed test at the line of its assertion: the ten worst
//	                      (with [Main], and not under go test -json, which gotestsum uses: there,
//	                      the first ten)
//
// JUnit has the figures and the verdicts as properties of each test ([testing.T.Attr]).
//
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured as net/http honours them,
// and CI keeps the progress line off the terminal.
//
// # What is measured
//
// Each request has one set of stamps, and every metric is a function of them.
// Stamps are monotonic and say when the bytes that completed an event arrived,
// not when the event was parsed.
//
//	TTFT      first token event - sent (a role-only first event is no token)
//	TTFA      first token event that is not reasoning - sent
//	TTST      second token event - first token event
//	TPOT      (last token event - first) / (output tokens - 1)
//	ITL       gap between successive token events, over all requests
//	Latency   end of the answer - sent
//	Response  end of the answer - scheduled start
//
// Output tokens are the server's count (usage). Where it does not count, they
// are unknown: neither the requested length nor the number of events stands in
// for them. An answer in one piece has a latency and no time to first token.
//
// Both ends of a closed loop are kept out of every figure ([Closed].KeepEnds has
// them in, as most tools do): all slots send at once at its start, and fewer and
// fewer are busy at its end. The first request of each slot is marked "start",
// and what keeps slots busy until the last measured request has ended "padding".
// The summary shows the figures with the start burst beside those without.
//
// Rates are then over the time from the first to the last measured sending, by
// what ended in it; else over that from the first sending to the last end.
//
// # Verdicts
//
// A [Verdict] has the outcome of the figure itself (Point: PASS or FAIL) and that
// of the evidence (Outcome: PASS, FAIL or INCONCLUSIVE, each proven at 95 %, or at
// [SLO].Confidence); both are INVALID for a run that cannot tell. assert.SLOs goes
// by the first and says the second, assert.Gate goes by the second.
// [Result.Judge] has the rules. [Scenario].SLOs lets Run refuse before any load
// a plan that cannot prove them, stop a run as soon as one of them must fail
// whatever is still to come, and extend one that is inconclusive.
//
// # Failures
//
// A request that did not succeed has one class, and is counted:
//
//	connect       DNS, dial or TLS failed
//	status        an answer with status 4xx or 5xx, or a redirect (none is followed)
//	timeout       one of the scenario's Timeouts; the phase says which
//	reset         the connection broke before the answer began
//	truncated     the answer ended without end mark or finish reason (of each choice
//	              that had begun), or broke
//	stream-error  an error object or error event inside a 200 answer, or a finish
//	              reason that is one: error, abort, aborted
//	malformed     bytes that are no event, or an event that is no JSON
//	empty         a clean end without any output
//	short         fewer tokens than asked although the end token is ignored
//	              (a warning, unless Scenario.ShortIsFailure)
//	cancelled     given up by the scenario: neither success nor failure
//
// In every objective a failed request is worse than any limit. One bad answer
// never ends a run.
//
// # What is written
//
// Each run makes a folder <results>/<test>/<time> with result.json (all
// figures, the scenario, the environment and the verdicts), requests.jsonl, and
// report.html (the same for people, in one file that needs no network; written
// when the test ends). A sweep adds a page of all its levels, and [Compare]
// makes one of several results. [ReadResult] reads results back. Names ending in _s are seconds; null is what is
// not known; a text that is not known is empty in result.json.
//
// A line of requests.jsonl is one request, in order of their ends:
//
//	index, phase        position in its phase's plan; "measured", "warmup", "start"
//	                    or "padding": the last three are in no figure
//	slot, row, tag      which slot sent it; the workload's row and kind
//	turn                of a conversation, from 1; choices, items: what it asked for
//	scheduled_s … done_s  the stamps, in seconds after the run's start; wrote_s is
//	                    the first byte on the socket, body_end_s the end of the body
//	choice_first_tokens_s  the first token of each choice, where there were several
//	dns_s, dial_s, tls_s  parts of connecting; null where the connection was reused
//	resent              sent again on a fresh connection, because the server had closed
//	                    the reused one before it read anything
//	status, finish_reason, asked_tokens, planned_input_tokens
//	input_tokens, output_tokens, cached_tokens, reasoning_tokens, audio_tokens (of
//	                    the output), input_audio_tokens, and the sources of the
//	                    first two: usage, tokenizer or none
//	data_events, token_events, coalesced  events; those with output; those that shared
//	                    a socket read with the one before
//	max_gap_s, bytes    largest gap between token events; bytes of the body
//	class, failure_phase, message  null on success
//	event_gaps_s        arrival of the first event after sent_s, then each after the last
//	event_kinds         two hexadecimal digits an event: 01 choices, 02 answer, 04
//	                    reasoning, 08 finish reason, 10 usage, 20 end mark, 40 coalesced,
//	                    80 with 02: the output is no text (a tool call's arguments, audio)
//	event_tokens        output tokens of each event, where the server says so
//
// The slowest measured requests, and the p99 that the verdicts saw:
//
//	jq -s 'map(select(.phase=="measured")) | sort_by(.done_s-.sent_s) | .[-3:][] | {index, row, class, latency: (.done_s-.sent_s)}' requests.jsonl
//	jq '.metrics.ttft_s.percentiles.p99, .failures' result.json
//
// With [Scenario.ServerMetrics] there is server.jsonl, too: a line a scrape of the
// server's own metrics, with at_s (seconds after the run's start), load (before,
// during or after it), error where it failed, and samples: name, labels, kind
// (gauge or counter) and value, in the server's unit.
//
//	jq -r '.at_s as $at | .samples[] | select(.name=="vllm:num_requests_waiting") | [$at, .value] | @tsv' server.jsonl
//
// # Following a run
//
// On a terminal a line shows how the run stands; elsewhere, with go test -v, it is
// a line every ten seconds. [Scenario.Observers] get the same figures once a
// second, and every request that has ended, for exporters and live pages
// (perftest/export has some). However slow one is, it changes nothing of the run;
// what it misses is counted.
//
// # Comparing runs
//
// [Scenario].Repeat makes several runs, and assert.NoRegression compares them
// with those of a baseline, see [Result.Against]. A baseline is a file in
// testdata/perftest of the test's package, made and added to by
// PERFTEST_UPDATE=1, with a run a line and what made it comparable (its
// [Fingerprint]): runs of another model, load, data set or sort of machine are
// INCOMPARABLE. Lines are only ever added, and what is compared with is the last
// series of runs with the same fingerprint, so that one file serves several
// machines. [AB] compares two servers without a file, and [MaxLoad] searches the
// highest load that a server bears, also from several machines.
//
// # Living with go test
//
// Run keeps go test from answering out of its cache, stops before the test's
// deadline and at Ctrl-C with a partial result, and waits while another
// process of this machine measures the same server (use go test -p 1 with
// several packages: the wait counts against -timeout).
//
// In a testing/synctest bubble a run of an hour is over in a second, and times
// are exact. No network reaches into one: [Target.Dial] has to be in memory, as
// that of simserver.StartPipe, which fixtures.Server takes there.
package perftest
