package load

import (
	"context"
	"sync"
	"time"
)

// Closed runs a closed loop: each slot has one request in flight, and its end
// starts the next at once. There is no start after p.Requests of them, after
// p.Duration, after a Send that returned false, and after the end of ctx; then
// requests in flight are waited for. When ctx ends they have the grace to do
// so and are then cancelled. Closed returns when every Send has.
//
// Moments count from epoch, which several runs may share. A plan without any
// slot is a mistake of the caller's, and panics.
func Closed(ctx context.Context, epoch time.Time, p Plan, grace time.Duration, send Send) Report {
	if p.Concurrency < 1 {
		panic("load: a closed loop needs a Concurrency of 1 or more")
	}
	r := begin(ctx, epoch, p, grace)
	var slots sync.WaitGroup
	for slot := range p.Concurrency {
		slots.Go(func() { r.slot(slot, send) })
	}
	slots.Wait()
	return r.end()
}

// slot sends one request after the other. Between them there is nothing but a
// look at the clock and at the plan.
func (r *run) slot(slot int, send Send) {
	started, last := 0, Never
	for free := r.report.Start; r.claim(free); free = r.now() {
		if !send(r.hard, slot, free) {
			r.drained()
			break
		}
		started, last = started+1, free
	}
	r.add(started, last)
}
