package stats

import (
	"math"

	"gonum.org/v1/gonum/stat/combin"
)

// maxSplits bounds the work of an exact permutation test; beyond it there are
// enough runs for Welch.
const maxSplits = 1_000_000

// PermutationP is the exact one-sided p-value that the candidate's mean is not
// larger than the baseline's: the share, among all ways to call len(candidate)
// of all runs the candidate, of those whose mean is at least as large. It
// supposes only that runs of one build are exchangeable. It is NaN when a side
// is empty, a value is NaN or infinite, or there are over a million ways.
// Compare logs of figures to test a ratio.
func PermutationP(baseline, candidate []float64) float64 {
	if !(PermutationMinP(len(baseline), len(candidate)) >= 1.0/maxSplits) {
		return math.NaN()
	}
	all := append(append([]float64{}, baseline...), candidate...)
	scale := 0.0
	for _, v := range all {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return math.NaN()
		}
		scale += math.Abs(v)
	}
	// With the total fixed, the candidate's sum orders the splits. Sums of the
	// same values in another order differ by rounding only.
	observed := 0.0
	for _, v := range candidate {
		observed += v
	}
	observed -= 1e-12 * scale
	splits, atLeast := 0, 0
	g := combin.NewCombinationGenerator(len(all), len(candidate))
	pick := make([]int, len(candidate))
	for g.Next() {
		sum := 0.0
		for _, i := range g.Combination(pick) {
			sum += all[i]
		}
		splits++
		if sum >= observed {
			atLeast++
		}
	}
	return float64(atLeast) / float64(splits)
}

// PermutationMinP is the smallest p-value that so many runs can give,
// 1/C(b+c, c): .05 for 3+3, .018 for 5+3, .014 for 4+4. It is NaN when a side is
// empty.
func PermutationMinP(baseline, candidate int) float64 {
	if baseline <= 0 || candidate <= 0 {
		return math.NaN()
	}
	splits := 1.0
	for i := range min(baseline, candidate) {
		splits *= float64(baseline+candidate-i) / float64(i+1)
	}
	return 1 / splits
}
