package perftest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// outcome is what an observer must not change.
type outcome struct {
	lines    string // of requests.jsonl, in order of the plan
	duration perftest.Value
	rates    perftest.Rates
	counts   perftest.Counts
}

// hung is how long an observer hangs that never returns during a run.
const hung = time.Hour

// observed runs a load against a server of 283 ms an answer (203 ms to the
// first token, and four more every 20 ms), and gives the time Run took as well.
func observed(t *testing.T, load perftest.Load, observers ...perftest.Observer) (got outcome, res *perftest.Result, took time.Duration) {
	t.Helper()
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 203 * time.Millisecond, TPOT: 20 * time.Millisecond, Faults: []simserver.Fault{
			{Kind: simserver.Status503, Requests: []int{7}}, // 0 is the preflight
		}})
		begun := time.Now()
		res = perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Load: load, Warmup: perftest.Warmup{Requests: 2, Concurrency: 1}, Observers: observers,
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5},
		})
		took = time.Since(begun)
		time.Sleep(2 * hung) // no observer may outlive the bubble
	})
	data, err := os.ReadFile(filepath.Join(res.Dir, "requests.jsonl"))
	require.NoError(t, err)
	all := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	slices.SortFunc(all, bytes.Compare)
	return outcome{string(bytes.Join(all, []byte("\n"))), res.Duration, res.Rates, res.Counts}, res, took
}

// No two requests of these loads end at one moment, so that a run of one is
// like any other, to the byte.
var observedLoads = map[string]perftest.Load{
	"closed": perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 100},
	"open":   perftest.Open{Rate: 37, Arrivals: perftest.Constant{}, Requests: 200},
}

func TestObserverChangesNothing(t *testing.T) {
	for name, load := range observedLoads {
		t.Run(name, func(t *testing.T) {
			without, _, _ := observed(t, load)
			require.Equal(t, 1, without.counts.Failed)
			for name, c := range map[string]struct {
				observer perftest.ObserverFunc
				longer   time.Duration // that Run may take
				warning  string
			}{
				"quick":      {func(perftest.Snapshot) {}, 0, ""},
				"200 ms":     {func(perftest.Snapshot) { time.Sleep(200 * time.Millisecond) }, 400 * time.Millisecond, ""},
				"hung":       {func(perftest.Snapshot) { time.Sleep(hung) }, 2 * time.Second, "had not returned 2s after the end of the run"},
				"panicking":  {func(perftest.Snapshot) { panic("no\nroom") }, 0, `panicked: no\nroom`},
				"going away": {func(perftest.Snapshot) { runtime.Goexit() }, 0, "ended its goroutine (t.FailNow"},
			} {
				t.Run(name, func(t *testing.T) {
					quick := 0
					with, res, took := observed(t, load, c.observer,
						perftest.ObserverFunc(func(s perftest.Snapshot) { quick += len(s.Finished) }))
					if d := cmp.Diff(without, with, cmp.AllowUnexported(outcome{})); d != "" {
						t.Errorf("the run (-without +with):\n%s", d)
					}
					require.LessOrEqual(t, took, time.Duration(float64(with.duration)*1e9)+c.longer)
					require.Equal(t, with.counts.Sent+with.counts.Warmup, quick, "what the other observer got")
					got := strings.Join(res.Warnings, "\n")
					if c.warning == "" {
						require.NotContains(t, got, "observer")
						return
					}
					require.Contains(t, got, "observer perftest.ObserverFunc "+c.warning)
				})
			}
		})
	}
}

// Answers end every 283 ms, the 503 at once: at 1 s the two of the warm-up and
// one more have ended.
func TestMissedIsExact(t *testing.T) {
	var got []perftest.Snapshot
	_, res, _ := observed(t, observedLoads["closed"], perftest.ObserverFunc(func(s perftest.Snapshot) {
		got = append(got, s)
		time.Sleep(hung)
	}))
	require.Len(t, got, 1)
	require.Len(t, got[0].Finished, 3)
	require.Contains(t, strings.Join(res.Warnings, "\n"), "it missed 99 of 102 requests")
}

