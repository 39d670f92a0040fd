package perftest

import (
	"cmp"
	"slices"

	"github.com/slogate/slogate/internal/record"
)

// busy are the times, in order and apart, over which rates are.
type busy [][2]int64

// length is that of all of them.
func (b busy) length() (sum int64) {
	for _, span := range b {
		sum += span[1] - span[0]
	}
	return sum
}

// at is where a moment lies among them, as if they followed on one another;
// false where it lies in none.
func (b busy) at(moment int64) (at int64, in bool) {
	before := int64(0)
	for _, span := range b {
		if span[0] < moment && moment <= span[1] {
			return before + moment - span[0], true
		}
		before += span[1] - span[0]
	}
	return 0, false
}

// has reports whether a request ended in them.
func (b busy) has(s *sample) bool {
	_, in := b.at(s.done)
	return in
}

// inFlight is the time that requests were in flight within them.
func (b busy) inFlight(of []sample) (sum int64) {
	for _, span := range b {
		for i := range of {
			if s := &of[i]; s.sent != record.Absent && s.done != record.Absent {
				sum += max(0, min(s.done, span[1])-max(s.sent, span[0]))
			}
		}
	}
	return sum
}

// steadyTimes are those from the first measured sending to the last one, of
// each part of a run that was extended: between two parts a closed loop drains,
// with padding that is in no figure, and starts anew. A part begins where a
// request of a start burst is sent while no measured one is in flight.
func (r *Result) steadyTimes() (b busy) {
	type flight struct{ sent, done int64 }
	var measured []flight
	for i := range r.samples.all {
		if s := &r.samples.all[i]; s.sent != record.Absent {
			measured = append(measured, flight{s.sent, max(s.done, s.sent)})
		}
	}
	slices.SortFunc(measured, func(a, b flight) int { return cmp.Compare(a.sent, b.sent) })
	var bursts []int64
	for i := range r.samples.start {
		if s := &r.samples.start[i]; s.sent != record.Absent {
			bursts = append(bursts, s.sent)
		}
	}
	slices.Sort(bursts)
	from, last, ended := int64(0), int64(0), int64(0)
	end := func() {
		if last > from {
			b = append(b, [2]int64{from, last})
		}
	}
	for i, m := range measured {
		for len(bursts) > 0 && (i == 0 || bursts[0] < ended) && bursts[0] <= m.sent {
			bursts = bursts[1:]
		}
		switch {
		case i == 0:
			from = m.sent
		case len(bursts) > 0 && bursts[0] <= m.sent: // and not before ended
			end()
			from = m.sent
			for len(bursts) > 0 && bursts[0] <= m.sent {
				bursts = bursts[1:]
			}
		}
		last, ended = m.sent, max(ended, m.done)
	}
	end()
	return b
}

// busyTimes are those that r's rates are over.
func (r *Result) busyTimes() busy {
	if r.span != nil {
		return r.span
	}
	if len(r.samples.start) > 0 {
		if b := r.steadyTimes(); b.length() > 0 {
			return b
		}
	}
	if from, to := r.rateSpan(); to > from {
		return busy{{from, to}}
	}
	return nil
}
