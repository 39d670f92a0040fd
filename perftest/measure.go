package perftest

import (
	"slices"

	"github.com/slogate/slogate/internal/record"
)

// measure computes every figure of r from its samples. A value that is not
// defined for a request enters no figure.
func (r *Result) measure(concurrency int) {
	of := func(m Metric) Distribution { return distribution(r.values(m)) }
	r.Metrics = Metrics{
		TTFT: of(TTFT), TTFA: of(TTFA), TTST: of(TTST), TPOT: of(TPOT),
		ITL: gapDistribution(&r.samples.gaps.events), ITLPerToken: gapDistribution(&r.samples.gaps.tokens),
		Latency: of(Latency), Response: of(Response), Queue: of(queue),
		InputTokens: of(InputTokens), OutputTokens: of(OutputTokens), Events: of(eventsARequest),
		CachedTokens: of(cachedTokens), FirstTurnTTFT: of(firstTurnTTFT), LaterTurnTTFT: of(laterTurnTTFT),
		OutputSpeed: of(outputSpeed), TotalSpeed: of(totalSpeed), DecodeSpeed: of(decodeSpeed),
	}
	r.rates()
	r.steady(concurrency)
}

// values are those of the successes for which m is defined.
func (r *Result) values(m Metric) []float64 {
	values := make([]float64, 0, len(r.samples.all))
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.failed || s.cancelled {
			continue
		}
		if v := s.of(m); v.Known() {
			values = append(values, float64(v))
		}
	}
	return values
}

// rates sets what r says a second.
func (r *Result) rates() {
	r.Window = Absent
	r.Rates = Rates{Input: Absent, Items: Absent, Requests: Absent, Output: Absent, Total: Absent, Errors: Absent, Concurrency: Absent,
		OutputPerAccelerator: Absent, TotalPerAccelerator: Absent}
	first, last, inFlight := record.Absent, record.Absent, int64(0)
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.sent == record.Absent || s.done == record.Absent {
			continue
		}
		if first == record.Absent || s.sent < first {
			first = s.sent
		}
		last = max(last, s.done)
		inFlight += s.done - s.sent
	}
	if all := r.Counts.Succeeded + r.Counts.Failed; all > 0 {
		r.Rates.Errors = Value(r.Counts.Failed) / Value(all)
	}
	if first == record.Absent {
		return
	}
	r.Window = seconds(last - first)
	t := r.tally(func(*sample) bool { return true })
	r.Rates.Requests, r.Rates.Output, r.Rates.Total = t.rates(r.Window)
	if t.inputs > 0 || t.requests == 0 {
		r.Rates.Input = per(Value(t.input), r.Window)
	}
	if t.items > 0 {
		r.Rates.Items = per(Value(t.items), r.Window)
	}
	r.Rates.Concurrency = per(Value(inFlight)/1e9, r.Window)
	if n := Value(r.Target.Accelerators); n > 0 {
		r.Rates.OutputPerAccelerator, r.Rates.TotalPerAccelerator = r.Rates.Output/n, r.Rates.Total/n
	}
}

// steady sets the rates of the part in which all slots were busy.
func (r *Result) steady(concurrency int) {
	r.Steady = Steady{Window: Absent, Requests: Absent, Output: Absent, Total: Absent}
	var starts []int64
	for i := range r.samples.all {
		if s := &r.samples.all[i]; s.sent != record.Absent {
			starts = append(starts, s.sent)
		}
	}
	if concurrency < 1 || len(starts) <= concurrency {
		return
	}
	slices.Sort(starts)
	from, to := starts[concurrency-1], starts[len(starts)-1]
	if to <= from {
		return
	}
	r.Steady.Window = seconds(to - from)
	t := r.tally(func(s *sample) bool { return from < s.done && s.done <= to })
	r.Steady.Requests, r.Steady.Output, r.Steady.Total = t.rates(r.Steady.Window)
}

// tally is a sum over successes.
type tally struct {
	requests, input, output int64
	items                   int64
	inputs, outputs         int64 // how many counts are in the sums
}

func (r *Result) tally(in func(*sample) bool) tally {
	var t tally
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.failed || s.cancelled || !in(s) {
			continue
		}
		t.requests++
		t.items += int64(s.items)
		if s.input != record.Absent {
			t.input += s.input
			t.inputs++
		}
		if s.output != record.Absent {
			t.output += s.output
			t.outputs++
		}
	}
	return t
}

// rates are t's over a window: tokens are absent when no success has a count,
// unless there was no success at all.
func (t tally) rates(window Value) (requests, output, total Value) {
	known := func(n, of int64, sum Value) Value {
		if n == 0 && of > 0 {
			return Absent
		}
		return per(sum, window)
	}
	return per(Value(t.requests), window), known(t.outputs, t.requests, Value(t.output)),
		known(min(t.inputs, t.outputs), t.requests, Value(t.input+t.output))
}
