package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// run is what loads of every kind have in common: it counts starts, knows when
// there are to be no more, and gives up what is in flight after a stop. Who
// drives it decides when each start is due.
type run struct {
	Options
	epoch time.Time
	limit int             // of the shard's requests; -1 means none
	stop  context.Context // the caller's
	hard  context.Context // of the requests
	kill  context.CancelCauseFunc
	// starts is done when there are to be no more starts, for any reason.
	starts context.Context
	halt   context.CancelFunc

	// expired is done when no more requests of the plan may be waited for:
	// its duration has passed, or the run was stopped.
	expired context.Context
	expire  context.CancelFunc
	// more is done then too, and when an open loop's duration has passed: what
	// was offered in time may still be waited for.
	more   context.Context
	noMore context.CancelFunc
	from   atomic.Int64 // from when the plan's duration counts; [Never] before that is known

	claimed   atomic.Int64
	exhausted atomic.Bool // a Do found no request
	abandoned atomic.Int64
	cut       atomic.Int64 // requests that were in flight when the drain's time had passed
	late      lags
	waited    lags
	asked     func(window time.Duration) float64 // concurrency asked for; nil where none is

	watch sync.WaitGroup
	ended chan struct{}

	mu       sync.Mutex
	finished int64 // when the plan was over
	spent    bool  // the schedule has ended, without saying when
	slots    []busy
	report   Report
}

// begin starts the clock of a run and watches for its stop.
func begin(ctx context.Context, epoch time.Time, o Options) *run {
	r := &run{Options: o, epoch: epoch, limit: -1, stop: ctx, finished: Never, ended: make(chan struct{})}
	if o.Requests > 0 {
		r.limit = o.Shard.Requests(o.First+o.Requests) - o.Shard.Requests(o.First)
	}
	r.starts, r.halt = context.WithCancel(ctx)
	r.expired, r.expire = context.WithCancel(ctx)
	r.more, r.noMore = context.WithCancel(r.expired)
	r.hard, r.kill = context.WithCancelCause(context.WithoutCancel(ctx))
	start := r.now()
	if o.Start > 0 {
		start = min(start, o.Start)
	}
	r.report = Report{Start: start, LastStart: Never, Stop: Never, Planned: max(r.limit, 0)}
	r.from.Store(r.report.Start)
	r.watch.Go(r.giveUp)
	r.watch.Go(r.drain)
	return r
}

// now is the time in nanoseconds after the epoch, on the monotonic clock.
func (r *run) now() int64 { return int64(time.Since(r.epoch)) }

// giveUp cancels what is in flight when the grace after a stop has passed.
func (r *run) giveUp() {
	select {
	case <-r.stop.Done():
	case <-r.ended:
		return
	}
	r.mu.Lock()
	r.report.Stop = r.now()
	r.mu.Unlock()
	if !r.pass(r.Grace) {
		return
	}
	r.mu.Lock()
	r.report.GaveUp = true
	r.mu.Unlock()
	r.kill(ErrGaveUp)
}

// drain cancels what is in flight when the plan is over and the time for it
// has passed.
func (r *run) drain() {
	select {
	case <-r.starts.Done():
	case <-r.ended:
		return
	}
	// After a stop the grace counts.
	if r.Drain.Cancel && r.stop.Err() == nil && r.pass(r.Drain.After) {
		r.kill(ErrDrained)
	}
}

// pass waits, and says whether the run is still going on then.
func (r *run) pass(d time.Duration) bool {
	left := time.NewTimer(d)
	defer left.Stop()
	select {
	case <-left.C:
	case <-r.ended:
		return false
	}
	select { // it may have ended in the same moment
	case <-r.ended:
		return false
	default:
		return true
	}
}

// over says that by the plan there are no more starts from a moment on.
func (r *run) over(at int64) {
	r.mu.Lock()
	if r.finished == Never {
		r.finished = at
	}
	r.mu.Unlock()
	r.halt()
}

// within says whether a start at a moment lies within the plan's duration.
func (r *run) within(at int64) bool {
	from := r.from.Load()
	return r.Duration <= 0 || from == Never || at-from < int64(r.Duration)
}

// claim takes a start from the plan's number of requests.
func (r *run) claim() (k int, ok bool) {
	if r.exhausted.Load() || r.stop.Err() != nil {
		return 0, false
	}
	n := int(r.claimed.Add(1))
	if r.limit >= 0 && n >= r.limit {
		r.over(r.now())
	}
	return n - 1, r.limit < 0 || n <= r.limit
}

// call sends one request, and gives the moment at which it ended. A request
// that found nothing to send ends the run, unless the run was stopped or its
// duration has passed: who waited for the next request was then only told to go.
func (r *run) call(do Do, t *Turn) (end int64, sent bool) {
	begin := r.now()
	ctx := r.hard
	chosen := r.abandons(t.Index)
	if chosen {
		ctx = r.abandon()
	}
	t.Wait, t.More = r.expired, r.more
	if !do(ctx, t) {
		// Of a stop, the caller's context knows before those made of it.
		if r.stop.Err() == nil && r.expired.Err() == nil && r.hard.Err() == nil {
			r.exhausted.Store(true)
			r.over(r.now())
		}
		return 0, false
	}
	end = r.now()
	t.busy.add(begin, end)
	t.last = max(t.last, t.Scheduled)
	r.late.add(begin - t.Ready)
	if t.Ready > t.Scheduled {
		r.waited.add(t.Ready - t.Scheduled)
	}
	switch {
	case chosen && errors.Is(context.Cause(ctx), ErrAbandoned):
		r.abandoned.Add(1)
	case r.hard.Err() != nil && errors.Is(context.Cause(r.hard), ErrDrained):
		r.cut.Add(1)
	}
	return end, true
}

// abandons says whether the request with the index is one that Cancel chose.
func (r *run) abandons(index int) bool {
	return r.Cancel.Share > 0 && chosen(r.Seed, index, r.Cancel.Share)
}

// chosen draws for an index.
func chosen(seed uint64, index int, share float64) bool {
	key := mix(mix(seed) + forCancels)
	return float64(mix(key^mix(uint64(index)))>>11)/(1<<53) < share
}

// abandon makes the context of a request that is to be cancelled. It outlives
// a request that ends before, as the others do.
func (r *run) abandon() context.Context {
	ctx, cancel := context.WithCancelCause(r.hard)
	time.AfterFunc(r.Cancel.After, func() { cancel(ErrAbandoned) })
	return ctx
}
