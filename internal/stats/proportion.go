package stats

import "math"

// ShareTest is the test that at most the share 1-P of all requests is over a
// limit. A percentile SLO "p99 < L" has P = 0.99; a goodput of at least g has
// P = g; an error rate of at most e has P = 1-e.
type ShareTest struct {
	// P is the share that has to be within the limit, above 0. With 1 a single
	// request over the limit is a FAIL and none is a PASS; [Share.Upper] then
	// tells how little that proves.
	P float64
	// Alpha is the level of PASS and of the bounds; 0 means 0.05.
	Alpha float64
	// FailAlpha is the level of FAIL in [Share.Decision]; 0 means Alpha. With
	// several SLOs use [Decide] instead.
	FailAlpha float64
	// Seconds is how long the measured part took; the margin rule wants 60.
	Seconds float64
	// Planned is set for a run that was stopped early because it must fail: the
	// number of requests that it would have had. FAIL is then judged as if all
	// that are missing had been within the limit. 0 means that the run is whole.
	Planned int
}

// Rule names what decided a [Share].
type Rule string

const (
	RuleInput    Rule = "bad input"              // INVALID: P, Alpha, the limit or the counts make no sense
	RuleEmpty    Rule = "no requests"            // INVALID: nothing was measured
	RuleAllOver  Rule = "all over"               // FAIL: not one request within the limit
	RuleNoneOver Rule = "none over"              // PASS of P = 1, by count and not by proof
	RuleAnyOver  Rule = "one over is too many"   // FAIL of P = 1
	RuleShare    Rule = "share"                  // PASS or FAIL: the share of requests over the limit
	RuleMargin   Rule = "margin"                 // PASS: none over L/1.5, enough requests, 60 s or more
	RuleTooFew   Rule = "too few for dependence" // INCONCLUSIVE: under 100 requests no design effect can be estimated
	RuleOpen     Rule = "undecided"              // INCONCLUSIVE
)

const (
	marginSeconds   = 60
	minProof        = batchCount // below, nothing is proved: it is hardly a run
	minForEffect    = 100        // below, batches have fewer than 5 requests
	assumedEffect   = 4.0        // what is assumed there, to fail
	defaultAlpha    = 0.05
	levelResolution = 1e-7  // of the log of a p-value
	leastAlpha      = 1e-12 // below, a p-value is not told apart
)

// Share is the outcome of a [ShareTest].
type Share struct {
	Evidence
	N, K         int     // requests; how many of them over the limit
	Lower, Upper float64 // one-sided bounds of the share over the limit, each at level Alpha
	// EffectFail and EffectPass are the design effects D_F = max(1, D(L)) and
	// D_P = max(D_F, D(sample quantile)); 4 below 100 requests, where it is
	// assumed. SizeFail and SizePass are the effective numbers of requests.
	EffectFail, EffectPass float64
	SizeFail, SizePass     float64
	// PassP is the least level at which the share proves the SLO; FailP in
	// Evidence is the least at which it refutes it. PassP does not know of the
	// margin rule. 1 where no level does.
	PassP float64
	// Needed is how many requests would decide at the same share, the same
	// dependence and pace; 0 when it is decided or no number would.
	Needed   int
	Decision Decision // at Alpha and FailAlpha, for a test on its own
	Rule     Rule
}

