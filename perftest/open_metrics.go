package perftest

import (
	"github.com/slogate/slogate/internal/report"
)

// testLabels tell the samples of r's test from those of others.
func (r *Result) testLabels() []string { return []string{"package", r.Package, "test", r.Test} }

// ownLabels tell the samples of r from those of other runs.
func (r *Result) ownLabels() []string {
	pairs := r.testLabels()
	if r.Name != r.Test {
		pairs = append(pairs, "scenario", r.Name)
	}
	return pairs
}

// openMetrics are the headline figures and the verdicts of r. A percentile that
// the sample does not carry is left out.
func (r *Result) openMetrics() (all []report.Metric) {
	own := r.ownLabels()
	add := func(name, unit, help string, v Value, more ...string) {
		labels := report.Labels(append(append([]string{}, own...), more...)...)
		all = append(all, report.Metric{Name: name, Unit: unit, Help: help, Labels: labels, Value: float64(v)})
	}
	for _, d := range []struct {
		name, help string
		of         Distribution
	}{
		{"ttft", "Time from sending to the first token", r.Metrics.TTFT},
		{"tpot", "Time per output token after the first", r.Metrics.TPOT},
		{"itl", "Gap between token events", r.Metrics.ITL},
		{"latency", "Time from sending to the end of the answer", r.Metrics.Latency},
	} {
		add("slogate_"+d.name+"_mean_seconds", "seconds", d.help+", its mean.", d.of.Mean)
		for _, p := range []float64{50, 90, 99} {
			if carries(d.of.Count, p) {
				add("slogate_"+d.name+"_seconds", "seconds", d.help+".", d.of.P(p), "percentile", percentileName(p))
			}
		}
	}
	add("slogate_output_tokens_per_second", "tokens_per_second", "Output tokens of successes.", r.Rates.Output)
	add("slogate_requests_per_second", "requests_per_second", "Successes.", r.Rates.Requests)
	add("slogate_error_ratio", "ratio", "Failed requests over all.", r.Rates.Errors)
	for _, v := range r.Verdicts {
		add("slo_verdict", "", "1 for PASS, 0 for FAIL, 0.5 for INCONCLUSIVE, -1 for INVALID.", verdictValue(v.Decided()), "slo", v.SLO.String())
	}
	return all
}

func verdictValue(o Outcome) Value {
	switch o {
	case Pass:
		return 1
	case Fail:
		return 0
	case Inconclusive:
		return 0.5
	}
	return -1
}
