package perftest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/slogate/slogate/internal/promtext"
	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// enoughScrapes is the share of scrapes that have to be answered for a pass.
const enoughScrapes = 0.9

// judgeServer judges an SLO on the server's own metrics. Its samples are
// scrapes: a percentile is that of the values that were seen, not of all that
// there were between them. What was seen is proven as it is, unless it is too
// little for the percentile.
func (r *Result) judgeServer(v Verdict) (Verdict, stats.Evidence) {
	slo := v.SLO
	invalid := func(format string, args ...any) (Verdict, stats.Evidence) {
		return v.invalid(format, args...), stats.Evidence{}
	}
	if r.server == nil {
		return invalid("the server was not asked: set Scenario.ServerMetrics")
	}
	pattern, err := promtext.ParseSeries(slo.Series)
	if err != nil {
		return invalid("%v", badField("SLO.Series", fmt.Sprintf("%q", slo.Series), `set it to a metric's name, perhaps with labels: vllm:num_requests_waiting{engine="0"}`))
	}
	all := r.server.matching(&pattern)
	if len(all) == 0 {
		var names []string
		for _, s := range r.server.series {
			if !slices.Contains(names, s.Series) {
				names = append(names, s.Series)
			}
		}
		return invalid("%s", report.Escape(fmt.Sprintf("no such series was kept (of another metric, set ServerMetrics.Names); there are %s", strings.Join(names, ", "))))
	}
	values, last := r.server.values(all)
	v.Samples = len(values)
	measured := last
	if slo.Stat != Last {
		if len(values) == 0 {
			return invalid("no scrape fell into the load: set a shorter ServerMetrics.Interval, or a longer load")
		}
		slices.Sort(values)
		measured = serverStat(values, slo.Stat)
	}
	v = v.compare(measured)
	proof := stats.Evidence{Valid: true, Proved: v.Point == Pass, Refuted: v.Point == Fail, FailP: 1}
	if p, ok := slo.Stat.percentile(); ok && !carries(len(values), max(p, 100-p)) {
		proof.Proved, proof.Refuted = false, false
		v.Needed = int(math.Ceil(100/min(p, 100-p) - 1e-9))
	}
	v.Reason = fmt.Sprintf("%s is %.6g over %d scrapes", slo.Stat, float64(measured), len(values))
	if n := len(r.server.scrapes) + r.server.failed; v.Point == Pass && float64(len(r.server.scrapes)) < enoughScrapes*float64(n) {
		return invalid("%d of %d scrapes failed, and between the others it may have been over", r.server.failed, n)
	}
	return v, proof
}

// serverStat is a figure of sorted values.
func serverStat(sorted []float64, stat Stat) Value {
	p, ok := stat.percentile()
	switch {
	case ok:
		return Value(stats.Percentile(sorted, p))
	case stat == Min:
		return Value(sorted[0])
	case stat == Max:
		return Value(sorted[len(sorted)-1])
	}
	return Value(stats.Summarize(sorted).Mean)
}

// checkServer refuses an SLO on the server's metrics that no run could be held
// against.
func (s SLO) checkServer() error {
	p, percentile := s.Stat.percentile()
	switch {
	case s.Series == "":
		return badField("SLO.Series", `""`, "set it to a metric's name, such as vllm:num_requests_waiting")
	case s.Tag != "":
		return badField("SLO.Tag", fmt.Sprintf("%q", s.Tag), "leave it empty: the server's metrics are of all requests")
	case percentile && !(p >= 1 && p < 100), !percentile && s.Stat != Mean && s.Stat != Max && s.Stat != Min && s.Stat != Last:
		return badField("SLO.Stat", fmt.Sprintf("%q", s.Stat), `use "mean", "max", "min", "last" or a percentile from p1 to below p100`)
	}
	return nil
}
