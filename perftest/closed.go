package perftest

import "time"

// Closed is a closed loop: Concurrency requests are in flight all the time,
// and the end of one starts the next. It ends after Requests or Duration,
// whichever comes first; requests in flight are then waited for. Its start and
// its end are kept out of the figures, see KeepEnds.
type Closed struct {
	// Concurrency is the number of requests in flight, 1 or more.
	Concurrency int
	// Requests to measure; 0 means as many as fit in Duration.
	Requests int
	// Duration after which no request starts; 0 means no limit of time.
	Duration time.Duration
	// RampUp says how the slots start; zero starts all at once.
	RampUp RampUp
	// Think is the time between an answer and the slot's next request; zero
	// is none.
	Think Think
	// Drain says what becomes of requests in flight at the end; zero waits.
	Drain Drain
	// Cancel abandons a share of the requests; zero abandons none.
	Cancel Cancel
	// KeepEnds measures both ends of the loop with the rest, as most load tools
	// do: Requests are then all that are sent. By default the first request of
	// each slot is kept out of every figure (all slots send at once then, which
	// no later request meets; with a RampUp, whatever is sent before the last
	// slot has started), Requests and Duration count from the first one after
	// them, and until the last of those has ended the slots go on with requests
	// that are in no figure, at most four each.
	KeepEnds bool
	// PrefillConcurrency is the most requests that wait for their first token
	// at any time; 0 means no limit.
	PrefillConcurrency int
}

// Plan implements [Load].
func (c Closed) Plan() (Plan, error) {
	p := Plan{
		Concurrency: c.Concurrency, Requests: c.Requests, Duration: c.Duration, RampUp: c.RampUp, Think: c.Think,
		Drain: c.Drain, Cancel: c.Cancel, KeepEnds: c.KeepEnds, PrefillConcurrency: c.PrefillConcurrency,
	}
	return p, p.check()
}
