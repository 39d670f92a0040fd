package perftest_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// line is what these tests read of a line of requests.jsonl.
type line struct {
	Index     int     `json:"index"`
	Phase     string  `json:"phase"`
	Slot      int     `json:"slot"`
	Row       int     `json:"row"`
	Scheduled float64 `json:"scheduled_s"`
	Sent      float64 `json:"sent_s"`
	Done      float64 `json:"done_s"`
	Class     string  `json:"class"`
}

// measured are the measured requests of a result, in order of the plan.
func measured(t *testing.T, res *perftest.Result) (lines []line) {
	t.Helper()
	f, err := os.Open(filepath.Join(res.Dir, "requests.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(s.Bytes(), &l))
		if l.Phase == "measured" {
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(a, b line) int { return a.Index - b.Index })
	return lines
}

// underLoad runs a load in a bubble against a server of 1 s an answer: 100 ms
// to the first token, and one more after 900 ms.
func underLoad(t *testing.T, load perftest.Load, check func(t *testing.T, res *perftest.Result)) {
	t.Helper()
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 900 * time.Millisecond})
		check(t, perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Load: load, Seed: 7,
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 2},
		}))
	})
}

func TestOpenLoadIsConstant(t *testing.T) {
	underLoad(t, perftest.Open{Rate: 8, Arrivals: perftest.Constant{}, Duration: 10 * time.Second}, func(t *testing.T, res *perftest.Result) {
		lines := measured(t, res)
		require.Len(t, lines, 80)
		for i, l := range lines {
			require.InDelta(t, float64(i)/8, l.Scheduled-lines[0].Scheduled, 1e-9)
			require.Equal(t, l.Scheduled, l.Sent)
		}
		require.Equal(t, perftest.Value(8), res.Scenario.Load.Rate)
		require.Contains(t, res.Summary(), "8.000 req/s")
	})
}

// Two runs with one seed offer the same times; the gaps of Poisson arrivals
// have the exponential distribution's mean and deviation.
func TestOpenLoadIsPoissonByDefault(t *testing.T) {
	offered := func(n int) (lines []line) {
		underLoad(t, perftest.Open{Rate: 50, Requests: n}, func(t *testing.T, res *perftest.Result) {
			lines = measured(t, res)
			require.Len(t, lines, n)
			for _, l := range lines {
				require.Equal(t, l.Scheduled, l.Sent)
			}
		})
		return lines
	}
	first := offered(4000)
	var sum, squares float64
	for i, l := range first[1:] {
		gap := l.Scheduled - first[i].Scheduled
		sum, squares = sum+gap, squares+gap*gap
	}
	mean := sum / 3999
	require.InDelta(t, 0.02, mean, 0.02*4/math.Sqrt(4000))
	require.InDelta(t, 0.02, math.Sqrt(squares/3999-mean*mean), 0.0015)

	again := offered(500)
	for i, l := range again {
		require.InDelta(t, first[i].Scheduled-first[0].Scheduled, l.Scheduled-again[0].Scheduled, 1e-9)
	}
}

// A server that is slow for an open loop with a bound makes requests wait, and
// the wait shows in Response and Queue, not in the server's TTFT.
func TestOpenLoadQueuesAtBound(t *testing.T) {
	underLoad(t, perftest.Open{Rate: 4, Arrivals: perftest.Constant{}, Requests: 8, InFlight: 2}, func(t *testing.T, res *perftest.Result) {
		// Two a second leave; request i arrives at i/4 and starts at i/2.
		require.Equal(t, 8, res.Counts.Succeeded)
		require.Equal(t, perftest.Value(0.1), res.Metrics.TTFT.Max)
		require.InDelta(t, 1.5, float64(res.Metrics.Queue.Max), 1e-9) // the last pair: at 1.5 s, starts at 3 s
		require.InDelta(t, 2.5, float64(res.Metrics.Response.Max), 1e-9)
	})
}

func TestOpenLoadDropsAtBound(t *testing.T) {
	load := perftest.Open{Rate: 4, Arrivals: perftest.Constant{}, Requests: 8, InFlight: 2, AtBound: perftest.DropAtBound}
	underLoad(t, load, func(t *testing.T, res *perftest.Result) {
		require.Equal(t, 4, res.Counts.Succeeded) // at 0, 0.25, 1 and 1.25 s
		require.Equal(t, 4, res.Counts.Dropped)
		require.Contains(t, strings.Join(res.Warnings, "\n"), "4 of 8 requests were dropped")
	})
}

