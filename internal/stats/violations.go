package stats

import (
	"math"
	"slices"
)

// Violations are the requests of a run, in order of intended start, as the test
// of a share needs them.
type Violations struct {
	// Over tells of each request whether it is over the limit. A request that
	// failed, timed out or has no value is.
	Over []bool
	// AboveQuantile tells of each whether it is over the sample's own
	// p-quantile. It shows how bursty the tail is even when nothing is over the
	// limit. Nil where there are no values behind the flags (error rate, goodput).
	AboveQuantile []bool
	// OverTight is how many are over the limit divided by 1.5, for the margin
	// rule; -1 where there is no such limit.
	OverTight int
	// NoLimit says that the limit was not positive and finite, so that there is
	// nothing to judge.
	NoLimit bool
}

// marginRatio is the margin rule's: with no request over L/1.5 a limit of L is
// so far away that bursts do not reach it.
const marginRatio = 1.5

// FlagViolations compares values, in order of intended start, with a limit for
// the p-quantile (p from 0 to 1). A NaN or +Inf is a request without a value, and
// over every limit. With orEqual a value at the limit is over, as in an SLO
// "below"; without, as in "at most". A limit that is not positive and finite makes
// the test INVALID, as a NaN would let everything pass.
func FlagViolations(values []float64, limit, p float64, orEqual bool) Violations {
	ys := slices.Clone(values)
	for i, y := range ys {
		if math.IsNaN(y) {
			ys[i] = math.Inf(1)
		}
	}
	over := func(limit float64) []bool {
		flags := make([]bool, len(ys))
		for i, y := range ys {
			flags[i] = y > limit || orEqual && y == limit || math.IsInf(y, 1)
		}
		return flags
	}
	v := Violations{Over: over(limit), OverTight: countTrue(over(limit / marginRatio)),
		NoLimit: !(limit > 0) || math.IsInf(limit, 1)}
	sorted := slices.Clone(ys)
	slices.Sort(sorted)
	q := Percentile(sorted, p*100)
	v.AboveQuantile = make([]bool, len(ys))
	for i, y := range ys {
		v.AboveQuantile[i] = y > q || math.IsInf(y, 1)
	}
	if countTrue(v.AboveQuantile) == 0 { // ties up to the largest
		for i, y := range ys {
			v.AboveQuantile[i] = y >= q
		}
	}
	return v
}

// CountViolations is the flags alone, for a share without a limit behind it:
// error rate, goodput.
func CountViolations(over []bool) Violations { return Violations{Over: over, OverTight: -1} }
