package perftest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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
	case s.Confidence != 0 && !(s.Confidence > 0.5 && s.Confidence < 1):
		return badField("SLO.Confidence", s.Confidence, "set it above 0.5 and below 1, for example to 0.95, or leave it at 0")
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
