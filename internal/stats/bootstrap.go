package stats

import (
	"math"
	"math/rand/v2"
)

const (
	blockRequests = 50   // a block is at least so many requests
	blockSeconds  = 5    // and at least so long
	minBlocks     = 4    // fewer say nothing of the spread between blocks
	runSpread     = 0.03 // what one run differs from the next by, which no resampling sees
	resamples     = 1_000
)

// BlockLength is the length of a block for n requests that took so many
// seconds: 50, or as many as start in 5 seconds if that is more.
func BlockLength(n int, seconds float64) int {
	if !(seconds > 0) {
		return blockRequests
	}
	return max(blockRequests, int(math.Ceil(float64(n)*blockSeconds/seconds)))
}

// Bootstrap compares one run with one other, by resampling blocks of
// neighbouring requests, so that bursts stay whole (the circular moving-block
// bootstrap of Politis and Romano, 1992). It cannot see that runs differ from
// one another; 2 × 0.03² is added to the variance of the difference of logs for
// that, and the change is marked as advisory: it is a hint and no evidence.
//
// Values are in order of intended start and without failures; statistic gives
// a figure of a sample that it may reorder, such as a percentile. block is the
// block's length, see [BlockLength]. The rules are those of [Compare.Welch] with
// the normal distribution. The seed is fixed: one pair has one outcome. With
// fewer than four blocks on a side it is INCONCLUSIVE, and INVALID when a
// figure is not positive and finite.
func (c Compare) Bootstrap(baseline, candidate []float64, block int, statistic func([]float64) float64) Change {
	if len(baseline) == 0 || len(candidate) == 0 {
		change, _, _, _, _ := c.start(nil, nil)
		change.Advisory, change.Baseline, change.Current = true, len(baseline), len(candidate)
		return change
	}
	figure := func(values []float64) []float64 {
		return []float64{statistic(append([]float64{}, values...))}
	}
	change, c, b, z, ok := c.start(figure(baseline), figure(candidate))
	change.Advisory, change.Baseline, change.Current = true, len(baseline), len(candidate)
	if !ok {
		return change
	}
	d := z[0] - b[0]
	if block < 1 || min(len(baseline), len(candidate)) < minBlocks*block {
		change.Reason, change.Effect, change.Ratio = ReasonShort, d, c.ratio(d)
		return change
	}
	rng := rand.New(rand.NewPCG(1, 2))
	vb, okB := resampledVariance(baseline, block, statistic, rng, resamples)
	vc, okC := resampledVariance(candidate, block, statistic, rng, resamples)
	if !okB || !okC {
		change.Outcome, change.Reason = NoCompare, ReasonInput
		return change
	}
	return c.decide(change, d, math.Sqrt(vb+vc+2*runSpread*runSpread), math.Inf(1))
}

// resampledVariance is the variance of the statistic's log over resamples.
func resampledVariance(values []float64, block int, statistic func([]float64) float64, rng *rand.Rand, times int) (float64, bool) {
	logs := make([]float64, times)
	sample := make([]float64, len(values))
	for i := range logs {
		for at := 0; at < len(sample); {
			from := rng.IntN(len(values))
			for j := 0; j < block && at < len(sample); j++ {
				sample[at] = values[(from+j)%len(values)]
				at++
			}
		}
		logs[i] = math.Log(statistic(sample))
	}
	s := Summarize(logs)
	return s.StdDev * s.StdDev, !math.IsNaN(s.StdDev)
}
