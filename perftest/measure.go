package perftest

import (
	"math"
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
	if len(r.samples.start) > 0 {
		r.WithStart = WithStart{TTFT: distribution(r.withStart(TTFT)), TPOT: distribution(r.withStart(TPOT)), Latency: distribution(r.withStart(Latency))}
	}
	r.rates()
	r.steady(concurrency)
}

// withStart are the values of the start burst too.
func (r *Result) withStart(m Metric) []float64 {
	return append(r.values(m), values(r.samples.start, m)...)
}

// values are those of the successes for which m is defined.
func (r *Result) values(m Metric) []float64 { return values(r.samples.all, m) }

func values(of []sample, m Metric) []float64 {
	values := make([]float64, 0, len(of))
	for i := range of {
		s := &of[i]
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
	first, last, sum := record.Absent, record.Absent, int64(0)
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.sent == record.Absent || s.done == record.Absent {
			continue
		}
		if first == record.Absent || s.sent < first {
			first = s.sent
		}
		last = max(last, s.done)
		sum += s.done - s.sent
	}
	if all := r.Counts.Succeeded + r.Counts.Failed; all > 0 {
		r.Rates.Errors = Value(r.Counts.Failed) / Value(all)
	}
	if first == record.Absent {
		return
	}
	r.Window = seconds(last - first)
	r.setRates(r.tally(func(*sample) bool { return true }), r.Window)
	r.Rates.Concurrency = per(seconds(sum), r.Window)
}

// setRates sets what r says a second of successes.
func (r *Result) setRates(t tally, window Value) {
	r.Rates.Requests, r.Rates.Output, r.Rates.Total = t.rates(window)
	if t.inputs > 0 || t.requests == 0 {
		r.Rates.Input = per(Value(t.input), window)
	}
	if t.items > 0 {
		r.Rates.Items = per(Value(t.items), window)
	}
	if n := Value(r.Target.Accelerators); n > 0 {
		r.Rates.OutputPerAccelerator, r.Rates.TotalPerAccelerator = r.Rates.Output/n, r.Rates.Total/n
	}
}

// steady sets the rates of the part in which all slots were busy, and makes
// them r's where the ends are no part of its figures: what the start burst got
// done in that part then counts, since it kept the server as busy.
func (r *Result) steady(concurrency int) {
	r.Steady = Steady{Window: Absent, Requests: Absent, Output: Absent, Total: Absent}
	cut := len(r.samples.start) > 0
	var times busy
	if cut {
		times = r.steadyTimes()
	} else if from, to := r.sendings(concurrency); to > from {
		times = busy{{from, to}}
	}
	if times.length() == 0 {
		return
	}
	r.Steady.Window = seconds(times.length())
	t := r.tally(times.has)
	if cut {
		t.addAll(r.samples.start, times.has)
		r.setRates(t, r.Steady.Window)
		r.Rates.Concurrency = per(seconds(times.inFlight(r.samples.start)+times.inFlight(r.samples.all)), r.Steady.Window)
	}
	r.Steady.Requests, r.Steady.Output, r.Steady.Total = t.rates(r.Steady.Window)
}

// sendings are the moments of the concurrency-th and of the last measured
// sending; equal when there are not so many.
func (r *Result) sendings(concurrency int) (from, to int64) {
	var starts []int64
	for i := range r.samples.all {
		if s := &r.samples.all[i]; s.sent != record.Absent {
			starts = append(starts, s.sent)
		}
	}
	if concurrency < 1 || len(starts) <= concurrency {
		return 0, 0
	}
	slices.Sort(starts)
	return starts[concurrency-1], starts[len(starts)-1]
}

// rateSpan is the time that r's rates are over, from its begin to its end.
func (r *Result) rateSpan() (from, to int64) {
	if len(r.span) > 0 {
		return r.span[0][0], r.span[len(r.span)-1][1]
	}
	if len(r.samples.start) > 0 {
		if from, to = r.sendings(1); to > from {
			return from, to
		}
	}
	from, to = math.MaxInt64, 0
	for i := range r.samples.all {
		if s := &r.samples.all[i]; s.sent != record.Absent && s.done != record.Absent {
			from, to = min(from, s.sent), max(to, s.done)
		}
	}
	return from, to
}

// tally is a sum over successes.
type tally struct {
	requests, input, output int64
	items                   int64
	inputs, outputs         int64 // how many counts are in the sums
}

// tally sums the measured successes that are in.
func (r *Result) tally(in func(*sample) bool) (t tally) {
	t.addAll(r.samples.all, in)
	return t
}

func (t *tally) addAll(of []sample, in func(*sample) bool) {
	for i := range of {
		s := &of[i]
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
