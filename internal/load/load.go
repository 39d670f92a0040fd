// Package load decides when requests start and when no more of them do. It
// knows neither HTTP nor tests: it calls a function for each request.
package load

import (
	"context"
	"errors"
	"time"
)

// Plan is what a load asks for.
type Plan struct {
	// Concurrency is the number of slots, each with one request at a time; 1
	// or more.
	Concurrency int
	// Requests after which no more start; 0 means no such end.
	Requests int
	// Duration after which no more start; 0 means no such end.
	Duration time.Duration
}

// Send sends one request and returns when the next one of its slot may start,
// which should be at the end of the answer. scheduled is when it should have
// started, in nanoseconds after the epoch: the moment its slot became free. ctx
// is for the request: it is cancelled, with [ErrGaveUp] as its cause, when
// the run gives requests in flight up, and it stays alive after the run so that
// what is done beside may end.
//
// It returns false, without having sent anything, when there are no more
// requests to send; then no slot starts another one.
type Send func(ctx context.Context, slot int, scheduled int64) bool

// ErrGaveUp is the cause of the end of a request that was still in flight when
// the grace after a stop had passed.
var ErrGaveUp = errors.New("the run was stopped, and the grace for requests in flight has passed")

// Reason says why no more requests were started.
type Reason string

// The reasons.
const (
	ReasonComplete  Reason = "complete"  // all requests of the plan were sent
	ReasonDuration  Reason = "duration"  // the plan's duration has passed
	ReasonExhausted Reason = "exhausted" // there were no more requests to send
	ReasonStopped   Reason = "stopped"   // the context was cancelled, or requests in flight were given up
)

// Never is a moment that did not come.
const Never int64 = -1

// Report says how a load went. Moments are nanoseconds after the epoch, or
// [Never].
type Report struct {
	Started   int    // requests that were sent
	Reason    Reason // why there were no more
	Start     int64  // when the first slots became free
	LastStart int64  // when the last request was scheduled
	Stop      int64  // when the context was cancelled, if it was before End
	End       int64  // when the last request had ended
	// GaveUp says that requests were still in flight when the grace after
	// Stop had passed, and were cancelled.
	GaveUp bool
}
