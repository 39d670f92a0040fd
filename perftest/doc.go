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
//	PERFTEST_REQUIRED  -perf.required   fail instead of simulating, and (with [Main]) when no
//	                                    scenario ran; for gates in CI
//
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured as net/http honours them,
// and CI keeps the progress line off the terminal.
//
// # What is measured
//
// Each request has one set of stamps, and every metric is a function of them.
// Stamps are monotonic and taken when the socket read returns that completed
// an event, not when the event was parsed.
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
// for them.
//
// A request that did not succeed has one class: connect, status, timeout,
// reset, truncated, stream-error, malformed, empty, cancelled or short. It is
// counted, and in every objective it is worse than any limit.
//
// # What is written
//
// Each run makes a folder <results>/<test>/<time> with result.json (all
// figures, the scenario, the environment and the verdicts) and requests.jsonl
// (one line a request, with its raw stamps). [ReadResult] reads them back.
//
// # Living with go test
//
// Run keeps go test from answering out of its cache, stops before the test's
// deadline and at Ctrl-C with a partial result, and waits while another
// process of this machine measures the same server.
package perftest
