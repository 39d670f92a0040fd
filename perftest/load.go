package perftest

import "time"

// Load says when requests start and when the run ends. [Closed] is one; a test
// may bring its own.
type Load interface {
	// Plan checks the load and gives what it asks for. Its error names the
	// field, the value and the remedy.
	Plan() (Plan, error)
}

// Plan is what a load asks for.
type Plan struct {
	// Concurrency is the number of slots, each of which has one request in
	// flight at any time.
	Concurrency int
	// Requests after which no more start; 0 means no such end.
	Requests int
	// Duration after which no more start; 0 means no such end.
	Duration time.Duration
}

// Closed is a closed loop: Concurrency requests are in flight all the time,
// and the end of one starts the next. It ends after Requests or Duration,
// whichever comes first; requests in flight are then waited for.
type Closed struct {
	// Concurrency is the number of requests in flight, 1 or more.
	Concurrency int
	// Requests to send in all; 0 means as many as fit in Duration.
	Requests int
	// Duration after which no request starts; 0 means no limit of time.
	Duration time.Duration
}

// Plan implements [Load].
func (c Closed) Plan() (Plan, error) {
	switch {
	case c.Concurrency < 1:
		return Plan{}, badField("Load.Concurrency", c.Concurrency, "set Closed.Concurrency to 1 or more")
	case c.Requests < 0:
		return Plan{}, badField("Load.Requests", c.Requests, "set Closed.Requests to 0 (no limit) or more")
	case c.Duration < 0:
		return Plan{}, badField("Load.Duration", c.Duration, "set Closed.Duration to 0 (no limit) or more")
	case c.Requests == 0 && c.Duration == 0:
		return Plan{}, badField("Load.Requests", c.Requests, "set Closed.Requests or Closed.Duration, so that the run ends")
	}
	return Plan(c), nil
}