func TestSnapshots(t *testing.T) {
	var got []perftest.Snapshot
	_, res, _ := observed(t, observedLoads["closed"], perftest.ObserverFunc(func(s perftest.Snapshot) { got = append(got, s) }))
	// 2 and 99 answers of 283 ms are 28.583 s, and none ends with a second, at which
	// a snapshot might have it or not.
	require.Len(t, got, 29)
	var all []perftest.FinishedRequest
	for i, s := range got {
		all = append(all, s.Finished...)
		require.Equal(t, i == 28, s.Last)
		require.Zero(t, s.Missed)
		require.Equal(t, len(all), s.Live.Done+2*min(1, len(all)/3), "what has ended by then")
		require.Equal(t, "TestSnapshots", s.Run.Name)
		require.Equal(t, 1, s.Run.Load.Concurrency)
		require.Equal(t, res.Target, s.Run.Target)
	}
	require.Len(t, all, 102)
	start := float64(all[0].Scheduled)
	require.InDelta(t, start+1, float64(got[0].At), 1e-9)
	require.InDelta(t, start+28.583, float64(got[28].At), 1e-9)

	first := all[2]
	want := perftest.FinishedRequest{
		Part: "measured", Row: first.Row, Scheduled: perftest.Value(start + 0.566), Sent: perftest.Value(start + 0.566),
		FirstToken: perftest.Value(start + 0.769), LastToken: perftest.Value(start + 0.849), Done: perftest.Value(start + 0.849),
		TTFT: 0.203, TTFA: 0.203, TTST: 0.02, TPOT: 0.02, MaxITL: 0.02, Latency: 0.283, Response: 0.283, Queue: 0,
		InputTokens: first.InputTokens, OutputTokens: 5, CachedTokens: first.CachedTokens, ReasoningTokens: first.ReasoningTokens,
		TokenEvents: 5, Status: 200,
	}
	near := cmp.Comparer(func(a, b perftest.Value) bool {
		return a.Equal(b) || max(a, b)-min(a, b) < 1e-9
	})
	if d := cmp.Diff(want, first, near); d != "" {
		t.Errorf("the first measured request (-want +got):\n%s", d)
	}
	require.Equal(t, "warmup", all[0].Part)
	require.True(t, first.OK())
	failed := all[slices.IndexFunc(all, func(f perftest.FinishedRequest) bool { return !f.OK() })]
	require.Equal(t, []any{"status", 503, 4, false}, []any{failed.Class, failed.Status, failed.Index, failed.TTFT.Known()})
	require.Equal(t, res.Started.Add(time.Duration(float64(first.Sent)*1e9)), got[0].Run.Time(first.Sent))
	require.True(t, got[0].Run.Time(failed.FirstToken).IsZero())

	live := perftest.Live{
		Elapsed: 28.017, Limit: perftest.Absent, Asked: 100, Done: 100, Succeeded: 99, Failed: 1,
		Requests: 99 / 28.017, Output: 5 * 99 / 28.017, TTFT: 0.203, TPOT: 0.02,
	}
	if d := cmp.Diff(live, got[28].Live, near); d != "" {
		t.Errorf("the last live figures (-want +got):\n%s", d)
	}
	data, err := json.Marshal(got[0].Live)
	require.NoError(t, err)
	require.Contains(t, string(data), `"limit_s":null,"asked":100,`)
}

func TestRunRefusesObserver(t *testing.T) {
	var none perftest.ObserverFunc
	for _, nothing := range []perftest.Observer{nil, none} {
		inResults(t)
		fatal := fatalOf(t, perftest.Scenario{
			Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
			Observers: []perftest.Observer{perftest.ObserverFunc(func(perftest.Snapshot) {}), nothing},
		})
		require.Contains(t, fatal, "Observers[1] is nil: leave it out")
	}
}

// Exporters take UTF-8 alone, and a name or tag may be anything.
func TestObservedTextsAreValid(t *testing.T) {
	inResults(t)
	var name, tag string
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond})
		perftest.Run(t, perftest.Scenario{
			Name: "a\xff", Target: s.Target(), Load: perftest.Closed{Concurrency: 1, Requests: 1, KeepEnds: true},
			Workload: fixtures.Mix{{Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5}, Tag: "b\xff", Weight: 1}},
			Observers: []perftest.Observer{perftest.ObserverFunc(func(s perftest.Snapshot) {
				if name = s.Run.Name; len(s.Finished) > 0 {
					tag = s.Finished[0].Tag
				}
			})},
		})
	})
	require.Equal(t, []string{"a\ufffd", "b\ufffd"}, []string{name, tag})
}
