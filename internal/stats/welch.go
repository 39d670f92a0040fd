package stats

import "math"

// Outcome is what a comparison says of a candidate. The zero value claims
// nothing.
type Outcome int

const (
	Unclear   Outcome = iota // neither worse nor as good: more runs would tell
	Unchanged                // proved not to be worse than the margin
	Regressed                // proved to be worse than the tolerance
	Improved                 // proved to be better than the tolerance, the other way round
	NoCompare                // nothing can be compared: no runs, or figures that make no sense
)

func (o Outcome) String() string {
	return [...]string{"INCONCLUSIVE", "OK", "REGRESSED", "IMPROVED", "INVALID"}[o]
}

// Reason names why a comparison stands as it does where figures cannot say it.
type Reason string

const (
	ReasonNone    Reason = ""
	ReasonEmpty   Reason = "no runs"
	ReasonInput   Reason = "bad input"       // a figure that is not positive and finite, or a tolerance above the margin
	ReasonFewRuns Reason = "too few runs"    // Welch needs two on each side
	ReasonHistory Reason = "short history"   // a single candidate needs ten runs
	ReasonShort   Reason = "too few samples" // the bootstrap needs four blocks on each side
)

// Compare is how a candidate is compared with a baseline. Figures are positive:
// times, rates. The unit of evidence is the run, not the request: two runs of
// one build differ by more than their requests tell.
type Compare struct {
	Tolerance      float64 // worse by up to this share is no regression; 0 means 0.05
	Margin         float64 // "not worse" allows this share, at least Tolerance; 0 means 0.10, or Tolerance if that is more
	Alpha          float64 // level; 0 means 0.05
	HigherIsBetter bool    // throughput, goodput
}

// Change is the outcome of a comparison. Ratios are candidate over baseline in
// the figure's own direction; Effect is positive when the candidate is worse.
type Change struct {
	Outcome           Outcome
	Reason            Reason
	Advisory          bool    // one run against one: no evidence on runs
	Baseline, Current int     // runs; samples for the bootstrap
	Ratio             float64 // of geometric means
	Lower, Upper      float64 // one-sided bounds of Ratio, each at level Alpha
	Effect, SE, Nu    float64 // difference of logs (worse is positive), its standard error, degrees of freedom
	RegressedP        float64 // least level at which it is worse than the tolerance
	UnchangedP        float64 // least level at which it is not worse than the margin
	ImprovedP         float64 // least level at which it is better than the tolerance
	Detectable        float64 // least true ratio-1 that such runs find with probability 0.8
}

// minSpread is the floor of a run-to-run deviation of logs: a few runs that
// agree by chance to less than 1 % do not prove that all would.
const minSpread = 0.01

// settings fills in the defaults, and tells whether they make sense.
func (c Compare) settings() (Compare, bool) {
	if c.Tolerance == 0 {
		c.Tolerance = 0.05
	}
	if c.Margin == 0 {
		c.Margin = max(0.10, c.Tolerance)
	}
	if c.Alpha == 0 {
		c.Alpha = defaultAlpha
	}
	return c, c.Tolerance > 0 && c.Margin >= c.Tolerance && !math.IsInf(c.Margin, 0) && level(c.Alpha)
}

// logs gives the logarithms of figures, turned so that more is worse.
func (c Compare) logs(figures []float64) ([]float64, bool) {
	out := make([]float64, len(figures))
	for i, f := range figures {
		if !(f > 0) || math.IsInf(f, 0) {
			return nil, false
		}
		out[i] = math.Log(f)
		if c.HigherIsBetter {
			out[i] = -out[i]
		}
	}
	return out, true
}

