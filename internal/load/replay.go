package load

import "time"

// Replay is the schedule of start times that were once observed.
type Replay struct {
	// Read gives the next request of the trace: its time, counted from
	// wherever the trace counts, and what is to be sent, for [Turn.Item].
	// It gives false at the end, and when the run is stopped while it waits. A
	// time before the one of the request ahead of
	// it counts as that one.
	Read func() (offset time.Duration, item any, ok bool)
	// Speed at which the trace is replayed: 2 is twice as fast. 0 means 1.
	Speed float64
	// From and To bound the part that is replayed: requests at From or later
	// and before To. The load starts at From. To 0 is the end of the trace.
	From, To time.Duration

	index int
	last  time.Duration
}

// Next implements [Schedule]. What lies before From is read and left out.
func (r *Replay) Next() (Arrival, bool) {
	for {
		offset, item, ok := r.Read()
		if !ok || r.To > 0 && offset >= r.To {
			return Arrival{}, false
		}
		if offset < r.From {
			continue
		}
		at := offset - r.From
		if r.Speed > 0 && r.Speed != 1 {
			at, _ = seconds(at.Seconds() / r.Speed)
		}
		r.last = max(r.last, at)
		r.index++
		return Arrival{Index: r.index - 1, At: r.last, Item: item}, true
	}
}
