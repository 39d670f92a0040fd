package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// run is what loads of every kind have in common: it counts starts, knows when
// there are to be no more, and gives up what is in flight after a stop. Who
// drives it decides when each start is due.
type run struct {
	plan  Plan
	epoch time.Time
	stop  context.Context // done: no more starts
	hard  context.Context // of the requests
	kill  context.CancelCauseFunc

	claimed   atomic.Int64
	exhausted atomic.Bool

	watch  sync.WaitGroup
	ended  chan struct{}
	mu     sync.Mutex
	report Report
}

// begin starts the clock of a run and watches for its stop.
func begin(ctx context.Context, epoch time.Time, p Plan, grace time.Duration) *run {
	r := &run{plan: p, epoch: epoch, stop: ctx, ended: make(chan struct{})}
	r.hard, r.kill = context.WithCancelCause(context.WithoutCancel(ctx))
	r.report = Report{Start: r.now(), LastStart: Never, Stop: Never}
	r.watch.Go(func() { r.giveUp(grace) })
	return r
}

// now is the time in nanoseconds after the epoch, on the monotonic clock.
func (r *run) now() int64 { return int64(time.Since(r.epoch)) }

// giveUp cancels what is in flight when the grace after a stop has passed.
func (r *run) giveUp(grace time.Duration) {
	select {
	case <-r.stop.Done():
	case <-r.ended:
		return
	}
	r.mu.Lock()
	r.report.Stop = r.now()
	r.mu.Unlock()
	left := time.NewTimer(grace)
	defer left.Stop()
	select {
	case <-left.C:
	case <-r.ended:
		return
	}
	r.mu.Lock()
	r.report.GaveUp = true
	r.mu.Unlock()
	r.kill(ErrGaveUp)
}

// claim asks for a start at the given moment, and takes it from the plan's
// number of requests.
func (r *run) claim(at int64) bool {
	if r.exhausted.Load() || r.stop.Err() != nil {
		return false
	}
	if r.plan.Duration > 0 && at-r.report.Start >= int64(r.plan.Duration) {
		return false
	}
	return r.plan.Requests == 0 || r.claimed.Add(1) <= int64(r.plan.Requests)
}

// drained notes that a claimed start found no request to send. After a stop
// that says nothing: who waited for the next request was only told to go.
func (r *run) drained() {
	if r.stop.Err() == nil {
		r.exhausted.Store(true)
	}
}

// add counts the starts of one slot.
func (r *run) add(started int, last int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Started += started
	r.report.LastStart = max(r.report.LastStart, last)
}

// end completes the report; all requests have ended.
func (r *run) end() Report {
	end := r.now()
	close(r.ended)
	r.watch.Wait()
	out := r.report
	out.End = end
	if out.Stop == Never && r.stop.Err() != nil {
		out.Stop = end // so late that nobody has looked
	}
	switch p := r.plan; {
	case out.GaveUp:
		out.Reason = ReasonStopped
	case p.Requests > 0 && out.Started == p.Requests:
		out.Reason = ReasonComplete
	case r.exhausted.Load():
		out.Reason = ReasonExhausted
	case out.Stop != Never && (p.Duration == 0 || out.Stop-out.Start < int64(p.Duration)):
		out.Reason = ReasonStopped
	default:
		out.Reason = ReasonDuration
	}
	return out
}
