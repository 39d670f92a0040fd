package record

import "math"

// The metrics of one request, as functions of its stamps: nanoseconds, and
// Absent (for TPOT: NaN) where the metric is not defined.

// between is the time from stamp a to stamp b.
func between(a, b int64) int64 {
	if a == Absent || b == Absent {
		return Absent
	}
	return b - a
}

// TTFT is the time to first token: from sending to the first token event.
func (r *Record) TTFT() int64 { return between(r.Sent, r.FirstToken) }

// TTFA is the time to first answer: from sending to the first token event that
// is not reasoning.
func (r *Record) TTFA() int64 { return between(r.Sent, r.FirstAnswer) }

// TTST is the time from the first to the second token event.
func (r *Record) TTST() int64 { return between(r.FirstToken, r.SecondToken) }

// TPOT is the time per output token after the first:
// (LastToken - FirstToken) / (OutputTokens - 1), defined for more than one
// token in more than one event: of tokens that came all at once it is not
// known, rather than 0. It may have a fraction of a nanosecond.
func (r *Record) TPOT() float64 {
	if r.FirstToken == Absent || r.OutputTokens <= 1 || r.TokenEvents <= 1 {
		return math.NaN()
	}
	return float64(r.LastToken-r.FirstToken) / float64(r.OutputTokens-1)
}

// Latency is the time from sending to the end of a successful answer.
func (r *Record) Latency() int64 {
	if !r.OK() {
		return Absent
	}
	return between(r.Sent, r.Done)
}

// Queue is the time by which the client sent later than the load wanted.
func (r *Record) Queue() int64 { return between(r.Scheduled, r.Sent) }

// Response is the latency that a user feels: from the scheduled start to the
// end of a successful answer. It hides no wait of the client's.
func (r *Record) Response() int64 {
	if !r.OK() {
		return Absent
	}
	return between(r.Scheduled, r.Done)
}
