package perftest

import (
	"time"

	"github.com/slogate/slogate/internal/load"
)

// Replay is an open loop whose start times come with the workload's requests,
// from a trace: [Request].At. A workload whose first thousand requests all have
// the same time is no trace, and is refused.
type Replay struct {
	// Speed at which the trace is replayed: 2 is twice as fast; 0 means 1.
	Speed float64
	// From and To bound the part of the trace that is replayed; the load
	// starts at From. To 0 is the trace's end.
	From, To time.Duration
	// Requests to send in all; 0 means all.
	Requests int
	// InFlight bounds the requests in flight; 0 means no bound.
	InFlight int
	// AtBound says what becomes of a start that finds the bound reached; zero
	// lets it wait.
	AtBound AtBound
	// Drain says what becomes of requests in flight at the end; zero waits.
	Drain Drain
	// Cancel abandons a share of the requests; zero abandons none.
	Cancel Cancel
	// PrefillConcurrency is the most requests that wait for their first token
	// at any time; 0 means no limit.
	PrefillConcurrency int
}

// Plan implements [Load].
func (r Replay) Plan() (Plan, error) {
	switch {
	case r.Speed != 0 && !(r.Speed >= 1e-6 && r.Speed <= 1e6):
		return Plan{}, badField("Load.Speed", r.Speed, "set Replay.Speed to 0 (as recorded) or more (1e-6 to 1e6)")
	case r.From < 0:
		return Plan{}, badField("Load.From", r.From, "set Replay.From to 0 or more")
	case r.To != 0 && r.To <= r.From:
		return Plan{}, badField("Load.To", r.To, "set Replay.To to 0 (the trace's end) or after From")
	}
	p := Plan{
		Requests: r.Requests, InFlight: r.InFlight, AtBound: r.AtBound,
		Drain: r.Drain, Cancel: r.Cancel, PrefillConcurrency: r.PrefillConcurrency,
		paired: true,
		schedule: func(_ uint64, read func() (time.Duration, any, bool)) load.Schedule {
			return &load.Replay{Read: read, Speed: r.Speed, From: r.From, To: r.To}
		},
	}
	return p, p.check()
}