// Run judges a run's requests: section "Verdict" of the design. n requests, k
// over the limit, b = 20 batches:
//
//	D_F = max(1, D(L));  D_P = max(1, D(L), D(sample p-quantile))
//	n_e(D) = min(n, n/D (t_{1-a,n-1}/t_{1-a,19})²);  k_e = k n_e/n
//	FAIL if I_{q0}(k_e, n_e-k_e+1) <= a with D_F
//	PASS if I_{1-q0}(n_e-k_e, k_e+1) <= a with D_P, or none is over L/1.5, n is
//	     at least MinRequests(p, a, 0) and the run took 60 s
//
// With fewer than 100 requests D is not estimable: FAIL takes D = 4, PASS goes
// by the margin rule alone, and with fewer than 20 there is no PASS at all. No
// request is INVALID, all over are a FAIL.
func (c ShareTest) Run(v Violations) Share {
	c.Alpha, c.FailAlpha = c.levels()
	s := Share{N: len(v.Over), K: countTrue(v.Over), Lower: math.NaN(), Upper: math.NaN(), PassP: 1}
	s.FailP = 1
	switch {
	case !(c.P > 0 && c.P <= 1) || !level(c.Alpha) || !level(c.FailAlpha) || math.IsNaN(c.Seconds) || v.NoLimit ||
		v.AboveQuantile != nil && len(v.AboveQuantile) != s.N:
		s.Decision, s.Rule = Invalid, RuleInput
		return s
	case s.N == 0:
		s.Decision, s.Rule = Invalid, RuleEmpty
		return s
	}
	s.Valid = true
	s.measure(c, v)
	fail := c.failing(v.Over)
	s.FailP = leastLevel(fail.p)
	s.Refuted = s.K == s.N || c.P == 1 && s.K > 0
	margin := v.OverTight == 0 && c.P < 1 && s.N >= c.marginRequests() && c.Seconds >= marginSeconds
	shared := s.PassP <= c.Alpha && s.N >= minForEffect
	none := c.P == 1 && s.K == 0 && s.N >= minProof
	s.Proved = !s.Refuted && (margin || shared || none)
	switch {
	case s.K == s.N:
		s.Decision, s.Rule = Fail, RuleAllOver
	case s.Refuted:
		s.Decision, s.Rule = Fail, RuleAnyOver
	case s.FailP <= c.FailAlpha:
		s.Decision, s.Rule = Fail, RuleShare
	case none:
		s.Decision, s.Rule = Pass, RuleNoneOver
	case c.P == 1:
		s.Rule, s.Needed = RuleTooFew, minProof
	case shared:
		s.Decision, s.Rule = Pass, RuleShare
	case margin:
		s.Decision, s.Rule = Pass, RuleMargin
	default:
		s.Rule = RuleOpen
		if s.N < minForEffect {
			s.Rule = RuleTooFew
		}
		s.Needed = c.needed(s, v.OverTight == 0)
	}
	return s
}

func (c ShareTest) levels() (alpha, failAlpha float64) {
	alpha, failAlpha = c.Alpha, c.FailAlpha
	if alpha == 0 {
		alpha = defaultAlpha
	}
	if failAlpha == 0 {
		failAlpha = alpha
	}
	return alpha, failAlpha
}

// marginRequests is the least number of requests for the margin rule.
func (c ShareTest) marginRequests() int { return max(minProof, MinRequests(c.P, c.Alpha, 0)) }

// LeastRequests is the least number of requests that can prove the share at
// all, if none is over and they are as good as independent. margin says that
// the margin rule may help, as it does where there is a limit with values behind
// it and the run takes a minute. It is 0 for a test that makes no sense.
func (c ShareTest) LeastRequests(margin bool) int {
	c.Alpha, c.FailAlpha = c.levels()
	switch {
	case !(c.P > 0 && c.P <= 1) || !level(c.Alpha):
		return 0
	case c.P == 1:
		return minProof
	case margin:
		return c.marginRequests()
	}
	return leastTrue(minForEffect, func(n int) bool {
		return PassP(0, effectiveSize(float64(n), 1, c.Alpha), 1-c.P) <= c.Alpha
	})
}

// measure fills in design effects, effective sizes, bounds and PassP.
func (s *Share) measure(c ShareTest, v Violations) {
	s.EffectFail = failEffect(v.Over)
	s.EffectPass = s.EffectFail
	if s.N >= minForEffect && v.AboveQuantile != nil {
		s.EffectPass = max(s.EffectPass, DesignEffect(v.AboveQuantile))
	}
	n, share := float64(s.N), float64(s.K)/float64(s.N)
	s.SizeFail, s.SizePass = size(n, s.EffectFail, c.Alpha), size(n, s.EffectPass, c.Alpha)
	s.Lower = ShareLower(share*s.SizeFail, s.SizeFail, c.Alpha)
	s.Upper = ShareUpper(share*s.SizePass, s.SizePass, c.Alpha)
	s.PassP = leastLevel(func(a float64) float64 {
		ne := size(n, s.EffectPass, a)
		return PassP(share*ne, ne, 1-c.P)
	})
}

