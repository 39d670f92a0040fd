package perftest

import (
	"slices"
	"strconv"

	"github.com/slogate/slogate/internal/report"
)

// BenchmarkLines are results in the Go benchmark format, for benchstat and what
// else reads it: a line a run (of a repeated scenario, one for each of its runs),
// with the direction of each unit. Simulated and partial runs are told from the
// others, which benchstat then compares apart. Times are in nanoseconds, as those
// of go test are. benchstat compares several runs of each side: Scenario.Repeat,
// or files that have grown over runs (PERFTEST_BENCH).
func BenchmarkLines(results ...*Result) string {
	var views []report.BenchmarkView
	for _, r := range results {
		for _, run := range append(slices.Clone(r.earlier), r) {
			views = append(views, run.benchmark())
		}
	}
	return report.Benchmark(views)
}

// benchmark is one run.
func (r *Result) benchmark() report.BenchmarkView {
	// Always said, so that a file that runs are appended to keeps the figures of a
	// simulated server from those of a real one, and those of a run that was stopped
	// from those of whole ones.
	v := report.BenchmarkView{
		Name: r.Name, N: r.Counts.Sent,
		Config: [][2]string{{"goos", r.Environment.OS}, {"goarch", r.Environment.Arch}, {"pkg", r.Package}, {"cpu", r.Environment.CPU}, {"simulated", strconv.FormatBool(r.Simulated)}, {"partial", strconv.FormatBool(r.Partial)}},
	}
	m := &r.Metrics
	for _, f := range []struct {
		unit   string
		value  Value
		scale  float64
		higher bool
	}{
		{"mean-ttft-ns", m.TTFT.Mean, 1e9, false}, {"p50-ttft-ns", m.TTFT.P(50), 1e9, false}, {"p99-ttft-ns", m.TTFT.P(99), 1e9, false},
		{"mean-tpot-ns", m.TPOT.Mean, 1e9, false}, {"p99-tpot-ns", m.TPOT.P(99), 1e9, false}, {"p99-itl-ns", m.ITL.P(99), 1e9, false},
		{"p50-latency-ns", m.Latency.P(50), 1e9, false}, {"p99-latency-ns", m.Latency.P(99), 1e9, false},
		{"output-tok/s", r.Rates.Output, 1, true}, {"req/s", r.Rates.Requests, 1, true}, {"error-rate", r.Rates.Errors, 1, false},
	} {
		v.Figures = append(v.Figures, report.BenchmarkFigure{Value: float64(f.value) * f.scale, Unit: f.unit, Higher: f.higher})
	}
	return v
}