func TestStagesFollowTheirProfile(t *testing.T) {
	steps := perftest.Stages{Rate: perftest.Step{From: 2, To: 6, Steps: 2, Duration: 20 * time.Second}, Arrivals: perftest.Constant{}}
	underLoad(t, steps, func(t *testing.T, res *perftest.Result) {
		lines := measured(t, res)
		early := slices.DeleteFunc(slices.Clone(lines), func(l line) bool { return l.Scheduled-lines[0].Scheduled >= 10-1e-9 })
		require.Len(t, lines, 80) // 10 s of 2 and 10 s of 6 a second
		require.Len(t, early, 20)
	})
	slots := perftest.Stages{Concurrency: perftest.StageList{{Duration: 3 * time.Second, From: 1, To: 1}, {Duration: 3 * time.Second, From: 4, To: 4}}}
	underLoad(t, slots, func(t *testing.T, res *perftest.Result) {
		require.Equal(t, 3+4*3, res.Counts.Succeeded)
	})
}

// list is a workload of requests at the given times of a trace.
type list struct{ at []time.Duration }

func (l *list) Open(context.Context, perftest.RunInfo) (perftest.Source, error) {
	return &list{l.at}, nil
}

func (l *list) Next() (perftest.Request, error) {
	if len(l.at) == 0 {
		return perftest.Request{}, io.EOF
	}
	at := l.at[0]
	l.at = l.at[1:]
	return perftest.Request{Prompt: "Hello", MaxTokens: 1, At: at}, nil
}

func (*list) Close() error { return nil }

func TestReplayStartsOnTime(t *testing.T) {
	at := []time.Duration{10 * time.Second, 11 * time.Second, 14 * time.Second}
	inResults(t)
	for _, warmup := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
			res := perftest.Run(t, perftest.Scenario{
				Target: s.Target(), Workload: &list{at: at}, Load: perftest.Replay{Speed: 2, From: time.Duration(1-warmup) * 10 * time.Second},
				Warmup: perftest.Warmup{Requests: warmup},
			})
			lines := measured(t, res)
			want := map[int][]float64{0: {0, 0.5, 2}, 1: {0, 1.5}}[warmup] // the warm-up takes the first
			require.Len(t, lines, len(want))
			for i, l := range lines {
				require.InDelta(t, want[i], l.Sent-lines[0].Sent, 1e-9)
			}
		})
	}
}

// A tenth of the requests is abandoned after 50 ms, before their first token:
// cancelled, neither success nor failure, and over a limit of 40 ms only.
func TestCancelAbandonsAShare(t *testing.T) {
	load := perftest.Closed{KeepEnds: true, Concurrency: 10, Requests: 1000, Cancel: perftest.Cancel{Share: 0.1, After: 50 * time.Millisecond}}
	underLoad(t, load, func(t *testing.T, res *perftest.Result) {
		n := res.Counts.Cancelled
		require.InDelta(t, 100, n, 4*math.Sqrt(90))
		require.Equal(t, []int{1000, 1000 - n, 0}, []int{res.Counts.Sent, res.Counts.Succeeded, res.Counts.Failed})
		v := res.Judge(
			perftest.SLO{Metric: perftest.TTFT, Stat: perftest.Max, Op: perftest.AtMost, Limit: 0.1},
			perftest.SLO{Metric: perftest.TTFT, Stat: perftest.Max, Op: perftest.AtMost, Limit: 0.04},
		)
		require.Equal(t, []int{1000 - n, 0}, []int{v[0].Samples, v[0].Over})
		require.Equal(t, []int{1000, 1000}, []int{v[1].Samples, v[1].Over})
	})
}

func TestDrainCancels(t *testing.T) {
	load := perftest.Closed{KeepEnds: true, Concurrency: 4, Duration: 2500 * time.Millisecond, Drain: perftest.Drain{Cancel: true, After: 200 * time.Millisecond}}
	underLoad(t, load, func(t *testing.T, res *perftest.Result) {
		require.Equal(t, []int{12, 8, 0, 4}, []int{res.Counts.Sent, res.Counts.Succeeded, res.Counts.Failed, res.Counts.Cancelled})
		require.InDelta(t, 2.7, float64(res.Window), 1e-9)
		require.False(t, res.Partial)
	})
}

// No more than two requests wait for their first token at a time, and each of
// them for 100 ms: 20 start a second, and the server never has more than two
// without one.
func TestPrefillConcurrency(t *testing.T) {
	load := perftest.Closed{KeepEnds: true, Concurrency: 40, Requests: 80, PrefillConcurrency: 2}
	underLoad(t, load, func(t *testing.T, res *perftest.Result) {
		lines := measured(t, res)
		require.Len(t, lines, 80)
		slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.Sent, b.Sent) })
		for i := range lines[2:] {
			require.GreaterOrEqual(t, lines[i+2].Sent-lines[i].Sent, 0.1-1e-9, "requests %d and %d", i, i+2)
		}
		require.Equal(t, perftest.Value(0.1), res.Metrics.TTFT.Max)
	})
}

