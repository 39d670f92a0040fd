package perftest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/slogate/slogate/internal/stats"
	"github.com/slogate/slogate/internal/stats/simulate"
	"github.com/stretchr/testify/require"
)

// How often the whole rule is right (Welch, permutation, Holm and all figures),
// by 5 + 3 runs of 1,000 requests on a simulated engine at 63 % load, whose
// speed differs by 2 % from run to run. Of 200 comparisons each, with the seeds
// from 0: REGRESSED in 0, 1 and 1 of the same build at a noise of 0, 2 and 5 %, and in
// 200, 199 and 159 of one whose steps take 20 % longer.
func TestNoRegressionIsSeldomWrong(t *testing.T) {
	regressed := func(slow float64, times int) (n int) {
		for i := range times {
			rng := rand.New(rand.NewPCG(uint64(i), 0xc1))
			var runs []RunFigures
			for j := range 8 {
				speed := math.Exp(0.02 * rng.NormFloat64())
				if j >= 5 {
					speed *= slow
				}
				runs = append(runs, simulatedFigures(simulate.Engine{Slow: speed}.Open(rng.Uint64(), 8, 200, 1000)))
			}
			var c Comparison
			c.judge(Baseline{}, runs[:5], runs[5:], true)
			if c.Outcome == Regressed {
				n++
			}
		}
		return n
	}
	require.LessOrEqual(t, regressed(1, 40), 1)
	require.GreaterOrEqual(t, regressed(1.2, 40), 38)
}

func simulatedFigures(requests []simulate.Request) RunFigures {
	var ttft, tpot []float64
	for _, r := range requests {
		ttft = append(ttft, r.TTFT)
		if !math.IsNaN(r.TPOT) {
			tpot = append(tpot, r.TPOT)
		}
	}
	slices.Sort(ttft)
	slices.Sort(tpot)
	return RunFigures{
		TTFTp50: Value(stats.Percentile(ttft, 50)), TTFTp99: Value(stats.Percentile(ttft, 99)),
		TPOTMean: Value(stats.Summarize(tpot).Mean), TPOTp99: Value(stats.Percentile(tpot, 99)),
		LatencyP50: Absent, OutputRate: Absent, RequestRate: 8,
	}
}
