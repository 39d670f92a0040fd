package stats

import (
	"math"
	"sort"
)

// UpperRank is the rank, counted from 1, of the order statistic among n
// independent samples that is an upper bound of the p-quantile at level alpha:
// 1 + the (1-alpha)-quantile of Bin(n, p); 996 for p99 of 1,000 at 5 %. It needs
// no distribution and with ties holds the more. It is n+1, where no sample is
// an upper bound, when n is too small or an argument makes no sense.
func UpperRank(n int, p, alpha float64) int {
	if n <= 0 || !level(p) || !level(alpha) {
		return max(n, 0) + 1
	}
	return 1 + sort.Search(n, func(j int) bool { return binomialCDF(j, n, p) >= 1-alpha })
}

// LowerRank is the rank, counted from 1, of the order statistic that is a lower
// bound of the p-quantile at level alpha: the largest r with
// P(Bin(n, p) <= r-1) <= alpha. It is 0, where no sample is a lower bound, when
// n is too small or an argument makes no sense.
func LowerRank(n int, p, alpha float64) int {
	if n <= 0 || !level(p) || !level(alpha) {
		return 0
	}
	return sort.Search(n, func(j int) bool { return binomialCDF(j, n, p) > alpha })
}

// binomialCDF is P(Bin(n, p) <= j).
func binomialCDF(j, n int, p float64) float64 {
	return RegIncBeta(float64(n-j), float64(j)+1, 1-p)
}

// PercentileBounds gives one-sided bounds, each at level alpha, of the p-th
// percentile (p from 0 to 100, as for [Percentile]) of which ascending are
// independent samples; together they are an interval at level 2 alpha. Where
// the sample is too small the bound is infinite: lower -Inf, upper +Inf. Both
// are NaN for no samples, a NaN among them, or a p or alpha out of range.
func PercentileBounds[T int64 | float64](ascending []T, p, alpha float64) (lower, upper float64) {
	n := len(ascending)
	if n == 0 || !level(p/100) || !level(alpha) || math.IsNaN(float64(ascending[0])) {
		return math.NaN(), math.NaN()
	}
	lower, upper = math.Inf(-1), math.Inf(1)
	if r := LowerRank(n, p/100, alpha); r >= 1 {
		lower = float64(ascending[r-1])
	}
	if r := UpperRank(n, p/100, alpha); r <= n {
		upper = float64(ascending[r-1])
	}
	return lower, upper
}
