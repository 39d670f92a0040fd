package stats

import (
	"math"
	"sort"
)

// An SLO "the p-quantile is below L" says that the share of requests over L is
// at most q0 = 1-p. These functions test that share with independent requests;
// [TestProportion] makes up for requests that are not independent. Shares and
// levels lie within 0 and 1: p99 is 0.99, a 5 % level 0.05.

// PassP is P(Bin(n, q0) <= k) = I_{1-q0}(n-k, k+1): how likely it is to see so
// few over the limit when exactly the share q0 is. k and n may be real, as
// effective sample sizes are. It is NaN when n is not positive, k is outside of
// 0 to n or q0 outside of 0 to 1.
func PassP(k, n, q0 float64) float64 {
	if !counts(k, n) || !share(q0) {
		return math.NaN()
	}
	if k == n {
		return 1 // also at q0 = 1
	}
	return RegIncBeta(n-k, k+1, 1-q0)
}

// FailP is P(Bin(n, q0) >= k) = I_{q0}(k, n-k+1): how likely it is to see so
// many over the limit when the share q0 is. It is 1 for k = 0 and NaN where
// [PassP] is.
func FailP(k, n, q0 float64) float64 {
	if !counts(k, n) || !share(q0) {
		return math.NaN()
	}
	if k == 0 {
		return 1 // also at q0 = 0
	}
	return RegIncBeta(k, n-k+1, q0)
}

func counts(k, n float64) bool { return n > 0 && k >= 0 && k <= n && !math.IsInf(n, 0) }
func share(q float64) bool     { return q >= 0 && q <= 1 }
func level(a float64) bool     { return a > 0 && a < 1 }

// ShareUpper is the exact one-sided upper bound of a share of which k in n were
// seen: the largest share q with P(Bin(n, q) <= k) >= alpha (Clopper and
// Pearson 1934). It is 1 for k = n and NaN where [PassP] is.
func ShareUpper(k, n, alpha float64) float64 {
	if !counts(k, n) || !level(alpha) {
		return math.NaN()
	}
	return InvRegIncBeta(k+1, n-k, 1-alpha)
}

// ShareLower is the exact one-sided lower bound: the smallest share q with
// P(Bin(n, q) >= k) >= alpha. It is 0 for k = 0 and NaN where [PassP] is.
func ShareLower(k, n, alpha float64) float64 {
	if !counts(k, n) || !level(alpha) {
		return math.NaN()
	}
	return InvRegIncBeta(k, n-k+1, alpha)
}

// maxRequests bounds every search for a sample size: no test sends more.
const maxRequests = 1 << 40

// MinRequests is the smallest number of independent requests of which k may be
// over the limit and the p-quantile is still proved to be below it at level
// alpha: the least n with P(Bin(n, 1-p) <= k) <= alpha. With k = 0 that is
// ceil(ln alpha / ln p), 299 for p99 at 5 %. It is 0, for "no number suffices",
// when p or alpha is not within 0 and 1 or k is negative.
func MinRequests(p, alpha float64, k int) int {
	if !level(p) || !level(alpha) || k < 0 {
		return 0
	}
	n := leastTrue(k+1, func(n int) bool { return PassP(float64(k), float64(n), 1-p) <= alpha })
	if n > maxRequests {
		return 0
	}
	return n
}

// leastTrue is the least n >= from with ok(n), for an ok that stays true once
// it is; more than maxRequests when there is none.
func leastTrue(from int, ok func(int) bool) int {
	step := 1
	for from+step <= maxRequests && !ok(from+step-1) {
		step *= 2
	}
	return from + sort.Search(step, func(i int) bool { return ok(from + i) })
}

// Bands gives, for n independent requests and the p-quantile at level alpha,
// the largest count over the limit that still proves the SLO and the smallest
// that refutes it; what lies between is inconclusive. pass is -1 when even 0
// over the limit prove nothing, fail is n+1 when even n over refute nothing.
// Both are so for arguments that make no sense.
func Bands(n int, p, alpha float64) (pass, fail int) {
	if n <= 0 || !level(p) || !level(alpha) {
		return -1, max(n, 0) + 1
	}
	pass = sort.Search(n+1, func(k int) bool { return !(PassP(float64(k), float64(n), 1-p) <= alpha) }) - 1
	fail = sort.Search(n+1, func(k int) bool { return FailP(float64(k), float64(n), 1-p) <= alpha })
	return pass, fail
}

// MLPerf's early stopping rule (mlcommons/inference, early_stopping.cc): the
// rules fix confidence 0.99 and tolerance 0.
const (
	MLPerfConfidence = 0.99
	MLPerfTolerance  = 0
)

// MLPerfMinUnder is LoadGen's h_min(t): the least number of queries under the
// latency limit that make t queries over it acceptable for percentile p with
// tolerance d at confidence c, the least h with I_{p-d}(h, t+1) < 1-c. It is 0
// when p-d or c is not within 0 and 1 or t is negative.
func MLPerfMinUnder(t int, p, d, c float64) int {
	if !level(p-d) || !level(c) || t < 0 {
		return 0
	}
	h := leastTrue(1, func(h int) bool { return RegIncBeta(float64(h), float64(t)+1, p-d) < 1-c })
	if h > maxRequests {
		return 0
	}
	return h
}

// MLPerfDiscard is LoadGen's t* for n queries: the largest t >= 1 with
// h_min(t) + t <= n. Its percentile estimate is the t*-th largest latency. It is
// 0 when n queries give no estimate.
func MLPerfDiscard(n int, p, d, c float64) int {
	if !level(p-d) || !level(c) || n < 2 {
		return 0
	}
	enough := func(t int) bool {
		return RegIncBeta(float64(n-t), float64(t)+1, p-d) < 1-c
	}
	return sort.Search(n-1, func(i int) bool { return !enough(i + 1) })
}
