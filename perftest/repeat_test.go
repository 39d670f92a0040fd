package perftest_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// engine is a server of continuous batching whose steps take so much longer
// than those of another.
func engine(slower float64) simserver.Profile {
	step := func(d time.Duration) time.Duration { return time.Duration(float64(d) * slower) }
	return simserver.Profile{Model: "m", Slots: 64, Engine: simserver.Engine{
		PrefillRate: 20_000 / slower, StepTokens: 2048, StepTime: step(10 * time.Millisecond), SequenceTime: step(100 * time.Microsecond),
		KVTokens: 500_000, Jitter: 0.05,
	}}
}

// Each run has a warm-up, arrivals and prompts of its own, and SLOs are judged
// on all of them.
func TestRepeat(t *testing.T) {
	inResults(t)
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("prompt %02d", i))
	}
	synctest.Test(t, func(t *testing.T) {
		var bodies bytes.Buffer
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Observe: observeInto(&bodies), Faults: []simserver.Fault{
			{Kind: simserver.Status503, Requests: []int{5}}, // of the first run: 0 is its preflight, 1 and 2 are its warm-up
		}})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Prompts{Prompts: texts, Output: 3},
			Load:     perftest.Open{Rate: 2, Requests: 10},
			Warmup:   perftest.Warmup{Requests: 2},
			Repeat:   3,
		})
		sent := prompts(bodies.String())
		require.Len(t, sent, 36)
		require.Equal(t, sent, slices.Compact(slices.Clone(sent)), "no run sends a prompt of another")

		require.Len(t, res.Runs, 3)
		require.Equal(t, []int{1, 0, 0}, []int{res.Runs[0].Failed, res.Runs[1].Failed, res.Runs[2].Failed})
		require.Equal(t, "1 of 10 requests failed, and the figures are those of the others", res.Runs[0].Unfit)
		for _, f := range res.Runs {
			require.Equal(t, perftest.Value(0.1), f.TTFTp50)
			require.InDelta(t, 0.01, float64(f.TPOTMean), 1e-9)
		}
		require.NotEqual(t, res.Runs[1].RequestRate, res.Runs[2].RequestRate, "each has arrivals of its own")

		verdicts := res.Judge(
			assert.TTFT(assert.P95).AtMost(100*time.Millisecond), // 1 of 30 over, where 1 of 10 would be one too many
			assert.ErrorRate().AtMost(0),
			assert.ITL(assert.Max).AtMost(10*time.Millisecond),
			assert.RequestRate().AtLeast(0.1),
		)
		require.Equal(t, []int{30, 1}, []int{verdicts[0].Samples, verdicts[0].Over})
		require.Equal(t, perftest.Fail, verdicts[1].Point)
		require.InDelta(t, 1./30, float64(verdicts[1].Measured), 1e-12)
		sum, seconds := 0., 0.
		for _, f := range res.Runs { // successes over windows
			sum += float64(f.Requests - f.Failed)
			seconds += float64(f.Requests-f.Failed) / float64(f.RequestRate)
		}
		require.InDelta(t, sum/seconds, float64(verdicts[3].Measured), 1e-9)

		dirs := resultDirs(t, filepath.Dir(res.Dir))
		require.Len(t, dirs, 3)
		again, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		require.Len(t, again.Runs, 3)
		require.Equal(t, 30, again.Judge(assert.ErrorRate().AtMost(0))[0].Samples, "read back, it is all of them")
	})
}

// A repeated closed loop is steady in each run, and so is all of it together.
func TestRepeatOfAClosedLoop(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 11},
			Load: perftest.Closed{Concurrency: 4, Requests: 40}, Repeat: 2,
		})
		for _, v := range res.Judge(assert.RequestRate().AtLeast(20), assert.OutputRate().AtLeast(220), assert.TTFT(assert.Max).AtMost(100*time.Millisecond)) {
			require.Equal(t, perftest.Pass, v.Point, v.Reason)
			require.NotEqual(t, perftest.Fail, v.Outcome, v.Evidence)
			require.Equal(t, 80, v.Samples)
		}
	})
}

// Runs of one build are no regression of each other; those of one whose steps
// take 30 % longer are. One run against one says so too, but as advice.
func TestNoRegressionEndToEnd(t *testing.T) {
	inResults(t)
	run := func(t *testing.T, slower float64, repeat int, seed uint64) *perftest.Result {
		s := simserver.StartPipe(t, engine(slower))
		return perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{strings.Repeat("word ", 100)}, Output: 20},
			Load: perftest.Open{Rate: 10, Duration: 25 * time.Second}, Warmup: perftest.Warmup{Requests: 4}, Repeat: repeat, Seed: seed,
		})
	}
	synctest.Test(t, func(t *testing.T) {
		base, same, slow := run(t, 1, 3, 1), run(t, 1, 3, 100), run(t, 1.3, 3, 200)
		one, alsoOne, slowOne := run(t, 1, 1, 300), run(t, 1, 1, 400), run(t, 1.5, 1, 500)
		for _, c := range []struct {
			name                string
			baseline, candidate *perftest.Result
			want                perftest.Outcome
			advisory            bool
		}{
			{"same", base, same, perftest.Unchanged, false},
			{"slow", base, slow, perftest.Regressed, false},
			{"fast", slow, base, perftest.Improved, false},
			{"one and one", one, alsoOne, perftest.Unchanged, true},
			{"one and a slow one", one, slowOne, perftest.Regressed, true},
			{"three and a slow one", base, slowOne, perftest.Regressed, true},
		} {
			got, err := c.candidate.Against(perftest.Baseline{Result: c.baseline})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Outcome, "%s: %s", c.name, c.candidate.ComparisonTable(got))
			require.Equal(t, c.advisory, got.Advisory, c.name)
		}
		c, err := slow.Against(perftest.Baseline{Result: base})
		require.NoError(t, err)
		require.Len(t, c.Changes, 7)
		require.Equal(t, []perftest.Metric{perftest.TTFT, perftest.TPOT}, []perftest.Metric{c.Changes[0].Metric, c.Changes[1].Metric})
		require.False(t, c.Changes[2].Gates, "the throughput of an open loop is that of its arrivals")
	})
}

// A repeated scenario that was stored is judged on all its runs, as it was; on
// the last one alone, with a warning, where the others are gone.
func TestStoredRepeatIsJudgedWhole(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 3},
			Load: perftest.Open{Rate: 2, Requests: 110}, Repeat: 3,
		})
		slos := []perftest.SLO{assert.TTFT(assert.P99).Below(time.Second), assert.ITL(assert.P99).Below(time.Second), assert.RequestRate().AtLeast(1)}
		require.Len(t, res.EarlierRuns, 2)
		again, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		want := res.Judge(slos...)
		require.Equal(t, []any{330, perftest.Pass}, []any{want[0].Samples, want[0].Outcome})
		require.Equal(t, fmt.Sprint(want), fmt.Sprint(again.Judge(slos...)), "NaN is not equal to itself")

		require.NoError(t, os.RemoveAll(filepath.Join(res.Dir, filepath.FromSlash(res.EarlierRuns[1]))))
		again, err = perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		require.Equal(t, []any{110, perftest.Inconclusive}, []any{again.Judge(slos...)[0].Samples, again.Judge(slos...)[0].Outcome})
		require.Contains(t, again.Warnings[len(again.Warnings)-1], "objectives are judged on the last of 3 runs alone")
	})
}
