// Package load decides when requests start and when no more of them do. It
// knows neither HTTP nor tests: it calls a function for each request.
//
// A [ClosedLoop] has slots, each of which starts its next request when the one
// before has ended. An [OpenLoop] has a [Schedule], whose arrivals start at their
// times whatever the server does.
package load

import "errors"

// ErrGaveUp is the cause of the end of a request that was still in flight when
// the grace after a stop had passed.
var ErrGaveUp = errors.New("the run was stopped, and the grace for requests in flight has passed")

// Reason says why no more requests were started.
type Reason string

// The reasons.
const (
	ReasonComplete  Reason = "complete"  // the plan's number of requests was offered
	ReasonDuration  Reason = "duration"  // the plan's duration, or its profile's, has passed
	ReasonExhausted Reason = "exhausted" // there were no more requests to send
	ReasonStopped   Reason = "stopped"   // the context was cancelled, or requests in flight were given up
)

// Never is a moment that did not come.
const Never int64 = -1

// Report says how a load went, in this process's shard of it. Moments are
// nanoseconds after the epoch, or [Never].
type Report struct {
	// Planned is the number of requests asked for; 0 when the plan has no
	// such number.
	Planned int
	// Offered is how many fell due: Started + Dropped + Unsent.
	Offered   int
	Started   int // requests that were sent: of a steady loop, the measured ones
	Dropped   int // of an open loop whose bound was reached
	Unsent    int // those that waited when the run ended, or found no request to send
	Abandoned int // of those started, cancelled by [Cancel]
	Drained   int // of those started, cancelled by [Drain]
	Slots     int // slots that were used: the most requests in flight
	// Starting and Padded are the requests of those parts that a steady loop
	// sent beside the plan's.
	Starting, Padded int

	Reason    Reason // why there were no more
	Start     int64  // when the first slots became free, and from which arrivals count
	LastStart int64  // when the last request was scheduled
	Stop      int64  // when the context was cancelled, if it was before End
	End       int64  // when the last request had ended
	// GaveUp says that requests were still in flight when the grace after
	// Stop had passed, and were cancelled.
	GaveUp bool

	// Wake is how late the open loop's dispatcher came to arrivals: the fault
	// of this machine alone. It is none for those that it came to ahead of
	// their time; see [PrecisePacing].
	Wake Lag
	// Late is how late [Do] was called, after its turn was Ready: the wake-up
	// and the hand-over to the slot, again this machine's fault alone.
	Late Lag
	// Waited is how long turns waited for a bound of the plan, from Scheduled
	// to Ready; its Count is how many did.
	Waited Lag

	// Concurrency is the mean number of requests in flight from Start to the
	// last actual start, and AskedConcurrency that of the slots a closed loop
	// was to have (think time counts as theirs); 0 when all started at once.
	Concurrency, AskedConcurrency float64
	// Rate is that of the requests that were started, a second, from the first
	// of them to the last, and AskedRate that of the arrivals of an open
	// loop; 0 when there were fewer than two.
	Rate, AskedRate float64
}
