package perftest

import (
	"fmt"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/stats"
)

// familyLevel is the chance of any false FAIL among the SLOs of one judgement.
const familyLevel = 0.05

// confidence is how sure a proof of s has to be.
func (s SLO) confidence() float64 {
	if s.Confidence != 0 {
		return s.Confidence
	}
	if p, ok := s.Stat.percentile(); ok && max(p, 100-p) >= 99.9 {
		return 0.99
	}
	return 1 - familyLevel
}

// short is the figure that s is about, in a word.
func (s SLO) short() string {
	if s.Stat != "" {
		return string(s.Stat)
	}
	return s.Metric.label()
}

// level is the chance of a false proof.
func (s SLO) level() float64 { return 1 - s.confidence() }

// lower reports whether s asks for a figure that is not too low.
func (s SLO) lower() bool { return s.Op == AtLeast || s.Op == Above }

// kept is the share of requests that have to keep s's limit, of an SLO that is
// one on a share; false for means and rates.
func (s SLO) kept() (p float64, ok bool) {
	percentile, is := s.Stat.percentile()
	switch {
	case is && s.lower():
		return 1 - percentile/100, true
	case is:
		return percentile / 100, true
	case s.Stat == Max:
		return 1, true
	case s.isShare() && s.lower():
		return s.Limit, true
	case s.isShare():
		return 1 - s.Limit, true
	}
	return 0, false
}

// test is the test of a share that s asks for, on this run.
func (r judged) test(s SLO) stats.ShareTest {
	p, _ := s.kept()
	t := stats.ShareTest{P: p, Alpha: r.proofLevel(s), FailAlpha: r.refuteLevel(s)}
	if r.Window.Known() {
		t.Seconds = float64(r.Window)
	}
	if r.Ended == endedMustFail {
		t.Planned = r.Counts.Planned
	}
	return t
}

// proofLevel is the chance of a false proof of s, in each look at the evidence.
func (r judged) proofLevel(s SLO) float64 { return s.level() / float64(max(1, r.Scenario.Looks)) }

// refuteLevel is the level at which s is refuted alone of its family: Holm's
// first step.
func (r judged) refuteLevel(s SLO) float64 { return r.proofLevel(s) / float64(max(1, r.family)) }

// settle gives v its outcome, where there was a test.
func (v *Verdict) settle(d stats.Decision) {
	if v.Point == Invalid {
		return
	}
	switch d {
	case stats.Pass:
		v.Outcome = Pass
	case stats.Fail:
		v.Outcome = Fail
	default:
		v.Outcome = Inconclusive
	}
	if v.Outcome != Inconclusive && v.Outcome != v.Point {
		v.Outcome = Inconclusive // the figure is the other way: the runs of one scenario differ so much
	}
	if v.Outcome != Inconclusive {
		v.Needed = 0
	}
	if v.Evidence == "" {
		v.Evidence = v.explain()
	}
}

// explain says in a line why the outcome is what it is.
func (v *Verdict) explain() string {
	sure := fmt.Sprintf("%g%%", math.Round(v.Confidence*1e6)/1e4)
	share := func(x Value) string { return fmt.Sprintf("%.3g%%", 100*float64(x)) }
	figure := func(x Value) string { return v.SLO.Metric.unit().Format(float64(x)) }
	needs := ""
	if v.Needed > 0 {
		needs = fmt.Sprintf(", %s at %s needs %d", v.SLO.short(), sure, v.Needed)
	}
	over := fmt.Sprintf("%d of %d over", v.Over, v.Samples)
	switch v.SLO.Metric {
	case ErrorRate:
		over = fmt.Sprintf("%d of %d failed", v.Failed, v.Samples)
	case Goodput:
		over = fmt.Sprintf("%d of %d not good", v.Over, v.Samples)
	}
	switch kept, _ := v.SLO.kept(); {
	case v.ShareUpper.Known() && v.Outcome == Pass && kept < 1 && float64(v.ShareUpper) > 1-kept+1e-9: // by the margin rule
		return over + ", and none comes near the limit in a minute or more"
	case v.ShareUpper.Known() && v.Outcome == Pass:
		return fmt.Sprintf("%s, with %s at most %s", over, sure, share(v.ShareUpper))
	case v.ShareLower.Known() && v.Outcome == Fail:
		return fmt.Sprintf("%s, with %s at least %s", over, sure, share(v.ShareLower))
	case v.ShareUpper.Known():
		return over + needs
	case v.MeasuredBound.Known() && v.Outcome == Inconclusive:
		return fmt.Sprintf("with %s only to %s%s", sure, figure(v.MeasuredBound), needs)
	case v.MeasuredBound.Known():
		return fmt.Sprintf("with %s to %s", sure, figure(v.MeasuredBound))
	case v.Outcome == Inconclusive:
		return fmt.Sprintf("%d samples are too few%s", v.Samples, needs)
	}
	return v.Reason
}

