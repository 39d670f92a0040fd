package perftest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// RunFigures are the figures of one run by which runs are compared, in the
// units that their names end in; absent is what was not measured. Percentiles
// and means are over the successes.
type RunFigures struct {
	Requests    int   `json:"requests"`            // successes and failures
	Failed      int   `json:"failed"`              // of them
	TTFTp50     Value `json:"ttft_p50_s"`          // median time to first token
	TTFTp99     Value `json:"ttft_p99_s"`          // its 99th percentile
	TPOTMean    Value `json:"tpot_mean_s"`         // mean time per output token after the first
	TPOTp99     Value `json:"tpot_p99_s"`          // its 99th percentile over the requests
	LatencyP50  Value `json:"latency_p50_s"`       // median latency
	OutputRate  Value `json:"output_tokens_per_s"` // output tokens of successes a second
	RequestRate Value `json:"requests_per_s"`      // successes a second
	ErrorRate   Value `json:"error_rate"`          // failed over all, 0 to 1
	// Spread has the standard errors of the figures' logarithms within the run,
	// by their names, where it is the only run of its side: by resampling
	// blocks of neighbouring requests.
	Spread map[string]Value `json:"spread,omitempty"`
	// Unfit says why the run cannot be compared; empty when it can.
	Unfit string `json:"unfit,omitempty"`
}

// UnmarshalJSON implements json.Unmarshaler: a figure that an older version did
// not write is absent, and not 0.
func (f *RunFigures) UnmarshalJSON(data []byte) error {
	type fields RunFigures
	v := fields{TTFTp50: Absent, TTFTp99: Absent, TPOTMean: Absent, TPOTp99: Absent, LatencyP50: Absent, OutputRate: Absent, RequestRate: Absent, ErrorRate: Absent}
	err := json.Unmarshal(data, &v)
	*f = RunFigures(v)
	return err
}

// compared is one of the figures that a comparison is about.
type compared struct {
	name   string // of its field in JSON
	metric Metric
	stat   Stat
	gates  bool
	// instead of: a figure gates only where this one is absent from all runs,
	// as the time to first token is from embeddings.
	insteadOf string
	of        func(*RunFigures) *Value
}

// comparedFigures are those figures. A run's median and mean differ by 3 to 4 %
// from the next run's, its p99 by 12 %: p99 is advice and gates nothing.
var comparedFigures = []compared{
	{"ttft_p50_s", TTFT, "p50", true, "", func(f *RunFigures) *Value { return &f.TTFTp50 }},
	{"tpot_mean_s", TPOT, Mean, true, "", func(f *RunFigures) *Value { return &f.TPOTMean }},
	{"output_tokens_per_s", OutputRate, "", true, "", func(f *RunFigures) *Value { return &f.OutputRate }},
	{"latency_p50_s", Latency, "p50", false, "ttft_p50_s", func(f *RunFigures) *Value { return &f.LatencyP50 }},
	{"requests_per_s", RequestRate, "", false, "output_tokens_per_s", func(f *RunFigures) *Value { return &f.RequestRate }},
	{"ttft_p99_s", TTFT, "p99", false, "", func(f *RunFigures) *Value { return &f.TTFTp99 }},
	{"tpot_p99_s", TPOT, "p99", false, "", func(f *RunFigures) *Value { return &f.TPOTp99 }},
}

// higherIsBetter is the direction of a figure.
func (c *compared) higherIsBetter() bool { return c.metric == OutputRate || c.metric == RequestRate }

// mostFailed is the share of failed requests up to which the figures of the
// successes stand for all: it moves a median by less than one run differs from
// the next.
const mostFailed = 0.01

