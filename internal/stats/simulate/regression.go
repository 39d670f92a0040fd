package simulate

import (
	"math"
	"math/rand/v2"

	"github.com/slogate/slogate/internal/stats"
)

// Regression is how often a comparison of runs calls a build regressed.
type Regression struct {
	Figure      string
	Effect      float64 // geometric mean of the ratios that were seen
	Regressed   float64 // share of REGRESSED by Welch
	Unchanged   float64 // share of OK by Welch
	Permutation float64 // share with exact p <= .05 and a mean over the tolerance
}

var figures = []struct {
	name string
	of   func([]Request) float64
}{
	{"TTFT p50", func(r []Request) float64 { return percentile(r, TTFT, 50) }},
	{"TPOT mean", func(r []Request) float64 { return stats.Summarize(values(r, TPOT)).Mean }},
	{"TTFT p99", func(r []Request) float64 { return percentile(r, TTFT, 99) }},
}

// Comparison sets up a comparison of two builds by whole runs.
type Comparison struct {
	Rate                float64
	Requests            int     // a run
	Baseline, Candidate int     // runs
	Noise               float64 // deviation of the log of the speed from run to run
	Slow                float64 // the candidate's step times over the baseline's
}

// Repeat makes so many comparisons.
func (c Comparison) Repeat(times int) []Regression {
	type result struct {
		stats.Change
		permutation bool
	}
	results := parallel(times, func(i int) []result {
		rng := rand.New(rand.NewPCG(uint64(i), 0xc0))
		runs := make([][]Request, c.Baseline+c.Candidate)
		for j := range runs {
			slow := math.Exp(c.Noise * rng.NormFloat64())
			if j >= c.Baseline {
				slow *= c.Slow
			}
			runs[j] = Engine{Slow: slow}.Open(rng.Uint64(), c.Rate, warm, c.Requests)
		}
		out := make([]result, len(figures))
		for k, f := range figures {
			ys, logs := make([]float64, len(runs)), make([]float64, len(runs))
			for j, r := range runs {
				ys[j] = f.of(r)
				logs[j] = math.Log(ys[j])
			}
			change := stats.Compare{}.Welch(ys[:c.Baseline], ys[c.Baseline:])
			p := stats.PermutationP(logs[:c.Baseline], logs[c.Baseline:])
			out[k] = result{change, p <= 0.05 && change.Ratio > 1.05}
		}
		return out
	})
	out := make([]Regression, len(figures))
	for k, f := range figures {
		effect := 0.0
		for _, r := range results {
			effect += r[k].Effect / float64(times)
		}
		of := func(f func(result) bool) float64 {
			return share(results, func(r []result) bool { return f(r[k]) })
		}
		out[k] = Regression{f.name, math.Exp(effect),
			of(func(r result) bool { return r.Outcome == stats.Regressed }),
			of(func(r result) bool { return r.Outcome == stats.Unchanged }),
			of(func(r result) bool { return r.permutation })}
	}
	return out
}
