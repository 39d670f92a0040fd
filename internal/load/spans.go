package load

import (
	"math"
	"time"
)

// span is a stretch of time in which a slot sends requests, after the start of
// the load; end does not belong to it.
type span struct{ begin, end time.Duration }

// forever is the end of what has none.
const forever time.Duration = math.MaxInt64

// longest is what a time in a plan counts as at the most, a century: added to
// the clock it does not overflow.
const longest = 100 * 365 * 24 * time.Hour

// RampUp says how a closed loop's slots start. The zero value starts all of them
// at once.
type RampUp struct {
	// Duration over which slots start; 0 is a burst.
	Duration time.Duration
	// Steps in which they start, the first at once, each held for as long as
	// the others; 0 starts one slot after the other, at even distances.
	Steps int
}

// start is when slot k of n starts.
func (u RampUp) start(k, n int) time.Duration {
	if u.Steps > 0 && u.Steps < n {
		return share(u.Duration, k*u.Steps/n, u.Steps)
	}
	return share(u.Duration, k, n)
}

// spans are those of each slot.
func (u RampUp) spans(slots int) [][]span {
	out := make([][]span, slots)
	for k := range out {
		out[k] = []span{{u.start(k, slots), forever}}
	}
	return out
}

// profileSpans are those of each slot of a concurrency that follows a profile:
// slot k sends while it is k+1 or more.
func profileSpans(p Profile) [][]span {
	var out [][]span
	active := 0
	for at, n := range p.steps() {
		for ; active < n; active++ {
			if active == len(out) {
				out = append(out, nil)
			}
			out[active] = append(out[active], span{at, forever})
		}
		for ; active > n; active-- {
			of := out[active-1]
			of[len(of)-1].end = at
		}
	}
	return out
}

// turn is when a slot that becomes free at a time may start a request, and the
// spans that it has left; false when it has none.
func turn(spans []span, free time.Duration) (due time.Duration, left []span, ok bool) {
	for len(spans) > 0 && (free >= spans[0].end || spans[0].begin == spans[0].end) {
		spans = spans[1:]
	}
	if len(spans) == 0 {
		return 0, nil, false
	}
	return max(free, spans[0].begin), spans, true
}

// asked is the mean number of slots that were to send in the first stretch of
// a load.
func asked(slots [][]span, length time.Duration) float64 {
	if length <= 0 {
		return 0
	}
	var sum time.Duration
	for _, spans := range slots {
		for _, s := range spans {
			sum += max(min(s.end, length)-min(s.begin, length), 0)
		}
	}
	return float64(sum) / float64(length)
}
