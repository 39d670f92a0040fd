package perftest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Judge holds r against slos, one verdict each, in their order. It changes
// nothing and sends nothing, so a stored result can be judged again.
//
// An SLO on a percentile is a statement on the share of requests over the
// limit: "p99 < 1 s" passes when at most 1 % of them are not below 1 s. A
// failed request, and a success without the token that the metric is about, is
// over every limit; a success for which the metric has no meaning (TPOT of a
// one-token answer) is left out; a cancelled request is left out. A mean with
// a failure in it has no bound and misses every limit.
//
// A run that ended early can prove a miss but no pass: it is then INVALID. One
// in which the client was the bottleneck proves nothing, and every verdict on
// it is INVALID, but for a simulated server, where it is a warning.
func (r *Result) Judge(slos ...SLO) []Verdict {
	verdicts := make([]Verdict, len(slos))
	bottleneck := r.bottleneck(slos)
	for i, slo := range slos {
		v := r.tagged(slo.Tag).judge(slo)
		if bottleneck != "" {
			v.Outcome, v.Reason = Invalid, bottleneck
		}
		if r.Partial && v.Outcome == Pass {
			v.Outcome = Invalid
			v.Reason = "the run ended early (" + r.Ended + "), so it cannot pass"
		}
		verdicts[i] = v
	}
	return verdicts
}

func (r *Result) judge(slo SLO) Verdict {
	v := Verdict{SLO: slo, Measured: Absent}
	invalid := func(format string, args ...any) Verdict {
		v.Outcome, v.Reason = Invalid, fmt.Sprintf(format, args...)
		return v
	}
	if err := slo.check(); err != nil {
		return invalid("%v", err)
	}
	if slo.Metric == ServerMetric {
		return r.judgeServer(slo)
	}
	v.Samples = r.Counts.Succeeded + r.Counts.Failed
	v.Failed = r.Counts.Failed
	if v.Samples == 0 {
		return invalid("no request was measured")
	}
	switch slo.Metric {
	case ErrorRate:
		return v.compare(r.Rates.Errors)
	case RequestRate:
		return v.compare(r.Rates.Requests)
	case OutputRate:
		return v.compareSum(r.Rates.Output, r.Counts.NoUsage)
	case TotalRate:
		return v.compareSum(r.Rates.Total, r.Counts.NoUsage)
	case Goodput:
		good, unknown := r.good(slo.Limits)
		return v.compareAtLeast(Value(good)/Value(v.Samples), Value(good+unknown)/Value(v.Samples), unknown)
	case GoodputRate:
		good, unknown := r.good(slo.Limits)
		return v.compareAtLeast(per(Value(good), r.Window), per(Value(good+unknown), r.Window), unknown)
	}
	return r.judgeDistribution(v)
}

// compareAtLeast decides by a figure that is low when nothing that is unknown
// counts, and high when all of it does.
func (v Verdict) compareAtLeast(low, high Value, unknown int) Verdict {
	l, h := v.compare(low), v.compare(high)
	if l.Outcome == h.Outcome {
		return l
	}
	l.Outcome, l.Reason = Invalid, untold(unknown, v.Samples)
	return l
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
	if missing > 0 && d.Outcome != Invalid && (d.Outcome == Pass) != lower {
		d.Outcome, d.Reason = Invalid, untold(missing, v.Samples)
	}
	return d
}

// judgeDistribution judges an SLO on a figure of a distribution.
func (r *Result) judgeDistribution(v Verdict) Verdict {
	t := r.overLimit(v.SLO)
	v.Samples, v.Over, v.Failed, v.Measured = t.n, t.over, t.failed, t.measured
	switch {
	case t.n == 0 && t.unknown > 0:
		v.Outcome, v.Reason = Invalid, untold(t.unknown, t.unknown)
		return v
	case t.n == 0:
		v.Outcome, v.Reason = Invalid, fmt.Sprintf("no request has a %s", v.SLO.Metric)
		return v
	}
	d := v.byStat(t)
	// What is unknown may be on either side of the limit.
	if t.unknown > 0 && (d.Outcome == Pass && d.Over+t.unknown > d.Allowed || v.SLO.Stat == Mean && t.failed == 0) {
		d.Outcome, d.Reason = Invalid, untold(t.unknown, t.n+t.unknown)
	}
	return d
}

// byStat decides by the figure that the SLO is about.
func (v Verdict) byStat(t overTally) Verdict {
	p, percentile := v.SLO.Stat.percentile()
	switch {
	case v.SLO.Stat == Max:
		return v.decide(v.Over == 0, fmt.Sprintf("%d of %d over", v.Over, v.Samples))
	case !percentile && t.failed > 0:
		return v.decide(false, fmt.Sprintf("%d of %d failed, which no mean can bound", t.failed, v.Samples))
	case !percentile:
		return v.compare(v.Measured)
	}
	if v.SLO.Op == AtLeast || v.SLO.Op == Above {
		p = 100 - p // the share that has to be above
	}
	v.Allowed = int(math.Floor(float64(v.Samples)*(1-p/100) + 1e-9))
	v.Weak = v.Allowed == 0
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
		v.Outcome, v.Reason = Invalid, fmt.Sprintf("%s is not known", v.SLO.Metric)
		return v
	}
	return v.decide(v.SLO.Op.holds(float64(measured), v.SLO.bound()), fmt.Sprintf("%s is %.6g", v.SLO.Metric, float64(measured)))
}

