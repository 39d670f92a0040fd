package perftest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

// Thousands of requests, against a model of 200 ms to the first token and 20 ms
// for each further one: every figure is the model's, to the nanosecond. A plain
// sum of as many of them is off by more, and the last round is not full.
func TestRunIsExact(t *testing.T) {
	const tokens = 5
	inResults(t)
	for c, n := range map[int]int{1: 1000, 8: 2500, 64: 6410} {
		t.Run(fmt.Sprintf("c=%d", c), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
				res := perftest.Run(t, perftest.Scenario{
					Target:   s.Target(),
					Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: tokens},
					Load:     perftest.Closed{KeepEnds: true, Concurrency: c, Requests: n},
					Warmup:   perftest.Warmup{Requests: 2 * c},
				})
				require.Equal(t, n, res.Counts.Succeeded)
				require.Equal(t, 2*c, res.Counts.Warmup)
				flat := func(name string, d perftest.Distribution, count int, want float64) {
					t.Helper()
					require.Equal(t, count, d.Count, name)
					require.Equal(t, perftest.Value(want), d.Min, name)
					require.Equal(t, perftest.Value(want), d.Max, name)
					require.Equal(t, perftest.Value(want), d.Mean, name)
					require.Equal(t, perftest.Value(0), d.StdDev, name)
					require.Equal(t, perftest.Value(want), d.P(99), name)
				}
				m := res.Metrics
				flat("TTFT", m.TTFT, n, 0.200)
				flat("TTFA", m.TTFA, n, 0.200)
				flat("TTST", m.TTST, n, 0.020)
				flat("TPOT", m.TPOT, n, 0.020)
				flat("ITL", m.ITL, n*(tokens-1), 0.020)
				flat("latency", m.Latency, n, 0.280)
				flat("response", m.Response, n, 0.280) // no time between answer and next request
				flat("queue", m.Queue, n, 0)
				flat("output tokens", m.OutputTokens, n, tokens)
				rounds := (n + c - 1) / c
				require.InDelta(t, float64(rounds)*0.280, float64(res.Window), 1e-12)
				require.InDelta(t, float64(n)/(float64(rounds)*0.280), float64(res.Rates.Requests), 1e-9)
				require.InDelta(t, float64(c)/0.280, float64(res.Steady.Requests), 1e-9)

				again, err := perftest.ReadResult(res.Dir)
				require.NoError(t, err)
				if d := cmp.Diff(res, again, cmpopts.IgnoreUnexported(perftest.Result{})); d != "" {
					t.Errorf("read again (-written +read):\n%s", d)
				}
				slo := perftest.SLO{Metric: perftest.TTFT, Stat: "p99", Op: perftest.AtMost, Limit: 0.2}
				require.Equal(t, perftest.Pass, again.Judge(slo)[0].Point)
			})
		})
	}
}

// Of 100 requests 5 get a 503, 3 a truncated stream and 2 an error inside the
// stream.
func TestRunCountsFailures(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Faults: []simserver.Fault{
			{Kind: simserver.Status503, Requests: []int{5, 15, 25, 35, 45}}, // 0 is the preflight
			{Kind: simserver.EndAtHalf, Requests: []int{50, 60, 70}},
			{Kind: simserver.ErrorEvent, Requests: []int{80, 90}},
		}})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 8},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 4, Requests: 100},
		})
		require.Equal(t, []int{100, 90, 10, 0}, []int{res.Counts.Sent, res.Counts.Succeeded, res.Counts.Failed, res.Counts.Cancelled})
		got := map[string]int{}
		for _, f := range res.Failures {
			got[strings.TrimSuffix(fmt.Sprintf("%s %d", f.Class, f.Status), " 0")] += f.Count
			require.NotEmpty(t, f.Example)
		}
		want := map[string]int{"status 503": 5, "truncated 200": 3, "stream-error 200": 2}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("failures (-want +got):\n%s", d)
		}
		ttft := func(stat perftest.Stat) perftest.SLO {
			return perftest.SLO{Metric: perftest.TTFT, Stat: stat, Op: perftest.AtMost, Limit: 0.1}
		}
		verdicts := res.Judge(ttft("p90"), ttft("p95"))
		require.Equal(t, perftest.Pass, verdicts[0].Point)
		require.Equal(t, perftest.Fail, verdicts[1].Point)
	})
}

