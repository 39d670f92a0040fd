package perftest

import (
	"fmt"
	"math"

	"github.com/slogate/slogate/internal/stats"
)

// Judge holds r against slos, one verdict each, in their order. It changes
// nothing and sends nothing, so a stored result can be judged again.
//
// An SLO on a percentile is a statement on the share of requests over the
// limit: "p99 < 1 s" asks that at most 1 % of them are not below 1 s. A failed
// request, and a success without the token that the metric is about, is over
// every limit; a success for which the metric has no meaning (TPOT of a
// one-token answer) is left out; a cancelled request is left out, unless it was
// over the limit already. One that was cancelled with the load, and not by the
// user that it plays, may have been over it later: where that would decide, the
// verdict is INVALID. A mean with a failure in it, or with a success that has no
// such token, has no bound and misses every limit.
//
// Figures and evidence are of the same requests: the measured ones, without the
// warm-up, the burst with which a closed loop starts and its padding (see
// [Closed].KeepEnds). Failures of the burst are a warning of the result, and
// [Result].WithStart has the figures with it for a reader; no verdict uses them.
// Rates, and the windows that prove them, are over [Result].Steady where there
// is such a part. One thing differs: Measured is a percentile of the successes, as
// every table shows it, and Over counts failures too, which decide. So an SLO may be
// missed whose figure is below its limit; the reason then says how many failed.
//
// [Verdict].Point compares what was measured with the limit. [Verdict].Outcome
// is what that proves: the requests of one run are not independent, and p99 of
// 200 requests proves nothing. A share is tested by the exact binomial
// distribution at the number of independent requests that the run's are worth
// (Korn and Graubard 1998; the variance of 20 batches in order of intended
// start says how many), or passes when nothing comes near the limit: none over
// two thirds of it, in a run of a minute and of as many requests as a proof
// needs. Fewer than 20 requests prove nothing. A mean or a rate is tested by Student's t over 20 batch means. All
// have to be proven for a PASS of all, so that each is tested by itself; that
// any of them fails is corrected for their number (Holm 1979).
//
// What an open loop measures while the server falls behind it (requests in
// flight and times to first token rise steadily) is proof of no pass: it is
// INCONCLUSIVE.
//
// A run that ended early can prove a miss but no pass: it is then INVALID. One
// in which the client was the bottleneck proves nothing, and every verdict on
// it is INVALID, but for a simulated server, where it is a warning.
//
// Of a repeated scenario the requests of all runs are judged together, and of
// the server's own metrics the last run's.
func (r *Result) Judge(slos ...SLO) []Verdict {
	if r.judgedOnce != nil {
		r.judgedOnce.Store(true)
	}
	if len(r.earlier) > 0 {
		return r.judgeRuns(slos)
	}
	verdicts := make([]Verdict, len(slos))
	family := make([]stats.Evidence, len(slos))
	for i, slo := range slos {
		verdicts[i], family[i] = judged{r.tagged(slo.Tag), len(slos)}.judge(slo)
		family[i].FailP *= familyLevel / slo.level() // for a surer proof than the family's
	}
	for i, d := range stats.Decide(familyLevel/float64(max(1, r.Scenario.Looks)), family...) {
		verdicts[i].settle(d)
	}
	if falls := saturated(r.loadOf()); falls != "" {
		for i := range verdicts {
			if v := &verdicts[i]; v.Outcome == Pass && v.SLO.Metric != ServerMetric {
				v.Outcome, v.Evidence = Inconclusive, falls
			}
		}
	}
	bottleneck := r.bottleneck(slos)
	if r.elsewhere != "" {
		bottleneck = "the requests are not here: the verdict is " + r.elsewhere
	}
	for i := range verdicts {
		v := &verdicts[i]
		if bottleneck != "" {
			v.tellsNothing(bottleneck)
		}
		if r.Partial {
			v.noPass("the run ended early (" + r.endedHow() + "), so it cannot pass")
		}
	}
	bind(verdicts)
	return verdicts
}

// tellsNothing makes a verdict INVALID, whatever it was.
func (v *Verdict) tellsNothing(why string) {
	v.Outcome, v.Point, v.Reason, v.Evidence, v.Binding = Invalid, Invalid, why, why, false
}

