package perftest

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// VerdictTable shows verdicts on r: one line when all of them pass, else a
// table with the objective, the limit, what was measured, how far off, and on
// how many samples.
func (r *Result) VerdictTable(verdicts []Verdict) string {
	v := report.VerdictsView{
		Scenario: r.Name, Simulated: r.Simulated, Partial: r.partialText(),
		Requests: r.Counts.Succeeded + r.Counts.Failed, Failed: r.Counts.Failed,
	}
	if r.Dir != "" {
		v.Result = shortPath(filepath.Join(r.Dir, resultFile))
	}
	if name := r.Name; name != "" && !strings.ContainsAny(name, " '\"\n") {
		v.Command = strings.TrimSuffix("go test -v "+r.Package, " ") + " -run '^" + strings.ReplaceAll(name, "/", "$/^") + "$'"
	}
	for _, d := range verdicts {
		_, percentile := d.SLO.Stat.percentile()
		w := report.Verdict{
			Outcome: string(d.Outcome), Metric: d.SLO.Metric.label(), Stat: string(d.SLO.Stat),
			Op: string(d.SLO.Op), Unit: d.SLO.Metric.unit(), Limit: d.SLO.Limit, Measured: float64(d.Measured),
			Samples: d.Samples, Failed: d.Failed, Over: d.Over, Allowed: d.Allowed,
			Counted: percentile || d.SLO.Stat == Max, Reason: d.Reason,
		}
		if d.SLO.Metric == ITL || d.SLO.Metric == ITLPerToken {
			w.SampleUnit = "gaps"
		}
		if w.Counted && d.Outcome == Fail {
			w.Reason = "" // the table's columns say the same
		}
		for _, l := range d.SLO.Limits.named() {
			if l.limit != 0 {
				w.Limits = append(w.Limits, report.Limit{Metric: l.metric.label(), Seconds: l.limit.Seconds()})
			}
		}
		v.Verdicts = append(v.Verdicts, w)
	}
	return report.Verdicts(v)
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
		InputTokens: r.Metrics.InputTokens.view(), OutputTokens: r.Metrics.OutputTokens.view(), Events: r.Metrics.Events.view(),
		OutputSpeed: r.Metrics.OutputSpeed.view(), TotalSpeed: r.Metrics.TotalSpeed.view(),
		Warnings: r.Warnings,
	}
	if r.Scenario.Load.Rate.Known() {
		v.RequestRate = float64(r.Scenario.Load.Rate)
	}
	if r.Steady.Window.Known() {
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
		return ""
	}
	if r.Counts.Planned > 0 {
		return fmt.Sprintf("%s after %d of %d requests", r.Ended, r.Counts.Sent, r.Counts.Planned)
	}
	return fmt.Sprintf("%s after %d requests", r.Ended, r.Counts.Sent)
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
	case InputTokens, OutputTokens:
		return report.Tokens
	}
	return report.Seconds
}

// shortPath is path below the working folder where it lies there.
func shortPath(path string) string {
	wd, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && !strings.HasPrefix(rel, "..") {
		return rel
	}
	return path
}

// show prints the summary and hands the headline figures to JUnit.
func (r *run) show(t testing.TB, res *Result) {
	t.Helper()
	text := res.Summary()
	where := filepath.Join(res.Dir, resultFile)
	t.Logf("%s\n\nresult: %s", text, shortPath(where))
	if !testing.Verbose() {
		report.ToTerminal(text + "\n\nresult: " + where + "\n\n")
	}
	attr := func(key string, v Value, format func(Value) string) {
		if v.Known() {
			t.Attr("perftest."+key, format(v))
		}
	}
	asSeconds := func(v Value) string { return time.Duration(float64(v) * 1e9).Round(time.Microsecond).String() }
	asNumber := func(v Value) string { return fmt.Sprintf("%.6g", float64(v)) }
	t.Attr("perftest.result", where)
	t.Attr("perftest.simulated", fmt.Sprint(res.Simulated))
	t.Attr("perftest.requests", fmt.Sprint(res.Counts.Sent))
	t.Attr("perftest.failed", fmt.Sprint(res.Counts.Failed))
	if res.Partial {
		t.Attr("perftest.partial", res.Ended)
	}
	attr("ttft_mean", res.Metrics.TTFT.Mean, asSeconds)
	attr("ttft_p99", res.Metrics.TTFT.P(99), asSeconds)
	attr("tpot_mean", res.Metrics.TPOT.Mean, asSeconds)
	attr("tpot_p99", res.Metrics.TPOT.P(99), asSeconds)
	attr("latency_mean", res.Metrics.Latency.Mean, asSeconds)
	attr("latency_p99", res.Metrics.Latency.P(99), asSeconds)
	attr("output_tokens_per_s", res.Rates.Output, asNumber)
	attr("requests_per_s", res.Rates.Requests, asNumber)
	attr("error_rate", res.Rates.Errors, asNumber)
}
