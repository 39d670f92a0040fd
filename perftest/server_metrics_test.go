package perftest_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// scraped runs 29 requests, three at a time, against a server that answers one
// at a time, each in 410 ms: 210 ms to the first of eleven tokens and ten more
// every 20 ms. They take 11.89 s.
func scraped(t *testing.T, m *perftest.ServerMetrics, change func(*testing.T, *perftest.Scenario)) (res *perftest.Result, took time.Duration) {
	t.Helper()
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{Slots: 1, TTFT: 210 * time.Millisecond, TPOT: 20 * time.Millisecond})
		scenario := perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 11},
			Load: perftest.Closed{Concurrency: 3, Requests: 29, KeepEnds: true}, Warmup: perftest.Warmup{Requests: 3, Concurrency: 1},
			ServerMetrics: m,
		}
		if change != nil {
			change(t, &scenario)
		}
		begun := time.Now()
		res = perftest.Run(t, scenario)
		took = time.Since(begun)
	})
	return res, took
}

// Scrapes come after 0.5, 1.0, … 11.5 s. In the last of these 23, 28 answers
// have ended (11.48 s) and the 29th is made; in the one before, 26 have
// (10.66 s), so that one runs and two wait, as in all the earlier ones.
func TestServerMetrics(t *testing.T) {
	res, _ := scraped(t, &perftest.ServerMetrics{Interval: 500 * time.Millisecond, Names: []string{"vllm:*_seconds_count"}}, nil)
	require.Empty(t, res.Warnings)
	check := func(res *perftest.Result) {
		t.Helper()
		figures := map[string]perftest.ServerFigures{}
		for _, f := range res.Server.Metrics {
			figures[f.Name] = f
		}
		near := cmp.Comparer(func(a, b perftest.Value) bool { return a.Equal(b) || max(a, b)-min(a, b) < 1e-9 })
		for _, want := range []perftest.ServerFigures{
			{Name: "vllm:num_requests_waiting", Quantity: "waiting requests", Series: 1, Scrapes: 23, Mean: 44. / 23, Min: 0, Max: 2, Last: 0, PerSecond: perftest.Absent},
			{Name: "vllm:num_requests_running", Quantity: "running requests", Series: 1, Scrapes: 23, Mean: 1, Min: 1, Max: 1, Last: 1, PerSecond: perftest.Absent},
		} {
			if d := cmp.Diff(want, figures[want.Name], near); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		}
		// Counters: without the preflight and the warm-up, with the last answer.
		tokens := figures["vllm:generation_tokens_total"]
		require.True(t, tokens.Counter)
		require.Equal(t, perftest.Value(29*11), tokens.Last)
		require.InDelta(t, 29*11/11.89, float64(tokens.PerSecond), 1e-9)
		require.Equal(t, perftest.Value(29), figures["vllm:request_success_total"].Last)
		require.Equal(t, 2, figures["vllm:request_success_total"].Series)
		require.Equal(t, perftest.Value(29), figures["vllm:e2e_request_latency_seconds_count"].Last)
		require.NotContains(t, figures, "vllm:e2e_request_latency_seconds_sum")
		require.Equal(t, 25, res.Server.Scrapes)
		require.Equal(t, "http://localhost/metrics", res.Server.URL)

		for _, c := range []struct {
			slo      perftest.SLO
			outcome  perftest.Outcome
			measured perftest.Value
			reason   string
		}{
			{assert.Server("vllm:num_requests_waiting", assert.Max).Below(3), perftest.Pass, 2, "max is 2 over 23 scrapes"},
			{assert.Server("vllm:num_requests_waiting", assert.Max).Below(2), perftest.Fail, 2, ""},
			{assert.Server("vllm:num_requests_waiting", assert.P50).AtMost(2), perftest.Pass, 2, ""},
			{assert.Server("vllm:num_requests_waiting", assert.Min).AtLeast(1), perftest.Fail, 0, ""},
			{assert.Server("vllm:num_requests_waiting", assert.Mean).Below(2), perftest.Pass, 44. / 23, ""},
			{assert.Server(`vllm:request_success_total{finished_reason="length"}`, assert.Last).AtMost(29), perftest.Pass, 29, ""},
			{assert.Server(`vllm:request_success_total{finished_reason="stop"}`, assert.Last).AtMost(0), perftest.Pass, 0, ""},
			{assert.Server("vllm:generation_tokens_total", assert.Last).Above(319), perftest.Fail, 319, ""},
			{assert.Server("vllm:no_such", assert.Max).Below(3), perftest.Invalid, perftest.Absent, "there are vllm:num_requests_running{engine="},
			{assert.Server("vllm:a b", assert.Max).Below(3), perftest.Invalid, perftest.Absent, `SLO.Series is "vllm:a b"`},
			{assert.Server("vllm:num_requests_waiting", "p0").Below(3), perftest.Invalid, perftest.Absent, `SLO.Stat is "p0"`},
			{assert.Tagged("x", assert.Server("vllm:num_requests_waiting", assert.Max).Below(3))[0], perftest.Invalid, perftest.Absent, "SLO.Tag"},
		} {
			v := res.Judge(c.slo)[0]
			require.Equal(t, c.outcome, v.Point, "%v: %s", c.slo, v.Reason)
			require.True(t, c.measured.Equal(v.Measured) || c.measured.Known() && max(c.measured, v.Measured)-min(c.measured, v.Measured) < 1e-9, "%v: %v", c.slo, v.Measured)
			require.Contains(t, v.Reason, c.reason)
		}
	}
	check(res)
	stored, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	check(stored)
	waiting := slices.IndexFunc(stored.ServerSeries(), func(s perftest.ServerSeries) bool { return s.Name == "vllm:num_requests_waiting" })
	series := stored.ServerSeries()[waiting]
	require.Equal(t, `vllm:num_requests_waiting{engine="0",model_name="simulated"}`, series.Series)
	require.Len(t, series.Points, 25)
	require.InDelta(t, 0.5, float64(series.Points[1].At-series.Points[0].At), 1e-9)

	table := res.VerdictTable(res.Judge(assert.Server("vllm:num_requests_waiting", assert.Max).Below(2)))
	require.Regexp(t, `FAIL +vllm:num_requests_waiting max < 2 +2 +\S.* 23 scrapes`, table)
	// A killed run keeps what was scraped until then.
	require.NoError(t, os.Remove(filepath.Join(res.Dir, "result.json")))
	killed, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	require.Equal(t, 25, killed.Server.Scrapes)
}

