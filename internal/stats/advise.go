package stats

import (
	"math"
	"math/rand/v2"
)

// BlockSE is the standard error of a statistic's logarithm over one run, by
// resampling blocks as [Compare.Bootstrap] does. It is NaN with fewer than four
// blocks, or where the statistic is not positive and finite. Long runs are
// resampled less often, so that it takes about a second at most.
func BlockSE(values []float64, block int, statistic func([]float64) float64) float64 {
	if block < 1 || len(values) < minBlocks*block {
		return math.NaN()
	}
	times := min(resamples, max(resamples/10, enoughValues/len(values)))
	v, ok := resampledVariance(values, block, statistic, rand.New(rand.NewPCG(1, 2)), times)
	if !ok {
		return math.NaN()
	}
	return math.Sqrt(v)
}

// enoughValues is how many values all resamples of a run hold together.
const enoughValues = 5_000_000

// Advise compares runs where there are not those for evidence, as one run with
// one other. A side of one run brings its standard error within the run (see
// [BlockSE]), which a side of several does not need:
//
//	se² = v_b + v_c;  v = se_run² + .03² of one run, max(s, .03)²/R of several
//
// since what runs differ by, no single run tells. The rules are those of
// [Compare.Welch] with the normal distribution, and the change is marked as
// advisory: it is a hint and no evidence. It is INCONCLUSIVE where a standard
// error is not known.
func (c Compare) Advise(baseline, candidate []float64, seBaseline, seCandidate float64) Change {
	change, c, b, z, ok := c.start(baseline, candidate)
	change.Advisory = true
	if !ok {
		return change
	}
	sb, sc := Summarize(b), Summarize(z)
	d := sc.Mean - sb.Mean
	se := math.Sqrt(advisedVariance(sb, seBaseline) + advisedVariance(sc, seCandidate))
	if math.IsNaN(se) || math.IsInf(se, 0) {
		change.Reason, change.Effect, change.Ratio = ReasonShort, d, c.ratio(d)
		return change
	}
	return c.decide(change, d, se, math.Inf(1))
}

func advisedVariance(s Summary, se float64) float64 {
	if s.N > 1 {
		return math.Pow(max(s.StdDev, runSpread), 2) / float64(s.N)
	}
	return se*se + runSpread*runSpread
}
