package health

import "time"

// Requests is what the caller knows of its requests in the window. A zero field
// is not known, and what hangs on it is neither judged nor shown.
type Requests struct {
	// SmallestLimit is the smallest limit of an SLO on a time that is counted
	// from a request's start (TTFT, latency, response).
	SmallestLimit time.Duration

	Sent    int    // requests that were sent, the base of the counts below
	SendLag Spread // moment of the write less the moment planned
	// Late is how many were sent later than [Thresholds.LateAfter] says.
	Late int

	// Open loop. A conversation is one arrival, of several requests.
	Planned int // arrivals of the plan that were due
	Started int // of them, those that were sent
	Waited  int // of them, those that waited for a place in flight or a connection

	// Closed loop: from the end of an answer to the next send of that slot, and
	// the same summed up, beside the time of all slots together.
	SlotGap              Spread
	GapTotal, WorkerTime time.Duration

	// What was asked for, and what the window had. Shown, not judged.
	AskedConcurrency, Concurrency float64
	AskedRate, Rate               float64 // requests a second

	// ReadLag is the moment an event was handled less the kernel's stamp of its
	// arrival, where the system has one.
	ReadLag   Spread
	ITLMedian time.Duration
	// Of requests to a server in this process: from the writing of an event to
	// its stamp, and the time to first token.
	Canaries              int
	CanaryLag, CanaryTTFT Spread
	Events                int // that carried output
	Coalesced             int // of these, read together with one before

	Dialled, Reused int // connections
	// OutOfFiles is how many requests found no file free for their connection,
	// and FileLimit how many this process may have.
	OutOfFiles, FileLimit int
}
