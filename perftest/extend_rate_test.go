package perftest_test

import (
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// A run that goes on in parts has the concurrency and the throughput of one
// that is measured at once: the ends of its parts are in neither. With them,
// requests would be a tenth rarer.
func TestExtendedRunHasTheRatesOfAWholeOne(t *testing.T) {
	inResults(t)
	rates := func(n int, e perftest.Extend) (res *perftest.Result) {
		synctest.Test(t, func(t *testing.T) {
			var mix fixtures.Mix
			for i := range 20 {
				mix = append(mix, fixtures.Part{Workload: fixtures.Builtin{Output: 2 + 2*i}})
			}
			s := perftest.Scenario{Target: simserver.StartPipe(t, engine(5)).Target(), Workload: mix, Load: perftest.Closed{Concurrency: 20, Requests: n}, Extend: e}
			if e.Requests > 0 {
				s.SLOs = []perftest.SLO{assert.TTFT(assert.P99).Below(time.Second)}
			}
			res = perftest.Run(t, s)
			res.Judge(s.SLOs...)
		})
		return res
	}
	whole, parts := rates(1000, perftest.Extend{}), rates(250, perftest.Extend{Requests: 1000})
	require.Equal(t, []int{1000, 20, 60}, []int{parts.Counts.Sent, whole.Counts.Start, parts.Counts.Start})
	require.InDelta(t, 20, float64(parts.Rates.Concurrency), 1e-6)
	require.InEpsilon(t, float64(whole.Rates.Requests), float64(parts.Rates.Requests), 0.02)
	require.InEpsilon(t, float64(whole.Rates.Output), float64(parts.Rates.Output), 0.025)
}

// The arrivals of a run's second part are not those of the next run's first one.
func TestExtendedRunsHaveArrivalsOfTheirOwn(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		res := perftest.Run(t, perftest.Scenario{
			Target:   simserver.StartPipe(t, simserver.Profile{TTFT: 10 * time.Millisecond}).Target(),
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
			Load:     perftest.Open{Rate: 100, Requests: 150}, Extend: perftest.Extend{Requests: 300}, Repeat: 2,
			SLOs: []perftest.SLO{assert.TTFT(assert.P99).Below(time.Second)},
		})
		res.Judge(res.Scenario.SLOs...)
		first, err := perftest.ReadResult(filepath.Join(res.Dir, filepath.FromSlash(res.EarlierRuns[0])))
		require.NoError(t, err)
		a, b := measured(t, first)[150:], measured(t, res)[:150]
		same := 0
		for i := 1; i < 150; i++ {
			if math.Abs((a[i].Scheduled-a[i-1].Scheduled)-(b[i].Scheduled-b[i-1].Scheduled)) < 1e-6 {
				same++
			}
		}
		require.Less(t, same, 10)
	})
}