// Three shards offer together just what one process offers.
func TestShardsOfferOnePlan(t *testing.T) {
	load := perftest.Open{Rate: 20, Requests: 100}
	times := func(t *testing.T, res *perftest.Result) (at []string) {
		for _, l := range measured(t, res) {
			at = append(at, fmt.Sprintf("%d %.9f", l.Index, l.Scheduled))
		}
		return at
	}
	var whole, parts []string
	underLoad(t, load, func(t *testing.T, res *perftest.Result) { whole = times(t, res) })
	for i := range 3 {
		t.Setenv("PERFTEST_SHARD", fmt.Sprintf("%d/3", i))
		underLoad(t, load, func(t *testing.T, res *perftest.Result) {
			require.Equal(t, []int{i, 3}, []int{res.Scenario.Load.ShardIndex, res.Scenario.Load.ShardCount})
			require.Equal(t, res.Counts.Planned, res.Counts.Succeeded)
			parts = append(parts, times(t, res)...)
		})
	}
	slices.Sort(whole)
	slices.Sort(parts)
	require.Equal(t, whole, parts)
}

// A load of a test's own: bursts of three, a second apart.
type bursts struct{ n int }

func (b bursts) Plan() (perftest.Plan, error) {
	return perftest.Plan{Requests: 3 * b.n, Starts: func(uint64) func() (time.Duration, bool) {
		i := -1
		return func() (time.Duration, bool) {
			i++
			return time.Duration(i/3) * time.Second, i < 3*b.n
		}
	}}, nil
}

func TestOwnLoad(t *testing.T) {
	underLoad(t, bursts{4}, func(t *testing.T, res *perftest.Result) {
		lines := measured(t, res)
		require.Len(t, lines, 12)
		for i, l := range lines {
			require.InDelta(t, float64(i/3), l.Sent-lines[0].Sent, 1e-9)
		}
	})
}

func TestLoadsRefuse(t *testing.T) {
	for want, load := range map[string]perftest.Load{
		"Load.Rate is 0":                     perftest.Open{Requests: 1},
		"Load.Rate is NaN":                   perftest.Open{Rate: math.NaN(), Requests: 1},
		"Load.Requests is 0":                 perftest.Open{Rate: 1},
		"Load.Arrivals.Shape is -1":          perftest.Open{Rate: 1, Requests: 1, Arrivals: perftest.Gamma{Shape: -1}},
		"Load.InFlight is 0":                 perftest.Open{Rate: 1, Requests: 1, AtBound: perftest.DropAtBound},
		"Load.Cancel.Share is 2":             perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1, Cancel: perftest.Cancel{Share: 2}},
		"Load.Drain.Cancel is false":         perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1, Drain: perftest.Drain{After: 1}},
		"Load.RampUp.Duration is -1ns":       perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1, RampUp: perftest.RampUp{Duration: -1}},
		"Load.Think.Time is -1ns":            perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1, Think: perftest.Think{Time: -1}},
		"Load.PrefillConcurrency is -1":      perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1, PrefillConcurrency: -1},
		"Load.Concurrency is nil":            perftest.Stages{},
		"Load.Rate is set beside":            perftest.Stages{Rate: perftest.Sine{}, Concurrency: perftest.Sine{}},
		"Load.Rate.Mean is -1":               perftest.Stages{Rate: perftest.Sine{Mean: -1}},
		"Load.Rate.Amplitude is 2":           perftest.Stages{Rate: perftest.Sine{Mean: 1, Amplitude: 2, Period: 1, Duration: 1}},
		"Load.Concurrency.Steps is 0":        perftest.Stages{Concurrency: perftest.Step{From: 1, To: 2, Duration: 1}},
		"Load.Concurrency[0].Duration is 0s": perftest.Stages{Concurrency: perftest.StageList{{From: 1, To: 1}}},
		"Load.Concurrency is {From:0 To:0":   perftest.Stages{Concurrency: perftest.Linear{Duration: time.Second}},
		"Load.Rate.At is 2ns":                perftest.Stages{Rate: perftest.Spike{Peak: 1, At: 2, Width: 1, Duration: 2}},
		"Load.Speed is -1":                   perftest.Replay{Speed: -1},
		"Load.To is 1ns":                     perftest.Replay{From: 2, To: 1},
	} {
		_, err := load.Plan()
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
	}
	t.Setenv("PERFTEST_SHARD", "3/3")
	inResults(t)
	require.Contains(t, fatalOf(t, perftest.Scenario{Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1}}), `PERFTEST_SHARD is "3/3"`)
}
