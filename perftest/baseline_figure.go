package perftest

import (
	"fmt"
	"math"

	"github.com/slogate/slogate/internal/stats"
)

// tested is one figure in a comparison.
type tested struct {
	figure              *compared
	gates               bool
	baseline, candidate []float64
	change              stats.Change
	permutation         float64 // exact level at which the candidate is worse; NaN where it is not asked
	out                 Change
}

// method is how figures are compared.
func (t *tested) method(b Baseline) stats.Compare {
	return stats.Compare{Tolerance: b.tolerance(), Margin: b.margin(), Alpha: b.alpha(), HigherIsBetter: t.figure.higherIsBetter()}
}

// enoughHistory is the number of runs that predict a single one.
const enoughHistory = 10

// compare applies the test that the numbers of runs allow.
func (t *tested) compare(b Baseline, baseline, candidate []RunFigures) {
	t.permutation = math.NaN()
	by := t.method(b)
	switch {
	case len(t.baseline) < len(baseline) || len(t.candidate) < len(candidate): // absent from some of the runs
		t.change = by.Welch(nil, nil)
	case len(candidate) > 1 && len(baseline) > 1:
		t.change = by.Welch(t.baseline, t.candidate)
		t.permutation = stats.PermutationP(t.worse(t.baseline), t.worse(t.candidate))
	case len(candidate) == 1 && len(baseline) >= enoughHistory:
		t.change = by.Predict(t.baseline, t.candidate[0])
	default:
		t.change = by.Advise(t.baseline, t.candidate, baseline[0].spread(t.figure.name), candidate[0].spread(t.figure.name))
	}
}

// spread is the standard error of a figure's logarithm within the run; NaN
// where it is not known.
func (f *RunFigures) spread(name string) float64 {
	if se, ok := f.Spread[name]; ok {
		return float64(se)
	}
	return math.NaN()
}

// worse are logarithms of figures, turned so that more is worse.
func (t *tested) worse(figures []float64) []float64 {
	logs := make([]float64, len(figures))
	for i, f := range figures {
		logs[i] = math.Log(f)
		if t.figure.higherIsBetter() {
			logs[i] = -logs[i]
		}
	}
	return logs
}

// settle writes down what is said of the figure.
func (t *tested) settle(b Baseline, o stats.Outcome) {
	c := t.change
	t.out = Change{
		Metric: t.figure.metric, Stat: t.figure.stat, Gates: t.gates,
		Baseline: geometricMean(t.baseline), Candidate: geometricMean(t.candidate),
		Ratio: Value(c.Ratio), Lower: Value(c.Lower), Upper: Value(c.Upper), Detectable: Value(c.Detectable),
		P: Value(c.RegressedP), Permutation: Value(t.permutation),
	}
	switch o {
	case stats.Regressed:
		t.out.Outcome = Regressed
		if t.permutation > b.alpha() {
			t.out.Outcome = Inconclusive
			t.out.Reason = fmt.Sprintf("too few runs: an exact permutation of %d + %d gives p = %.2g, and at best %.2g",
				len(t.baseline), len(t.candidate), t.permutation, stats.PermutationMinP(len(t.baseline), len(t.candidate)))
		}
	case stats.Improved:
		t.out.Outcome = Improved
	case stats.Unchanged:
		t.out.Outcome = Unchanged
	case stats.NoCompare:
		t.out.Outcome, t.out.Reason = Invalid, t.untold()
	default:
		t.out.Outcome = Inconclusive
		if c.Reason == stats.ReasonShort {
			t.out.Reason = "a run is too short to tell its spread: it has to be four times 50 requests and 5 s"
		}
	}
}

// untold says why a figure cannot be compared.
func (t *tested) untold() string {
	for _, side := range []struct {
		name   string
		values []float64
	}{{"baseline", t.baseline}, {"candidate", t.candidate}} {
		for _, v := range side.values {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Sprintf("a run of the %s has %v, which has no ratio to others", side.name, v)
			}
		}
	}
	return fmt.Sprintf("it is known of %d runs of the baseline and %d of the candidate, and not of the others", len(t.baseline), len(t.candidate))
}

// geometricMean is absent when there is none.
func geometricMean(values []float64) Value {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	if mean := math.Exp(sum / float64(len(values))); !math.IsInf(mean, 0) {
		return Value(mean)
	}
	return Absent
}

// mostPairs bounds the runs that it makes sense to add.
const mostPairs = 10

// moreRuns is how many more runs on each side would decide the figure, if its
// ratio and its spread stayed as they are; false when ten would not.
func (t *tested) moreRuns(b Baseline) (int, bool) {
	sb, sc := runSpread(t.worse(t.baseline)), runSpread(t.worse(t.candidate))
	if len(t.baseline) < 2 {
		sb = sc
	}
	if len(t.candidate) < 2 {
		sc = sb
	}
	d, tolerance, margin := t.change.Effect, math.Log1p(b.tolerance()), math.Log1p(b.margin())
	for more := 1; more <= mostPairs; more++ {
		nb, nc := len(t.baseline)+more, len(t.candidate)+more
		vb, vc := sb*sb/float64(nb), sc*sc/float64(nc)
		nu := (vb + vc) * (vb + vc) / (vb*vb/float64(nb-1) + vc*vc/float64(nc-1))
		half := stats.StudentQuantile(1-b.alpha(), nu) * math.Sqrt(vb+vc)
		if d+half <= margin || d-half > tolerance && stats.PermutationMinP(nb, nc) <= b.alpha() {
			return more, true
		}
	}
	return 0, false
}

// runSpread is the deviation of logarithms over runs, at least 0.01; 0.03 of a
// single one.
func runSpread(logs []float64) float64 {
	if len(logs) < 2 {
		return 0.03
	}
	return max(0.01, stats.Summarize(logs).StdDev)
}