// noPass makes a pass INVALID.
func (v *Verdict) noPass(why string) {
	if v.Outcome == Pass {
		v.Outcome, v.Evidence = Invalid, why
	}
	if v.Point == Pass {
		v.Point, v.Reason = Invalid, why
		if v.Outcome == Inconclusive {
			v.Outcome, v.Evidence = Invalid, why
		}
	}
}

// judged is a result that is held against so many objectives together.
type judged struct {
	*Result
	family int
}

// judge compares what was measured with one SLO, and tests what that proves.
func (r judged) judge(slo SLO) (Verdict, stats.Evidence) {
	v := Verdict{SLO: slo, Measured: Absent, MeasuredBound: Absent, ShareLower: Absent, ShareUpper: Absent, DesignEffect: Absent, Effective: Absent}
	if err := slo.check(); err != nil {
		return v.invalid("%v", err), stats.Evidence{}
	}
	if slo.Metric == ServerMetric {
		return r.judgeServer(v)
	}
	v.Confidence = slo.confidence()
	v.Samples = r.Counts.Succeeded + r.Counts.Failed
	v.Failed = r.Counts.Failed
	if v.Samples == 0 {
		return v.invalid("no request was measured"), stats.Evidence{}
	}
	switch slo.Metric {
	case ErrorRate:
		return r.proveShare(v.compare(r.Rates.Errors), func(s *sample) (bool, bool) { return s.failed, true })
	case RequestRate:
		return r.proveRate(v.compare(r.Rates.Requests), func(*sample) float64 { return 1 })
	case OutputRate:
		return r.proveRate(v.compareSum(r.Rates.Output, r.Counts.NoUsage), func(s *sample) float64 { return float64(max(s.output, 0)) })
	case TotalRate:
		return r.proveRate(v.compareSum(r.Rates.Total, r.Counts.NoUsage), func(s *sample) float64 { return float64(max(s.output, 0) + max(s.input, 0)) })
	case Goodput, GoodputRate:
		t := r.good(slo.Limits)
		if slo.Metric == Goodput {
			v.Samples += t.over + t.open
			return r.proveShare(v.compareShare(t), func(s *sample) (bool, bool) { return s.keeping(slo.Limits) })
		}
		v = v.compareAtLeast(r.perWindow(t.good), r.perWindow(t.good+t.unknown), t.unknown)
		takeUnknown := (v.Point == Fail) == slo.lower() // for what decides less
		return r.proveRate(v, func(s *sample) float64 {
			if kept, known := s.keeping(slo.Limits); kept || !known && takeUnknown {
				return 1
			}
			return 0
		})
	}
	return r.judgeDistribution(v)
}

func (v Verdict) invalid(format string, args ...any) Verdict {
	v.Outcome, v.Point, v.Reason = Invalid, Invalid, fmt.Sprintf(format, args...)
	v.Evidence = v.Reason
	return v
}

// perWindow is a number of requests as a rate: of all that were measured, the
// run's attempts a second are such a part.
func (r *Result) perWindow(n int) Value {
	if r.Counts.Succeeded > 0 && (r.parts != nil || len(r.samples.start) > 0 && r.Steady.Window.Known()) {
		return Value(n) / Value(r.Counts.Succeeded) * r.Rates.Requests
	}
	return per(Value(n), r.Window)
}

// compareAtLeast decides by a figure that is low when nothing that is unknown
// counts, and high when all of it does.
func (v Verdict) compareAtLeast(low, high Value, unknown int) Verdict {
	l, h := v.compare(low), v.compare(high)
	if l.Point == h.Point {
		return l
	}
	return l.invalid("%s", untold(unknown, v.Samples))
}

// compareShare decides by the share of good requests, of all that count.
func (v Verdict) compareShare(t goodTally) Verdict {
	share := func(good int) Value { return Value(good) / Value(v.Samples) }
	low, told, high := share(t.good), share(t.good+t.unknown), share(t.good+t.unknown+t.open)
	if v.compare(low).Point == v.compare(told).Point && v.compare(told).Point != v.compare(high).Point {
		return v.compare(low).invalid("%s", mightBeOver(t.open))
	}
	return v.compareAtLeast(low, high, t.unknown)
}