func (v Verdict) decide(ok bool, reason string) Verdict {
	v.Outcome, v.Reason = Fail, reason
	if ok {
		v.Outcome = Pass
	}
	return v
}

// holds reports whether x keeps the limit. NaN keeps none.
func (op Op) holds(x, limit float64) bool {
	switch op {
	case Below:
		return x < limit
	case AtMost:
		return x <= limit
	case AtLeast:
		return x >= limit
	case Above:
		return x > limit
	}
	return false
}

// percentile is the number of a percentile stat.
func (s Stat) percentile() (float64, bool) {
	digits, ok := strings.CutPrefix(string(s), "p")
	if !ok {
		return 0, false
	}
	p, err := strconv.ParseFloat(digits, 64)
	return p, err == nil
}

// check refuses an SLO that no run could be held against.
func (s SLO) check() error {
	oneNumber := false
	switch s.Metric {
	case ErrorRate, RequestRate, OutputRate, TotalRate, Goodput, GoodputRate:
		oneNumber = true
	case TTFT, TTFA, TTST, TPOT, ITL, ITLPerToken, Latency, Response, InputTokens, OutputTokens:
	case ServerMetric:
		if err := s.checkServer(); err != nil {
			return err
		}
	default:
		return badField("SLO.Metric", fmt.Sprintf("%q", s.Metric), "use one of the Metric constants")
	}
	p, percentile := s.Stat.percentile()
	switch {
	case s.Metric == ServerMetric:
	case s.Series != "":
		return badField("SLO.Series", fmt.Sprintf("%q", s.Series), "leave it empty: it is for ServerMetric")
	case oneNumber && s.Stat != "":
		return badField("SLO.Stat", fmt.Sprintf("%q", s.Stat), fmt.Sprintf("leave it empty: %s is one number", s.Metric))
	case oneNumber:
	case percentile && !(p >= 1 && p < 100):
		return badField("SLO.Stat", fmt.Sprintf("%q", s.Stat), "use a percentile from 1 to below 100 (p99, not p0.99), or Max")
	case !percentile && s.Stat != Mean && s.Stat != Max:
		return badField("SLO.Stat", fmt.Sprintf("%q", s.Stat), `use "mean", "max" or a percentile such as "p99"`)
	}
	switch {
	case s.Op != Below && s.Op != AtMost && s.Op != AtLeast && s.Op != Above:
		return badField("SLO.Op", fmt.Sprintf("%q", s.Op), "use one of the Op constants")
	case s.Stat == Max && s.Metric != ServerMetric && (s.Op == AtLeast || s.Op == Above):
		return badField("SLO.Op", fmt.Sprintf("%q", s.Op), "use Below or AtMost with Max: a lower limit is for the mean or a percentile")
	case math.IsNaN(s.Limit) || math.IsInf(s.Limit, 0) || s.Limit < 0:
		return badField("SLO.Limit", s.Limit, "set a finite limit of 0 or more")
	case s.isShare() && (s.Limit > 1 || !s.canDecide()):
		return badField("SLO.Limit", s.Limit, fmt.Sprintf("shares run from 0 to 1 (1%% is 0.01): %s %s %g would hold, or miss, whatever was measured", s.Metric, s.Op, s.Limit))
	case s.Limit == 0 && s.isDuration():
		return badField("SLO.Limit", s.Limit, "set a duration above 0")
	case s.Limits.negative():
		return badField("SLO.Limits", s.Limits, "set limits of 0 (none) or more")
	case (s.Metric == Goodput || s.Metric == GoodputRate) && s.Limits == (Limits{}):
		return badField("SLO.Limits", "empty", "set at least one limit of a good request")
	}
	return nil
}

// bound is the limit as it is compared: a duration to the nanosecond, in the
// form in which measured ones come, so that what lies on the limit does.
func (s SLO) bound() float64 {
	if s.isDuration() {
		return math.Round(s.Limit*1e9) / 1e9
	}
	return s.Limit
}

func (s SLO) isShare() bool { return s.Metric == ErrorRate || s.Metric == Goodput }

// canDecide reports whether a share from 0 to 1 can be on either side of the
// limit.
func (s SLO) canDecide() bool {
	return s.Op.holds(0, s.Limit) != s.Op.holds(1, s.Limit)
}

func (s SLO) isDuration() bool {
	switch s.Metric {
	case TTFT, TTFA, TTST, TPOT, ITL, ITLPerToken, Latency, Response:
		return true
	}
	return false
}