// A bad configuration is one line with field, value and remedy, and sends nothing.
func TestRunRefuses(t *testing.T) {
	s := simserver.Start(t, simserver.Profile{Model: "there"})
	good := func() perftest.Scenario {
		return perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
		}
	}
	for name, c := range map[string]struct {
		change func(*perftest.Scenario)
		want   []string
		posts  int
	}{
		"no concurrency":    {func(s *perftest.Scenario) { s.Load = perftest.Closed{KeepEnds: true, Requests: 1} }, []string{"Load.Concurrency is 0", "1 or more"}, 0},
		"no end":            {func(s *perftest.Scenario) { s.Load = perftest.Closed{KeepEnds: true, Concurrency: 1} }, []string{"Load.Requests is 0", "Duration"}, 0},
		"negative requests": {func(s *perftest.Scenario) { s.Load = perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: -3} }, []string{"Load.Requests is -3"}, 0},
		"no load":           {func(s *perftest.Scenario) { s.Load = nil }, []string{"Load is nil", "perftest.Closed{"}, 0},
		"no workload":       {func(s *perftest.Scenario) { s.Workload = nil }, []string{"Workload is nil"}, 0},
		"negative time-out": {func(s *perftest.Scenario) { s.Timeouts.FirstToken = -time.Second }, []string{"Timeouts.FirstToken is -1s", "5m0s"}, 0},
		"negative warm-up":  {func(s *perftest.Scenario) { s.Warmup.Requests = -1 }, []string{"Warmup.Requests is -1"}, 0},
		"no URL":            {func(s *perftest.Scenario) { s.Target = perftest.Target{Model: "m"} }, []string{`Target.URL is ""`, "PERFTEST_URL"}, 0},
		"no scheme":         {func(s *perftest.Scenario) { s.Target.URL = "localhost:8000" }, []string{`Target.URL is "localhost:8000"`, "http://"}, 0},
		"odd parameter":     {func(s *perftest.Scenario) { s.Target.Params = map[string]any{"f": func() {}} }, []string{`Target.Params["f"] is a func()`}, 0},
		"no certificate":    {func(s *perftest.Scenario) { s.Target.TLS.CAFile = "absent.pem" }, []string{`Target.TLS.CAFile is "absent.pem"`}, 0},
		"no prompt file":    {func(s *perftest.Scenario) { s.Workload = fixtures.File{Path: "absent.jsonl"} }, []string{`absent.jsonl`}, 0},
		"unknown model":     {func(s *perftest.Scenario) { s.Target.Model = "absent" }, []string{"404", `Target.Model is "absent"`, `"there"`, "PERFTEST_MODEL"}, 1},
		"no whole answers":  {func(s *perftest.Scenario) { s.Target.NoStream, s.Target.API = true, perftest.TGIGenerate }, []string{"Target.NoStream is true", "always streams"}, 0},
		"own parameter":     {func(s *perftest.Scenario) { s.Target.Params = map[string]any{"stream": false} }, []string{`Target.Params is "stream"`, "Target.NoStream"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			inResults(t)
			scenario := good()
			c.change(&scenario)
			before := s.Requests()
			fatal := fatalOf(t, scenario)
			for _, want := range c.want {
				require.Contains(t, fatal, want)
			}
			require.NotContains(t, fatal, "\n")
			require.Equal(t, c.posts, s.Requests()-before, "requests sent")
		})
	}
}

// In a bubble a network is refused: a run would stand still until go test ends
// the test, with nothing said but a dump of goroutines.
func TestNoNetworkInABubble(t *testing.T) {
	inResults(t)
	real := simserver.Start(t, simserver.Profile{})
	synctest.Test(t, func(t *testing.T) {
		fatal := fatalOf(t, perftest.Scenario{
			Target:   real.Target(),
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
		})
		require.Contains(t, fatal, "Target.Dial is nil: set it in a testing/synctest bubble")
		require.Contains(t, fatal, "simserver.StartPipe")
		_, err := simserver.Listen(simserver.Profile{}, "127.0.0.1:0")
		require.ErrorContains(t, err, "use StartPipe")
	})
	require.Zero(t, real.Requests())
}