// proveDistribution tests an SLO on a percentile, the maximum or the mean.
func (r judged) proveDistribution(v Verdict, t overTally) (Verdict, stats.Evidence) {
	values, pessimist, margin := t.values, t.pessimist, true
	if v.SLO.Metric == ITL || v.SLO.Metric == ITLPerToken {
		// The tokens of one answer move together: a minute without any gap near
		// the limit proves less than that many independent ones.
		margin = false
		values, pessimist = r.gapsInOrder(v.SLO.Metric)
		switch n := r.Counts.Succeeded + r.Counts.Failed; {
		case n < minRequestsOfGaps:
			v.Evidence = fmt.Sprintf("the gaps of %d requests are too few: those of one move together, and %d requests are needed", n, minRequestsOfGaps)
		case len(values) == 0:
			v.Evidence = "the gaps cannot be read from " + requestsFile
		}
		if v.Evidence != "" {
			return v, stats.Evidence{Valid: true, FailP: 1}
		}
	}
	if _, ok := v.SLO.kept(); !ok {
		return r.proveMean(v, values, t.failed+t.lacking == 0)
	}
	d, flagged := r.proveValues(v, values, margin)
	if len(pessimist) > len(values) {
		// What is not known may be over: only what holds in both cases does.
		worst, other := r.proveValues(v, pessimist, margin)
		flagged.Proved, flagged.Refuted = flagged.Proved && other.Proved, flagged.Refuted && other.Refuted
		flagged.FailP = max(flagged.FailP, other.FailP)
		d.ShareUpper, d.MeasuredBound = worst.ShareUpper, worst.MeasuredBound
	}
	return d, flagged
}

// proveValues tests the share of values over v's limit.
func (r judged) proveValues(v Verdict, values []float64, margin bool) (Verdict, stats.Evidence) {
	test := r.test(v.SLO)
	flags := violations(v.SLO, values, test.P)
	if !margin {
		flags.OverTight = -1
	}
	share := test.Run(flags)
	v.share(share)
	sorted, sign := slices.Clone(values), 1.0
	if v.SLO.lower() {
		sorted, sign = upsideDown(values), -1
	}
	slices.Sort(sorted)
	if i := len(sorted) - 1 - mostOver(share, test); i < len(sorted) && i >= 0 && !math.IsInf(sorted[i], 1) {
		v.MeasuredBound = Value(sign * sorted[i])
	}
	return v, share.Evidence
}

// violations flags the values that miss slo's limit; p is the share that has to
// keep it.
func violations(slo SLO, values []float64, p float64) stats.Violations {
	orEqual := slo.Op == Below || slo.Op == Above
	if !slo.lower() {
		v := stats.FlagViolations(values, slo.bound(), p, orEqual)
		v.NoLimit = false // slo was checked: at most 0 tokens is a limit
		return v
	}
	v := stats.FlagViolations(upsideDown(values), -slo.bound(), p, orEqual)
	v.NoLimit = false
	v.OverTight = 0 // which was counted at the wrong side of the limit
	for _, y := range values {
		if y < slo.bound()*marginRatio || math.IsInf(y, 1) {
			v.OverTight++
		}
	}
	return v
}

// marginRatio is the margin rule's of package stats, for lower limits.
const marginRatio = 1.5

// upsideDown makes of values for a lower limit such for an upper one; what is
// over every limit stays so.
func upsideDown(values []float64) []float64 {
	ys := make([]float64, len(values))
	for i, y := range values {
		if ys[i] = -y; math.IsInf(y, 1) {
			ys[i] = y
		}
	}
	return ys
}

// mostOver is how many requests may be over a limit that the run still proves;
// -1 for none. The value with so many above it is the percentile's bound.
func mostOver(s stats.Share, t stats.ShareTest) int {
	if t.P == 1 {
		return 0
	}
	scale := s.SizePass / float64(s.N)
	proves := func(k int) bool { return stats.PassP(float64(k)*scale, s.SizePass, 1-t.P) <= t.Alpha }
	if !proves(0) {
		return -1
	}
	low, high := 0, s.N // proves(low), not high
	for high-low > 1 {
		if mid := (low + high) / 2; proves(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// share takes over what a test of a share says.
func (v *Verdict) share(s stats.Share) {
	v.ShareLower, v.ShareUpper = Value(s.Lower), Value(s.Upper)
	v.DesignEffect, v.Effective, v.Needed = Value(s.EffectPass), Value(s.SizePass), s.Needed
}

// proveShare tests an SLO on a share of all requests; is says whether one is of
// the sort that the share is of, and whether that is known.
func (r judged) proveShare(v Verdict, is func(*sample) (yes, known bool)) (Verdict, stats.Evidence) {
	if v.Point == Invalid {
		return v, stats.Evidence{}
	}
	// The unknown are taken for what decides less.
	flags, over := r.against(v.SLO, is, (v.Point == Fail) == v.SLO.lower())
	v.Over = over
	p, _ := v.SLO.kept()
	v.Allowed = int(math.Floor(float64(len(flags))*(1-p) + 1e-9))
	share := r.test(v.SLO).Run(stats.CountViolations(flags))
	v.share(share)
	return v, share.Evidence
}