// start checks what all comparisons check. ok is false when the change is final.
func (c Compare) start(baseline, candidate []float64) (change Change, settled Compare, b, z []float64, ok bool) {
	nan := math.NaN()
	change = Change{Baseline: len(baseline), Current: len(candidate), Ratio: nan, Lower: nan, Upper: nan,
		Effect: nan, SE: nan, Nu: nan, RegressedP: 1, UnchangedP: 1, ImprovedP: 1, Detectable: nan}
	if len(baseline) == 0 || len(candidate) == 0 {
		change.Outcome, change.Reason = NoCompare, ReasonEmpty
		return change, c, nil, nil, false
	}
	c, sane := c.settings()
	b, okB := c.logs(baseline)
	z, okC := c.logs(candidate)
	if !sane || !okB || !okC {
		change.Outcome, change.Reason = NoCompare, ReasonInput
		return change, c, nil, nil, false
	}
	return change, c, b, z, true
}

// Welch compares the figures of runs, one each, by Welch's test on their logs:
//
//	d = mean(z_c) - mean(z_b);  se² = s_b²/R_b + s_c²/R_c, s at least 0.01
//	nu by Welch and Satterthwaite
//	REGRESSED if d - t_{1-a,nu} se > log(1+tolerance)
//	IMPROVED  if d + t_{1-a,nu} se < -log(1+tolerance)
//	OK        if d + t_{1-a,nu} se <= log(1+margin), else INCONCLUSIVE
//
// REGRESSED goes first. Fewer than two runs on a side are INCONCLUSIVE.
func (c Compare) Welch(baseline, candidate []float64) Change {
	change, c, b, z, ok := c.start(baseline, candidate)
	if !ok {
		return change
	}
	sb, sc := Summarize(b), Summarize(z)
	d := sc.Mean - sb.Mean
	if sb.N < 2 || sc.N < 2 {
		change.Reason, change.Effect, change.Ratio = ReasonFewRuns, d, c.ratio(d)
		return change
	}
	vb := math.Pow(max(sb.StdDev, minSpread), 2) / float64(sb.N)
	vc := math.Pow(max(sc.StdDev, minSpread), 2) / float64(sc.N)
	nu := (vb + vc) * (vb + vc) / (vb*vb/float64(sb.N-1) + vc*vc/float64(sc.N-1))
	return c.decide(change, d, math.Sqrt(vb+vc), nu)
}

// decide applies the rules to an effect with its standard error.
func (c Compare) decide(change Change, d, se, nu float64) Change {
	t := StudentQuantile(1-c.Alpha, nu)
	tolerance, margin := math.Log1p(c.Tolerance), math.Log1p(c.Margin)
	change.Effect, change.SE, change.Nu = d, se, nu
	change.Ratio, change.Lower, change.Upper = c.ratio(d), c.ratio(d-t*se), c.ratio(d+t*se)
	if c.HigherIsBetter {
		change.Lower, change.Upper = change.Upper, change.Lower
	}
	change.RegressedP = tailP(d-tolerance, se, nu)
	change.ImprovedP = tailP(-tolerance-d, se, nu)
	change.UnchangedP = tailP(margin-d, se, nu)
	change.Detectable = math.Expm1((t + StudentQuantile(0.8, nu)) * se)
	change.Outcome = change.at(change.RegressedP < c.Alpha, c.Alpha)
	return change
}

func (c Change) at(regressed bool, alpha float64) Outcome {
	switch {
	case c.Outcome == NoCompare:
		return NoCompare
	case regressed:
		return Regressed
	case c.ImprovedP < alpha:
		return Improved
	case c.UnchangedP <= alpha:
		return Unchanged
	}
	return Unclear
}

func (c Compare) ratio(d float64) float64 {
	if c.HigherIsBetter {
		d = -d
	}
	return math.Exp(d)
}

// DecideChanges judges several figures of the same runs together: REGRESSED by
// [Holm], so that any false one has at most the chance alpha; the rest each at
// alpha.
func DecideChanges(alpha float64, changes ...Change) []Outcome {
	ps := make([]float64, len(changes))
	for i, c := range changes {
		ps[i] = c.RegressedP
		if c.Outcome == NoCompare {
			ps[i] = math.NaN()
		}
	}
	out := make([]Outcome, len(changes))
	for i, regressed := range Holm(ps, alpha) {
		out[i] = changes[i].at(regressed, alpha)
	}
	return out
}