// mightBeOver is the reason of a verdict that turns on requests given up with
// the load.
func mightBeOver(n int) string {
	return fmt.Sprintf("%d requests were cancelled at the end of the load before the limit had passed, and might have been over: set the load's Drain.After to the limit or more", n)
}

// untold is the reason of a verdict that turns on counts the server did not
// give.
func untold(n, of int) string {
	return fmt.Sprintf("for %d of %d it is not known: the server did not say how many tokens there were", n, of)
}

// compareSum decides by a rate that is at least what is measured, where some
// counts are missing from it.
func (v Verdict) compareSum(measured Value, missing int) Verdict {
	lower := v.SLO.Op == AtLeast || v.SLO.Op == Above
	d := v.compare(measured)
	if missing > 0 && d.Point != Invalid && (d.Point == Pass) != lower {
		return d.invalid("%s", untold(missing, v.Samples))
	}
	return d
}

// judgeDistribution judges an SLO on a figure of a distribution.
func (r judged) judgeDistribution(v Verdict) (Verdict, stats.Evidence) {
	t := r.overLimit(v.SLO)
	v.Samples, v.Over, v.Failed, v.Measured = t.n, t.over, t.failed, t.measured
	switch {
	case t.n == 0 && t.unknown > 0:
		return v.invalid("%s", untold(t.unknown, t.unknown)), stats.Evidence{}
	case t.n == 0:
		return v.invalid("no request has a %s", v.SLO.Metric), stats.Evidence{}
	}
	d := v.byStat(t)
	// What is unknown may be on either side of the limit.
	passes := d.Point == Pass && d.Over+t.unknown+t.drained > d.Allowed
	switch {
	case t.unknown > 0 && (passes || v.SLO.Stat == Mean && d.Point == Pass):
		return d.invalid("%s", untold(t.unknown, t.n+t.unknown)), stats.Evidence{}
	case t.drained > 0 && passes:
		return d.invalid("%s", mightBeOver(t.drained)), stats.Evidence{}
	}
	return r.proveDistribution(d, t)
}

// byStat decides by the figure that the SLO is about.
func (v Verdict) byStat(t overTally) Verdict {
	p, percentile := v.SLO.Stat.percentile()
	switch {
	case v.SLO.Stat == Max:
		return v.decide(v.Over == 0, fmt.Sprintf("%d of %d over", v.Over, v.Samples))
	case !percentile && t.failed > 0:
		return v.decide(false, fmt.Sprintf("%d of %d failed, which no mean can bound", t.failed, v.Samples))
	case !percentile && t.lacking > 0:
		return v.decide(false, fmt.Sprintf("%d of %d never had a %s, which no mean can bound", t.lacking, v.Samples, v.SLO.Metric.label()))
	case !percentile:
		return v.compare(v.Measured)
	}
	if v.SLO.Op == AtLeast || v.SLO.Op == Above {
		p = 100 - p // the share that has to be above
	}
	v.Allowed = int(math.Floor(float64(v.Samples)*(1-p/100) + 1e-9))
	reason := fmt.Sprintf("%d of %d over, %d allowed", v.Over, v.Samples, v.Allowed)
	if v.Failed > 0 {
		reason += fmt.Sprintf("; the %d failed requests count as over", v.Failed)
	}
	return v.decide(v.Over <= v.Allowed, reason)
}

// compare decides by one number against the limit.
func (v Verdict) compare(measured Value) Verdict {
	v.Measured = measured
	if !measured.Known() {
		return v.invalid("%s is not known", v.SLO.Metric)
	}
	return v.decide(v.SLO.Op.holds(float64(measured), v.SLO.bound()), v.SLO.label()+" is "+v.SLO.Metric.unit().Format(float64(measured)))
}

func (v Verdict) decide(ok bool, reason string) Verdict {
	v.Point, v.Reason = Fail, reason
	if ok {
		v.Point = Pass
	}
	return v
}