func failEffect(over []bool) float64 {
	if len(over) < minForEffect {
		return assumedEffect
	}
	return max(1, DesignEffect(over))
}

// size is the effective size of n requests: an assumed effect is not estimated
// and bears no penalty for that.
func size(n, effect, alpha float64) float64 {
	if n < minForEffect {
		return n / effect
	}
	return effectiveSize(n, effect, alpha)
}

// failRule is the FAIL rule for given flags.
type failRule struct{ n, share, effect, q0 float64 }

// failing prepares the FAIL rule; requests that are missing from a planned
// number count as within the limit.
func (c ShareTest) failing(over []bool) failRule {
	if c.Planned > len(over) {
		whole := make([]bool, c.Planned)
		copy(whole, over)
		over = whole
	}
	n := float64(len(over))
	return failRule{n, float64(countTrue(over)) / n, failEffect(over), 1 - c.P}
}

func (r failRule) p(a float64) float64 {
	ne := size(r.n, r.effect, a)
	return FailP(r.share*ne, ne, r.q0)
}

// MustFail tells, in the middle of a run of planned requests, whether the FAIL
// rule already holds at FailAlpha if all that are still to come are within the
// limit: over are those so far, in order of intended start. Stopping then
// spends no level. In 3,000 simulated runs each that would have been stopped
// was a FAIL at its end, too; that is not a theorem, as a late burst raises the
// design effect of the whole. So a stopped run is judged with Planned set, which
// repeats this very rule. With m SLOs in the family set FailAlpha to alpha/m, Holm's
// first step. It is false for a test that makes no sense.
func (c ShareTest) MustFail(over []bool, planned int) bool {
	_, a := c.levels()
	if len(over) == 0 || planned <= 0 || !level(a) || !(c.P > 0 && c.P <= 1) {
		return false
	}
	k := countTrue(over)
	if c.P == 1 && k > 0 || k >= planned {
		return true
	}
	c.Planned = planned
	return c.failing(over).p(a) <= a
}

// leastLevel is the least level a with p(a) <= a, for a p that falls as a
// grows: a p-value of a test whose statistic depends on its level. Above 1/2 it
// is p there, which no test rejects.
func leastLevel(p func(float64) float64) float64 {
	if top := p(0.5); !(top <= 0.5) {
		return top
	}
	// Regula falsi (Illinois) on logs, as p is smooth there; halving where it
	// is not finite.
	above := func(u float64) float64 { return math.Log(p(math.Exp(u))) - u }
	low, high := math.Log(leastAlpha), math.Log(0.5)
	atLow, atHigh := above(low), above(high)
	if atLow <= 0 {
		return leastAlpha
	}
	for high-low > levelResolution {
		mid := low + (high-low)*atLow/(atLow-atHigh)
		if !(mid > low && mid < high) {
			mid = low + (high-low)/2
		}
		switch at := above(mid); {
		case at > 0:
			low, atLow, atHigh = mid, at, atHigh/2
		case at > -levelResolution:
			return math.Exp(mid)
		default:
			high, atHigh, atLow = mid, at, atLow/2
		}
	}
	return math.Exp(high)
}

// needed searches the number of requests that decides at the same share.
func (c ShareTest) needed(s Share, tight bool) int {
	q0, share := 1-c.P, float64(s.K)/float64(s.N)
	at := func(n int, effect, a float64) (x, ne float64) {
		ne = effectiveSize(float64(n), effect, a)
		return share * ne, ne
	}
	need := maxRequests + 1
	from := max(s.N+1, minForEffect)
	switch {
	case share < q0:
		need = leastTrue(from, func(n int) bool {
			x, ne := at(n, s.EffectPass, c.Alpha)
			return PassP(x, ne, q0) <= c.Alpha
		})
	case share > q0:
		need = leastTrue(from, func(n int) bool {
			x, ne := at(n, s.EffectFail, c.FailAlpha)
			return FailP(x, ne, q0) <= c.FailAlpha
		})
	}
	if tight {
		n := max(c.marginRequests(), s.N)
		if c.Seconds > 0 {
			n = max(n, int(math.Ceil(float64(s.N)*marginSeconds/c.Seconds)))
		}
		need = min(need, n)
	}
	if need > maxRequests {
		return 0
	}
	return need
}
