package stats

import (
	"math"
	"slices"
)

// Holm tells which of a family of tests reject at level alpha so that the
// chance of any false rejection among them is at most alpha (Holm, "A Simple
// Sequentially Rejective Multiple Test Procedure", 1979): in ascending order the
// i-th of m p-values, counted from 0, is compared with alpha/(m-i), until the
// first that is larger. A NaN is no test: it neither counts nor rejects.
func Holm(p []float64, alpha float64) []bool {
	reject := make([]bool, len(p))
	order := make([]int, 0, len(p))
	for i, v := range p {
		if !math.IsNaN(v) {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	for i, at := range order {
		if !(p[at] <= alpha/float64(len(order)-i)) {
			break
		}
		reject[at] = true
	}
	return reject
}

// Decision is what the evidence says of one SLO. The zero value claims nothing.
type Decision int

const (
	Inconclusive Decision = iota // neither proved nor refuted
	Pass                         // proved: the SLO holds
	Fail                         // refuted: the SLO does not hold
	Invalid                      // there is no evidence: no requests, or input that makes no sense
)

func (d Decision) String() string {
	return [...]string{"INCONCLUSIVE", "PASS", "FAIL", "INVALID"}[d]
}

// Evidence is what one test gives to [Decide].
type Evidence struct {
	Valid   bool    // false: nothing was tested
	Proved  bool    // the PASS rule holds at the test's own level
	Refuted bool    // the SLO fails whatever the level: all requests are over
	FailP   float64 // the least level at which the FAIL rule holds
}

// Decide judges the SLOs of one run together. To pass, each is proved at its
// own level, without a correction: all have to hold (an intersection-union
// test). To fail, the family's chance of any false FAIL is held at alpha by
// [Holm]. FAIL goes before PASS.
func Decide(alpha float64, family ...Evidence) []Decision {
	ps := make([]float64, len(family))
	for i, e := range family {
		switch {
		case !e.Valid:
			ps[i] = math.NaN()
		case e.Refuted:
			ps[i] = 0
		default:
			ps[i] = e.FailP
		}
	}
	out := make([]Decision, len(family))
	for i, fails := range Holm(ps, alpha) {
		switch {
		case !family[i].Valid:
			out[i] = Invalid
		case fails:
			out[i] = Fail
		case family[i].Proved:
			out[i] = Pass
		}
	}
	return out
}