// The preflight says in one line what is wrong with a server, and what to set.
func TestPreflight(t *testing.T) {
	for name, c := range map[string]struct {
		profile simserver.Profile
		change  func(*perftest.Target)
		want    []string
	}{
		"401":        {simserver.Profile{APIKey: "secret"}, func(t *perftest.Target) { t.APIKey = "wrong-key" }, []string{"401", "PERFTEST_API_KEY"}},
		"400":        {simserver.Profile{XLLM: true}, func(t *perftest.Target) { t.Params = map[string]any{"seed": 1} }, []string{"400", "seed", "Target.Params"}},
		"refused":    {simserver.Profile{}, func(t *perftest.Target) { t.URL = "http://127.0.0.1:1" }, []string{"connect", "refused", "start the server", "PERFTEST_URL"}},
		"no host":    {simserver.Profile{}, func(t *perftest.Target) { t.URL = "http://slogate.invalid" }, []string{"connect", "name is not known"}},
		"no TLS":     {simserver.Profile{}, func(t *perftest.Target) { t.URL = strings.Replace(t.URL, "http:", "https:", 1) }, []string{"connect", "http://"}},
		"path":       {simserver.Profile{}, func(t *perftest.Target) { t.URL += "/elsewhere" }, []string{"404", "Target.URL"}},
		"page":       {simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.HTMLBody}}}, nil, []string{"malformed", "no answer of the chat API", "Target.URL"}},
		"no usage":   {simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.UsageNever}}}, nil, []string{"no usage", "include_usage", "Target.UsageOptional"}},
		"redirect":   {simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.Redirect}}}, nil, []string{"307", "redirects are not followed"}},
		"error":      {simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.ErrorEvent}}}, nil, []string{"stream-error"}},
		"overloaded": {simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.Status429}}}, nil, []string{"429", "limit"}},
	} {
		t.Run(name, func(t *testing.T) {
			inResults(t)
			s := simserver.Start(t, c.profile)
			target := s.Target()
			if c.change != nil {
				c.change(&target)
			}
			fatal := fatalOf(t, perftest.Scenario{
				Target:   target,
				Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 8},
				Load:     perftest.Closed{KeepEnds: true, Concurrency: 4, Requests: 100},
			})
			for _, want := range append(c.want, "no load was sent") {
				require.Contains(t, fatal, want)
			}
			require.NotContains(t, fatal, "\n")
			require.NotContains(t, fatal, "wrong-key")
			require.LessOrEqual(t, s.Requests(), 1)
		})
	}
}

func TestRunWithoutUsage(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TPOT: time.Millisecond, Faults: []simserver.Fault{{Kind: simserver.UsageNever}}})
		target := s.Target()
		target.UsageOptional = true
		res := perftest.Run(t, perftest.Scenario{
			Target:   target,
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 8},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 10},
		})
		require.Equal(t, 10, res.Counts.Succeeded)
		require.Equal(t, 10, res.Counts.NoUsage)
		require.False(t, res.Rates.Output.Known(), "tokens that nobody counted have no rate")
		require.Zero(t, res.Metrics.TPOT.Count)
		require.Equal(t, 70, res.Metrics.ITL.Count)
		require.Contains(t, strings.Join(res.Warnings, "\n"), "10 of 10 answers came without a token count")
	})
}

// The workload's end, and the duration, end a run in order.
func TestRunEnds(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
		run := func(load perftest.Load, w perftest.Workload) *perftest.Result {
			return perftest.Run(t, perftest.Scenario{Target: s.Target(), Workload: w, Load: load})
		}
		short := run(perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 100}, threeRequests{})
		require.Equal(t, 3, short.Counts.Sent)
		require.False(t, short.Partial)
		require.Contains(t, strings.Join(short.Warnings, "\n"), "ended after 3 of 100 requests")

		// Two slots for 1 s at 100 ms an answer: starts at 0, 100, …, 900 ms.
		timed := run(perftest.Closed{KeepEnds: true, Concurrency: 2, Duration: time.Second}, fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1})
		require.Equal(t, 20, timed.Counts.Succeeded)
		require.Equal(t, "complete", timed.Ended)
	})
}

// A workload of a test's own, as a user would write it.
type threeRequests struct{}

func (threeRequests) Open(context.Context, perftest.RunInfo) (perftest.Source, error) {
	return new(threeSource), nil
}

type threeSource int

func (s *threeSource) Next() (perftest.Request, error) {
	if *s++; *s > 3 {
		return perftest.Request{}, io.EOF
	}
	return perftest.Request{Messages: []perftest.Message{{Content: fmt.Sprint("Hello ", *s)}}, MaxTokens: 1}, nil
}