// pipes serves h in memory, in the bubble of t.
func pipes(t *testing.T, h http.Handler) func(context.Context) (net.Conn, error) {
	l := &pipeListener{make(chan net.Conn), make(chan struct{})}
	s := &http.Server{Handler: h}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return func(ctx context.Context) (net.Conn, error) {
		client, server := net.Pipe()
		select {
		case l.conns <- server:
			return client, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

type pipeListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}
func (l *pipeListener) Close() error   { close(l.done); return nil }
func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// elsewhere sends the scrapes of http://metrics:9/ to h.
func elsewhere(t *testing.T, s *perftest.Scenario, h http.HandlerFunc) {
	dial, scrape := s.Target.Dial, pipes(t, h)
	s.Target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == "metrics:9" {
			return scrape(ctx)
		}
		return dial(ctx, network, addr)
	}
}

// A server whose metrics hang changes no line, makes Run no longer than one
// time-out, and is a warning.
func TestServerMetricsHang(t *testing.T) {
	lines := func(res *perftest.Result) string {
		data, err := os.ReadFile(filepath.Join(res.Dir, "requests.jsonl"))
		require.NoError(t, err)
		return string(data)
	}
	alone := perftest.Closed{Concurrency: 1, Requests: 29, KeepEnds: true} // so that every run is like any other
	without, quick := scraped(t, nil, func(_ *testing.T, s *perftest.Scenario) { s.Load = alone })
	require.Empty(t, without.ServerSeries())
	var asked atomic.Int64
	var key atomic.Value
	res, took := scraped(t, &perftest.ServerMetrics{URL: "http://user:hidden@metrics:9/m?k=hidden2", Headers: perftest.Headers{"X-Key": "hidden3"}}, func(t *testing.T, s *perftest.Scenario) {
		s.Load, s.Target.APIKey = alone, "key-of-the-target"
		elsewhere(t, s, func(w http.ResponseWriter, r *http.Request) {
			key.Store(r.Header.Get("Authorization") + r.Header.Get("X-Key"))
			if asked.Add(1) > 2 { // the one before the run, and the one before the load
				<-r.Context().Done()
				return
			}
			fmt.Fprint(w, "vllm:num_requests_waiting 1\n")
		})
	})
	require.True(t, lines(without) == lines(res), "the requests differ")
	require.Equal(t, quick+2*time.Second, took)
	// One after the other from 1 s on, of which the load's end at 11.89 s cuts off the sixth, and one after it.
	require.Equal(t, []string{"6 of 7 scrapes of the server's metrics failed, the first with: no answer within 2s"}, res.Warnings)
	require.Equal(t, "http://metrics:9/m", res.Server.URL)
	require.Equal(t, "Basic dXNlcjpoaWRkZW4=hidden3", key.Load(), "the target's key is for the target alone")
	for _, name := range []string{"result.json", "server.jsonl"} {
		data, err := os.ReadFile(filepath.Join(res.Dir, name))
		require.NoError(t, err)
		require.NotContains(t, string(data), "hidden")
	}
	v := res.Judge(assert.Server("vllm:num_requests_waiting", assert.Max).Below(9), assert.Server("vllm:num_requests_waiting", assert.Last).Below(9))
	require.Contains(t, v[0].Reason, "no scrape fell into the load")
	require.Equal(t, perftest.Invalid, v[1].Point)
}

// A busy server may take longer for its metrics than an interval: they are asked
// for one after the other from 1 s on, and the seventh time is answered at 11.5 s.
func TestServerMetricsSlow(t *testing.T) {
	res, _ := scraped(t, &perftest.ServerMetrics{URL: "http://metrics:9/"}, func(t *testing.T, s *perftest.Scenario) {
		elsewhere(t, s, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(1500 * time.Millisecond)
			fmt.Fprint(w, "vllm:num_requests_waiting 1\n")
		})
	})
	require.Empty(t, res.Warnings)
	require.Equal(t, 7, res.Server.Metrics[0].Scrapes)
}

