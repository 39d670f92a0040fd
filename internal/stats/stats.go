// Package stats turns samples into figures, percentiles, means and spreads, and
// evidence into decisions: [ShareTest] and [MeanTest] judge an SLO, [Compare] a
// build against a baseline, [JudgeLoad] whether a server keeps up and [Search]
// the highest load that holds. How often they are right on a simulated engine is
// in characteristics.md. It knows no units; a figure is in the unit of its
// samples.
package stats

import "math"

// Percentile gives the p-th percentile, p from 0 to 100, of an ascending
// slice by linear interpolation between order statistics: definition 7 of
// Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996), which is
// numpy's default and what vLLM bench, AIPerf, inference-perf and k6 print.
//
// It is NaN when there is no sample, when p is NaN or outside of 0 to 100, and
// when the slice holds a NaN (package slices sorts those first).
func Percentile[T int64 | float64](ascending []T, p float64) float64 {
	n := len(ascending)
	if n == 0 || !inPercent(p) || math.IsNaN(float64(ascending[0])) {
		return math.NaN()
	}
	k, f := rank(n, p)
	return lerp(float64(ascending[k]), float64(ascending[min(k+1, n-1)]), f)
}

// NearestRank gives the smallest sample that at least p percent of all samples
// do not exceed: definition 1 of Hyndman and Fan. It is one of the samples, and
// NaN where [Percentile] is.
func NearestRank[T int64 | float64](ascending []T, p float64) float64 {
	n := len(ascending)
	if n == 0 || !inPercent(p) || math.IsNaN(float64(ascending[0])) {
		return math.NaN()
	}
	k := int(math.Ceil(float64(n) * p / 100))
	return float64(ascending[min(max(k, 1), n)-1])
}

func inPercent(p float64) bool { return p >= 0 && p <= 100 } // false for NaN

// rank splits the type 7 rank (n-1)*p/100 into the order statistic below it,
// counted from 0, and the way from there to the next.
func rank(n int, p float64) (k int, f float64) {
	h := float64(n-1) * (p / 100)
	k = min(int(h), n-1)
	return k, h - float64(k)
}

// lerp goes the share f of the way from a to b. It starts at the nearer end,
// as numpy does, so that it is monotone in f and exact at both ends.
func lerp(a, b, f float64) float64 {
	if a == b || f == 0 {
		return a
	}
	if f < 0.5 {
		return a + (b-a)*f
	}
	return b - (b-a)*(1-f)
}

// Summary describes a set of samples.
type Summary struct {
	N      int
	Mean   float64 // NaN without samples
	StdDev float64 // of the sample, with n-1; NaN with fewer than two samples
	Min    float64 // NaN without samples
	Max    float64 // NaN without samples
}

// Summarize describes values, in any order. It is exact for equal values: their
// mean is that value and their deviation 0. A sample that is NaN or infinite is
// not skipped: all figures are then NaN. Leave out what was not measured.
//
// The method is Welford's, "Note on a Method for Calculating Corrected Sums of
// Squares and Products" (1962), which does not lose small spreads on large
// means as the sum of squares does.
func Summarize(values []float64) Summary {
	none := Summary{N: len(values), Mean: math.NaN(), StdDev: math.NaN(), Min: math.NaN(), Max: math.NaN()}
	if len(values) == 0 {
		return none
	}
	s := none
	s.Min, s.Max = values[0], values[0]
	var mean, squares float64
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return none
		}
		s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		d := v - mean
		mean += d / float64(i+1)
		squares += d * (v - mean)
	}
	s.Mean = min(max(mean, s.Min), s.Max) // rounding must not put it outside
	if s.N > 1 {
		s.StdDev = math.Sqrt(squares / float64(s.N-1))
	}
	return s
}
