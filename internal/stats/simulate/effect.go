package simulate

import (
	"github.com/slogate/slogate/internal/stats"
)

// Effect tells how well a single run knows its own design effect.
type Effect struct {
	True float64 // variance of the count over many runs, over the binomial's
	Mean float64 // mean of the runs' estimates from 20 batches
	Calm float64 // mean of the estimates of runs with less than half the violations they should have
	Runs float64 // share of such runs
}

// DesignEffect compares the estimates of runs of n requests, at a rate and at a
// limit that is the true p99, with the truth.
func DesignEffect(rate float64, metric Metric, n, runs int, truth float64) Effect {
	type result struct{ k, d float64 }
	results := parallel(runs, func(i int) result {
		v := stats.FlagViolations(values(Engine{}.Open(uint64(i), rate, warm, n), metric), truth, 0.99, true)
		s := stats.ShareTest{P: 0.99}.Run(v)
		return result{float64(s.K), s.EffectFail}
	})
	expected := 0.01 * float64(n)
	var ks, ds, calm []float64
	for _, r := range results {
		ks, ds = append(ks, r.k), append(ds, r.d)
		if r.k < expected/2 {
			calm = append(calm, r.d)
		}
	}
	sd := stats.Summarize(ks).StdDev
	return Effect{sd * sd / (expected * 0.99), stats.Summarize(ds).Mean, stats.Summarize(calm).Mean, float64(len(calm)) / float64(runs)}
}
