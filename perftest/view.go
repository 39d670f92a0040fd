package perftest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slogate/slogate/internal/report"
)

// VerdictTable shows verdicts on r: one line when all of them pass, else a
// table with the objective, the limit, what was measured, how far off, and on
// how many samples.
func (r *Result) VerdictTable(verdicts []Verdict) string {
	return report.Verdicts(r.verdictsView(verdicts))
}

// only is the flag of go test that runs r's test alone; empty where its name
// cannot be written in a command.
func (r *Result) only() string {
	if r.Test == "" || strings.ContainsAny(r.Test, " '\"\n") {
		return ""
	}
	parts := strings.Split(r.Test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return " -run '" + strings.Join(parts, "/") + "'"
}

// verdictsView is what a table of verdicts shows.
func (r *Result) verdictsView(verdicts []Verdict) report.VerdictsView {
	v := report.VerdictsView{
		Scenario: r.Name, Simulated: r.Simulated, Partial: r.partialText(),
	}
	v.Requests, v.Failed = r.judged()
	if r.Dir != "" {
		v.Result = filepath.Join(r.Dir, resultFile)
	}
	if only := r.only(); only != "" && !r.stored {
		v.Command = "go test -v " + r.Package + only
	}
	for _, d := range verdicts {
		_, percentile := d.SLO.Stat.percentile()
		w := report.Verdict{
			Outcome: string(d.Decided()), Tag: d.SLO.Tag, Metric: d.SLO.label(), Stat: string(d.SLO.Stat),
			Op: string(d.SLO.Op), Unit: d.SLO.Metric.unit(), Limit: d.SLO.Limit, Measured: float64(d.Measured),
			Samples: d.Samples, Failed: d.Failed, Over: d.Over, Allowed: d.Allowed,
			Counted: (percentile || d.SLO.Stat == Max) && d.SLO.Metric != ServerMetric, Reason: d.Reason, Proof: string(d.Outcome), Evidence: d.Evidence,
			Bound: float64(d.MeasuredBound), Gate: d.Gate, Binding: d.Binding,
		}
		if d.SLO.Metric == ServerMetric {
			w.SampleUnit = "scrapes"
		}
		if d.SLO.Metric == ITL || d.SLO.Metric == ITLPerToken {
			w.SampleUnit = "gaps"
		}
		if d.Point == Fail && d.Failed == 0 {
			w.Reason = "" // the table's columns say the same
		}
		for _, l := range d.SLO.Limits.named() {
			if l.limit != 0 {
				w.Limits = append(w.Limits, report.Limit{Metric: l.metric.label(), Seconds: l.limit.Seconds()})
			}
		}
		v.Verdicts = append(v.Verdicts, w)
	}
	return v
}

// Summary shows r: totals, means, failures by class and the percentile table.
func (r *Result) Summary() string {
	v := report.SummaryView{
		Scenario: r.Name, Model: r.Target.Model, Server: r.Target.URL, Simulated: r.Simulated, Partial: r.partialText(),
		Duration: float64(r.Window), Concurrency: r.Scenario.Load.Concurrency,
		Requests: r.Counts.Sent, Succeeded: r.Counts.Succeeded, Failed: r.Counts.Failed, Cancelled: r.Counts.Cancelled,
		Rates:        report.Rates{Requests: float64(r.Rates.Requests), Output: float64(r.Rates.Output), Total: float64(r.Rates.Total)},
		Accelerators: r.Target.Accelerators,
		Latency:      r.Metrics.Latency.view(), TTFT: r.Metrics.TTFT.view(), TPOT: r.Metrics.TPOT.view(), ITL: r.Metrics.ITL.view(),
		Ends: report.Ends{
			Start: r.Counts.Start, Padding: r.Counts.Padding,
			TTFT: r.WithStart.TTFT.view(), TPOT: r.WithStart.TPOT.view(), Latency: r.WithStart.Latency.view(),
		},
		InputTokens: r.Metrics.InputTokens.view(), OutputTokens: r.Metrics.OutputTokens.view(), Events: r.Metrics.Events.view(),
		InputRate: float64(r.Rates.Input), ItemRate: float64(r.Rates.Items),
		CachedTokens: r.Metrics.CachedTokens.view(), Conversations: r.Counts.Conversations,
		FirstTurnTTFT: r.Metrics.FirstTurnTTFT.view(), LaterTurnTTFT: r.Metrics.LaterTurnTTFT.view(),
		OutputSpeed: r.Metrics.OutputSpeed.view(), TotalSpeed: r.Metrics.TotalSpeed.view(),
		Warnings: slices.Concat(r.Warnings, r.Health.Findings), Health: r.healthLines(),
	}
	if r.Scenario.Load.Rate.Known() {
		v.RequestRate = float64(r.Scenario.Load.Rate)
	}
	if r.Steady.Window.Known() && r.Counts.Start == 0 { // else they are those above
		v.Steady = &report.Rates{Requests: float64(r.Steady.Requests), Output: float64(r.Steady.Output), Total: float64(r.Steady.Total)}
	}
	for _, f := range r.Failures {
		name := f.Class
		if f.Status != 0 {
			name += fmt.Sprintf(" %d", f.Status)
		}
		if f.Phase != "" {
			name += " (" + f.Phase + ")"
		}
		v.Failures = append(v.Failures, report.Failure{Class: name, Count: f.Count, Example: f.Example})
	}
	return report.Summary(v)
}

// view is d for the tables.
func (d Distribution) view() report.Dist {
	v := report.Dist{Samples: d.Count, Mean: float64(d.Mean)}
	for i, p := range report.Percentiles() {
		v.At[i] = float64(d.P(p))
	}
	return v
}

// partialText says why r is not whole; empty when it is.
func (r *Result) partialText() string {
	if !r.Partial {
		if l := r.Scenario.Load; l.ShardCount > 1 && len(r.Shards) == 0 && !r.cut {
			return fmt.Sprintf("shard %d of %d alone", l.ShardIndex, l.ShardCount)
		}
		return ""
	}
	if r.Counts.Planned > 0 {
		return fmt.Sprintf("%s after %d of %d requests", r.endedHow(), r.begun(), r.Counts.Planned)
	}
	return fmt.Sprintf("%s after %d requests", r.endedHow(), r.begun())
}

// endedHow is how r ended, with the shards that were lost.
func (r *Result) endedHow() string {
	var which []string
	for _, s := range r.Shards {
		if s.Lost != "" {
			which = append(which, fmt.Sprint(s.Index))
		}
	}
	switch {
	case r.Ended != endedLost || len(which) == 0:
		return r.Ended
	case len(which) == 1:
		return fmt.Sprintf("lost shard %s of %d", which[0], len(r.Shards))
	}
	return fmt.Sprintf("lost shards %s of %d", strings.Join(which, ", "), len(r.Shards))
}

// unit is what m is counted in.
func (m Metric) unit() report.Unit {
	switch m {
	case ErrorRate, Goodput:
		return report.Share
	case RequestRate, GoodputRate:
		return report.RequestRate
	case OutputRate, TotalRate:
		return report.TokenRate
	case InputTokens, OutputTokens, ServerMetric:
		return report.Tokens
	}
	return report.Seconds
}

// show prints the summary and hands the headline figures to JUnit. On a
// terminal, where go test hides what a passing test says, a digest stands in.
func (r *run) show(t testing.TB, res *Result) {
	t.Helper()
	where := filepath.Join(res.Dir, resultFile)
	if _, err := os.Stat(where); err != nil {
		where = "not written"
	}
	t.Logf("%s\n\nresult: %s", res.Summary(), where)
	if !testing.Verbose() {
		report.ToTerminal(res.digest() + "\nresult: " + where + "\n")
	}
	res.attributes(func(key, value string) { t.Attr("perftest."+key, value) })
}

// digest is the summary in a line.
func (r *Result) digest() string {
	s := r.Name
	if r.Simulated {
		s += " SIMULATED"
	}
	if p := r.partialText(); p != "" {
		s += " PARTIAL: " + p
	}
	m, seconds := r.Metrics, func(v Value) string { return report.Seconds.Format(float64(v)) }
	return report.Escape(fmt.Sprintf("%s: %d requests, %d failed, TTFT mean %s p99 %s, TPOT mean %s, latency mean %s, %s", s, r.Counts.Sent, r.Counts.Failed,
		seconds(m.TTFT.Mean), seconds(m.TTFT.P(99)), seconds(m.TPOT.Mean), seconds(m.Latency.Mean), report.TokenRate.Format(float64(r.Rates.Output))))
}

// attributes are the headline figures: seconds, tokens and rates a second as
// plain numbers under names that end in the unit.
func (r *Result) attributes(attr func(key, value string)) {
	attr("result", filepath.Join(r.Dir, resultFile))
	attr("simulated", fmt.Sprint(r.Simulated))
	attr("requests", fmt.Sprint(r.Counts.Sent))
	attr("failed", fmt.Sprint(r.Counts.Failed))
	if r.Partial {
		attr("partial", r.endedHow())
	}
	for _, f := range []struct {
		key   string
		value Value
	}{
		{"ttft_mean_s", r.Metrics.TTFT.Mean}, {"ttft_p99_s", r.Metrics.TTFT.P(99)},
		{"tpot_mean_s", r.Metrics.TPOT.Mean}, {"tpot_p99_s", r.Metrics.TPOT.P(99)},
		{"latency_mean_s", r.Metrics.Latency.Mean}, {"latency_p99_s", r.Metrics.Latency.P(99)},
		{"output_tokens_per_s", r.Rates.Output}, {"requests_per_s", r.Rates.Requests}, {"error_rate", r.Rates.Errors},
	} {
		if f.value.Known() {
			attr(f.key, fmt.Sprintf("%.6g", float64(f.value)))
		}
	}
}