// Of ten scrapes one may fail.
func TestServerMetricsGaps(t *testing.T) {
	for failing, want := range map[int64]perftest.Outcome{1: perftest.Pass, 2: perftest.Invalid} {
		var asked atomic.Int64
		res, _ := scraped(t, &perftest.ServerMetrics{URL: "http://metrics:9/"}, func(t *testing.T, s *perftest.Scenario) {
			elsewhere(t, s, func(w http.ResponseWriter, r *http.Request) {
				if n := asked.Add(1); n > 4 && n <= 4+failing {
					w.WriteHeader(500)
				}
				// Two engines, a counter that starts anew, and one that appears late.
				fmt.Fprintf(w, "vllm:num_requests_waiting{engine=\"0\"} 1\nvllm:num_requests_waiting{engine=\"1\"} %d\n", asked.Load())
				fmt.Fprintf(w, "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\nvllm:kv_cache_usage_perc{engine=\"1\"} 0.25\n")
				fmt.Fprintf(w, "# TYPE vllm:num_preemptions_total counter\nvllm:num_preemptions_total %d\n", 10+asked.Load()%8)
				if asked.Load() > 6 {
					fmt.Fprint(w, "vllm:prefix_cache_queries_total 100\nvllm:prefix_cache_hits_total 40\n")
				}
			})
		})
		v := res.Judge(
			assert.Server("vllm:num_requests_waiting", assert.Max).AtMost(14), // 13 scrapes after 1, the last of which is after the load
			assert.Server(`vllm:num_requests_waiting{engine="0"}`, assert.Max).AtMost(1),
			assert.Server("vllm:kv_cache_usage_perc", assert.Max).AtMost(0.5),
			// 12 … 17 | 10 … 16: 5 until it fell, to 10, and 6 more.
			assert.Server("vllm:num_preemptions_total", assert.Last).AtMost(5+10+6),
			assert.Server("vllm:prefix_cache_hits_total", assert.Last).AtMost(40),
		)
		for _, v := range v {
			require.Equal(t, want, v.Point, "%v: %s", v.SLO, v.Reason)
		}
		require.Equal(t, perftest.Value(14), v[0].Measured)
		require.Equal(t, perftest.Value(21), v[3].Measured)
		require.Equal(t, perftest.Value(0.4), res.Server.PrefixHitRate)
		require.False(t, res.Server.DraftAcceptance.Known())
	}
}