// figures are those of r's own run.
func (r *Result) figures() RunFigures {
	m := r.Metrics
	f := RunFigures{
		Requests: r.Counts.Succeeded + r.Counts.Failed, Failed: r.Counts.Failed,
		TTFTp50: m.TTFT.P(50), TTFTp99: m.TTFT.P(99), TPOTMean: m.TPOT.Mean, TPOTp99: m.TPOT.P(99), LatencyP50: m.Latency.P(50),
		OutputRate: r.Rates.Output, RequestRate: r.Rates.Requests, ErrorRate: r.Rates.Errors,
	}
	if m.OutputTokens.Count == 0 || r.Counts.NoUsage > 0 { // there is no output, or part of it is not counted
		f.OutputRate, f.TPOTMean, f.TPOTp99 = Absent, Absent, Absent
	}
	switch bottleneck := r.bottleneck([]SLO{{Metric: RequestRate}}); {
	case r.Partial:
		f.Unfit = "it ended early (" + r.endedHow() + ")"
	case r.Counts.Succeeded == 0:
		f.Unfit = "no request succeeded"
	case bottleneck != "":
		f.Unfit = bottleneck
	case !(float64(f.ErrorRate) <= mostFailed):
		f.Unfit = fmt.Sprintf("%d of %d requests failed, and the figures are those of the others", f.Failed, f.Requests)
	}
	return f
}

// runs are the figures of all runs that r stands for, with the spread of a
// single one where its requests are at hand.
func (r *Result) runs() []RunFigures {
	if len(r.Runs) > 0 {
		return slices.Clone(r.Runs)
	}
	f := r.figures()
	f.Spread = r.spreads()
	return []RunFigures{f}
}

// spreads are the standard errors of the logarithms of r's own figures, those
// that can be known.
func (r *Result) spreads() map[string]Value {
	all := slices.Clone(r.samples.all)
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.scheduled, b.scheduled) })
	if len(all) == 0 || !r.Window.Known() {
		return nil
	}
	spreads := map[string]Value{}
	add := func(name string, values []float64, block int, statistic func([]float64) float64) {
		if se := stats.BlockSE(values, block, statistic); !math.IsNaN(se) {
			spreads[name] = Value(se)
		}
	}
	percentile := func(p float64) func([]float64) float64 {
		return func(v []float64) float64 { slices.Sort(v); return stats.Percentile(v, p) }
	}
	mean := func(v []float64) float64 { return stats.Summarize(v).Mean }
	window := float64(r.Window)
	for _, c := range comparedFigures {
		switch p, isPercentile := c.stat.percentile(); {
		case isPercentile:
			v := values(all, c.metric)
			add(c.name, v, stats.BlockLength(len(v), window), percentile(p))
		case c.stat == Mean:
			v := values(all, c.metric)
			add(c.name, v, stats.BlockLength(len(v), window), mean)
		default:
			add(c.name, throughputs(all, c.metric == OutputRate), throughputBlock(len(all), window), mean)
		}
	}
	return spreads
}

// throughputParts is the number of windows of a run whose throughput is resampled.
const throughputParts = 200

// throughputBlock is a block of these windows, as long as one of so many requests.
func throughputBlock(requests int, window float64) int {
	return (stats.BlockLength(requests, window)*throughputParts + requests - 1) / max(1, requests)
}

// throughputs are the successes, or their output tokens, that ended in each of
// equal windows of a run, from its first sending to its last.
func throughputs(all []sample, tokens bool) []float64 {
	first, last := record.Absent, record.Absent
	for i := range all {
		if sent := all[i].sent; sent != record.Absent {
			if first == record.Absent || sent < first {
				first = sent
			}
			last = max(last, sent)
		}
	}
	if last <= first {
		return nil
	}
	parts := make([]float64, throughputParts)
	for i := range all {
		s := &all[i]
		if s.failed || s.cancelled || s.done < first || s.done > last {
			continue
		}
		done := 1.0
		if tokens {
			done = float64(max(s.output, 0))
		}
		parts[min(throughputParts-1, int(throughputParts*float64(s.done-first)/float64(last-first)))] += done
	}
	return parts
}