func (*threeSource) Close() error { return nil }

// inResults lets the results of t go to a folder of its own.
func inResults(t *testing.T) {
	results := t.TempDir()
	schematest.AtEnd(t, results)
	t.Setenv("PERFTEST_RESULTS", results)
	t.Setenv("PERFTEST_REQUIRED", "")
	t.Setenv("CI", "true")
}

// fatalT keeps the message of the fatal error that ends the test.
type fatalT struct {
	testing.TB
	message string
}

func (t *fatalT) Helper() {}
func (t *fatalT) Fatalf(format string, args ...any) {
	t.message = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func fatalOf(t *testing.T, s perftest.Scenario) string {
	t.Helper()
	return fatalIn(t, func(t testing.TB) { perftest.Run(t, s) })
}

func fatalIn(t *testing.T, f func(t testing.TB)) string {
	t.Helper()
	fatal := &fatalT{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(fatal)
	}()
	<-done
	require.NotEmpty(t, fatal.message, "it went on")
	return fatal.message
}

// The result names the test's package, also behind a helper and in a sub-test.
func TestResultNamesThePackage(t *testing.T) {
	inResults(t)
	t.Run("sub", func(t *testing.T) {
		s := simserver.Start(t, simserver.Profile{})
		helper := func() *perftest.Result {
			return perftest.Run(t, perftest.Scenario{
				Target:   s.Target(),
				Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
				Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
			})
		}
		res := helper()
		require.Equal(t, "github.com/slogate/slogate/perftest", res.Package)
		require.Contains(t, res.VerdictTable([]perftest.Verdict{{Outcome: perftest.Fail}}),
			"run go test -v github.com/slogate/slogate/perftest -run '^TestResultNamesThePackage$/^sub$'")
	})
}

// same is a workload of one request, over and over.
type same struct{ request perftest.Request }

func (w same) Open(context.Context, perftest.RunInfo) (perftest.Source, error) { return w, nil }
func (w same) Next() (perftest.Request, error)                                 { return w.request, nil }
func (w same) Close() error                                                    { return nil }

// observeInto keeps the bodies that a simulated server gets, one a line.
func observeInto(b *bytes.Buffer) func(*http.Request, []byte) {
	var mu sync.Mutex
	return func(_ *http.Request, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		b.Write(append(body, '\n'))
	}
}

// Events of four tokens, 10 ms a token, with usage in each: 40 ms between
// events, 10 ms a token.
func TestRunITLPerToken(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Faults: []simserver.Fault{
			{Kind: simserver.FourTokens}, {Kind: simserver.UsageEvery},
		}})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 16},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 5},
		})
		require.Equal(t, 5*3, res.Metrics.ITL.Count)
		require.Equal(t, perftest.Value(0.040), res.Metrics.ITL.Mean)
		require.Equal(t, 5*12, res.Metrics.ITLPerToken.Count)
		require.Equal(t, perftest.Value(0.010), res.Metrics.ITLPerToken.Max)
		require.Equal(t, perftest.Value(0.010), res.Metrics.ITLPerToken.Min)
	})
}

// resultDirs are the folders of results below root.
func resultDirs(t *testing.T, root string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "requests.jsonl" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	}))
	return dirs
}

// A stream that does not end fails before it has filled the memory.
func TestRunEndsEndlessStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("a million events")
	}
	inResults(t)
	const token = `data: {"choices":[{"delta":{"content":"a"}}]}` + "\n\n"
	var asked atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == 1 { // the preflight
			_, _ = io.WriteString(w, token+"data: [DONE]\n\n")
			return
		}
		many := strings.Repeat(token, 1000)
		for err := error(nil); err == nil; { // until it is hung up on
			_, err = io.WriteString(w, many)
		}
	}))
	defer s.Close()
	res := perftest.Run(t, perftest.Scenario{
		Target:   perftest.Target{URL: s.URL, Model: "m", UsageOptional: true},
		Workload: same{perftest.Request{Prompt: "Hello", MaxTokens: 1}},
		Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
	})
	require.Equal(t, 1, res.Counts.Failed)
	require.Equal(t, "malformed", res.Failures[0].Class)
	require.Contains(t, res.Failures[0].Example, "the stream does not end: 1048576 events")
}