func TestServerMetricsRefused(t *testing.T) {
	big := strings.Repeat("x", 9<<20)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/none":
			http.NotFound(w, r)
		case "/page":
			fmt.Fprint(w, "<html>\x1b[31m</html>")
		case "/other":
			fmt.Fprint(w, "go_goroutines 4\nodd:thing 5\n")
		case "/big":
			fmt.Fprint(w, big)
		case "/away":
			http.Redirect(w, r, "/other", http.StatusFound)
		}
	}))
	defer server.Close()
	s := simserver.Start(t, simserver.Profile{})
	for _, c := range []struct {
		m    perftest.ServerMetrics
		want string
	}{
		{perftest.ServerMetrics{URL: "metrics"}, `ServerMetrics.URL is "metrics": set it to an address with its scheme`},
		{perftest.ServerMetrics{Interval: time.Millisecond}, "ServerMetrics.Interval is 1ms: set it to 0 (1s) or to 100ms or more"},
		{perftest.ServerMetrics{Names: []string{"a", "[b"}}, `ServerMetrics.Names[1] is "[b"`},
		{perftest.ServerMetrics{Headers: perftest.Headers{"A b": "c"}}, `ServerMetrics.Headers is "A b"`},
		{perftest.ServerMetrics{Headers: perftest.Headers{"A": "c\n"}}, `ServerMetrics.Headers[A] is [redacted]`},
		{perftest.ServerMetrics{URL: server.URL + "/none"}, "/none: status 404: start the server with its metrics on (SGLang: --enable-metrics"},
		{perftest.ServerMetrics{URL: server.URL + "/away"}, "/away: status 302"},
		{perftest.ServerMetrics{URL: server.URL + "/page"}, "line 1: no name of a metric"},
		{perftest.ServerMetrics{URL: server.URL + "/big"}, "answer of more than 8388608 bytes"},
		{perftest.ServerMetrics{URL: server.URL + "/other"}, "set ServerMetrics.Names to some of go_goroutines, odd:thing (no load was sent)"},
	} {
		inResults(t)
		fatal := fatalOf(t, perftest.Scenario{Target: s.Target(), Workload: same{}, Load: perftest.Closed{Concurrency: 1, Requests: 1}, ServerMetrics: &c.m})
		require.Contains(t, fatal, c.want)
	}
}

// An answer of 11 tokens takes one step for the first, three with two draft
// tokens each, and one for the last: 6 draft tokens, which are all right.
func TestServerMetricsOfDrafts(t *testing.T) {
	inResults(t)
	var res *perftest.Result
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{Engine: simserver.Engine{PrefillRate: 1000, StepTime: 10 * time.Millisecond, DraftTokens: 2, Acceptance: 1}})
		res = perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 11},
			Load: perftest.Closed{Concurrency: 1, Requests: 8, KeepEnds: true}, Warmup: perftest.Warmup{Requests: 1},
			ServerMetrics: &perftest.ServerMetrics{},
		})
	})
	require.Equal(t, perftest.Value(1), res.Server.DraftAcceptance)
	for series, want := range map[string]perftest.Value{
		"vllm:spec_decode_num_drafts_total": 8 * 3, "vllm:spec_decode_num_draft_tokens_total": 8 * 6, "vllm:spec_decode_num_accepted_tokens_total": 8 * 6,
	} {
		require.Equal(t, want, res.Judge(assert.Server(series, assert.Last).AtLeast(1))[0].Measured, series)
	}
}
