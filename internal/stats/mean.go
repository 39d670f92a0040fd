package stats

import "math"

// MeanTest is the test of an SLO on a mean: TPOT mean below a limit, or, with
// AtLeast, throughput at or above one.
type MeanTest struct {
	Limit   float64
	AtLeast bool
	// Alpha and FailAlpha are as in [ShareTest].
	Alpha, FailAlpha float64
}

// Mean is the outcome of a [MeanTest].
type Mean struct {
	Evidence
	N            int
	Mean         float64
	SE           float64 // standard error, from batch means
	Lower, Upper float64 // one-sided bounds of the mean, each at level Alpha
	PassP        float64 // least level at which the SLO is proved
	Needed       int     // samples that would decide at the same mean and spread; 0 when decided or none would
	Decision     Decision
	Rule         Rule
}

// RuleMean is a decision by the interval of a mean.
const RuleMean Rule = "mean"

// Run judges values in order of intended start, or the rates of equal windows
// in order of time. They are cut into b = 20 batches whose means have deviation
// s, which bears the dependence of neighbours:
//
//	mean ± t_{1-a, 19} s/sqrt(20)
//
// The SLO is proved when the whole interval is on its good side and refuted
// when it is wholly on the other. Without any spread the mean itself decides,
// and one exactly at the limit proves nothing. Below 20 values it is
// INCONCLUSIVE, without values, and with one that is NaN or infinite, INVALID:
// what has no value must be left out before.
func (c MeanTest) Run(values []float64) Mean {
	alpha, failAlpha := ShareTest{Alpha: c.Alpha, FailAlpha: c.FailAlpha}.levels()
	nan := math.NaN()
	all := Summarize(values)
	m := Mean{N: len(values), Mean: all.Mean, SE: nan, Lower: nan, Upper: nan, PassP: 1}
	m.FailP = 1
	switch {
	case m.N == 0:
		m.Decision, m.Rule = Invalid, RuleEmpty
		return m
	case math.IsNaN(all.Mean) || math.IsNaN(c.Limit) || math.IsInf(c.Limit, 0) || !level(alpha) || !level(failAlpha):
		m.Decision, m.Rule = Invalid, RuleInput
		return m
	}
	m.Valid = true
	if m.N < batchCount {
		m.Rule, m.Needed = RuleTooFew, batchCount
		return m
	}
	const nu = batchCount - 1
	m.SE = Summarize(batchMeans(values, batchCount)).StdDev / math.Sqrt(batchCount)
	t := StudentQuantile(1-alpha, nu)
	m.Lower, m.Upper = m.Mean-t*m.SE, m.Mean+t*m.SE
	over := m.Mean - c.Limit
	if c.AtLeast {
		over = -over
	}
	m.PassP, m.FailP = tailP(-over, m.SE, nu), tailP(over, m.SE, nu)
	m.Proved = m.PassP <= alpha
	switch {
	case m.FailP <= failAlpha:
		m.Decision, m.Rule = Fail, RuleMean
	case m.Proved:
		m.Decision, m.Rule = Pass, RuleMean
	default:
		m.Rule = RuleOpen
		if over > 0 {
			t = StudentQuantile(1-failAlpha, nu)
		}
		if n := float64(m.N) * math.Pow(t*m.SE/over, 2); n < maxRequests {
			m.Needed = max(m.N+1, int(math.Ceil(n)))
		}
	}
	return m
}

// tailP is P(T >= d/se) for nu degrees of freedom. Without spread it is 0 above
// 0, and 1 else.
func tailP(d, se, nu float64) float64 {
	if se == 0 {
		if d > 0 {
			return 0
		}
		return 1
	}
	return StudentCDF(-d/se, nu)
}
