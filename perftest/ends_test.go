package perftest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// Four slots and 42 requests of 280 ms: the first of each slot is kept out, and
// the two that are left of the last round have two slots beside them that go
// on. So concurrency and rate are those of four busy slots to the end, where
// all requests of a run without padding give 42 in 11 rounds.
func TestEndsAreKeptOut(t *testing.T) {
	run := func(t *testing.T, keep bool) *perftest.Result {
		var res *perftest.Result
		synctest.Test(t, func(t *testing.T) {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
			res = perftest.Run(t, perftest.Scenario{
				Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5},
				Load:   perftest.Closed{Concurrency: 4, Requests: 42, KeepEnds: keep},
				Warmup: perftest.Warmup{Requests: 3},
			})
		})
		return res
	}
	inResults(t)
	res := run(t, false)
	require.Equal(t, []int{42, 42, 4, 0, 3}, []int{res.Counts.Sent, res.Counts.Succeeded, res.Counts.Start, res.Counts.StartFailed, res.Counts.Warmup})
	require.GreaterOrEqual(t, res.Counts.Padding, 2)
	require.LessOrEqual(t, res.Counts.Padding, 6) // the four slots may be free at once at the end
	require.InDelta(t, 4/0.280, float64(res.Rates.Requests), 1e-9)
	require.InDelta(t, 4*5/0.280, float64(res.Rates.Output), 1e-9)
	require.InDelta(t, 4, float64(res.Rates.Concurrency), 1e-9)
	require.InDelta(t, 11*0.280, float64(res.Window), 1e-9)
	require.Equal(t, res.Rates.Requests, res.Steady.Requests)
	require.Equal(t, 42, res.Metrics.TTFT.Count)
	require.Equal(t, 46, res.WithStart.TTFT.Count)
	require.Contains(t, res.Summary(), "4 requests that the loop started with")

	lines, err := os.ReadFile(filepath.Join(res.Dir, "requests.jsonl"))
	require.NoError(t, err)
	for phase, n := range map[string]int{"warmup": 3, "start": 4, "measured": 42, "padding": res.Counts.Padding} {
		require.Equal(t, n, strings.Count(string(lines), `"phase":"`+phase+`"`), phase)
	}
	again, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	require.Equal(t, res.Counts, again.Counts)

	all := run(t, true)
	require.Equal(t, []int{42, 0, 0}, []int{all.Counts.Sent, all.Counts.Start, all.Counts.Padding})
	require.InDelta(t, 42/(11*0.280), float64(all.Rates.Requests), 1e-9)
	require.Zero(t, all.WithStart.TTFT.Count)
	require.NotContains(t, all.Summary(), "started with")
}
