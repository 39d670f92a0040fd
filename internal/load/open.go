package load

import (
	"context"
	"time"
)

// Policy says what becomes of an arrival when an open loop's bound is reached.
type Policy int

// The policies.
const (
	// Queue lets it wait for a slot, in order of arrival. Its Scheduled time
	// stays that of its arrival, so that the wait is seen.
	Queue Policy = iota
	// Drop does not send it, and counts it.
	Drop
)

// OpenLoop is a load whose requests start at the times of a schedule, whatever
// the server does. A late client moves no time: what is overdue starts at once,
// with the Scheduled time it had.
type OpenLoop struct {
	Options
	// Schedule gives the arrivals of the whole load; the Options' Shard takes
	// its own from them.
	Schedule Schedule
	// InFlight bounds the requests in flight, in this shard; 0 means no bound.
	InFlight int
	// Policy for an arrival that finds the bound reached.
	Policy Policy
}

// Run sends the load, and returns when every Do has. Moments count from epoch,
// which several runs may share. The requests that arrive before the Options'
// Duration, or within its number of Requests, belong to the load: those that wait
// for a slot at the end of it start, unless the Options' Drain or a stop gives
// them up.
func (o OpenLoop) Run(ctx context.Context, epoch time.Time, do Do) Report {
	pacer := o.pacer(epoch) // before the clock starts
	d := &dispatcher{run: begin(ctx, epoch, o.Options), bound: o.InFlight, policy: o.Policy, do: do, quiet: make(chan struct{})}
	if p, ok := pacer.(early); ok {
		d.lead = int64(p.lead())
	}
	d.feed(o.Schedule, pacer)
	pacer.Close()
	d.finish()
	d.report.Offered, d.report.Dropped = d.offered, d.dropped
	d.report.AskedRate = rate(d.offered, d.firstArrival, d.lastArrival)
	d.report.Wake = d.wake.summary()
	return d.end()
}

// feed offers each arrival at its time, until there are to be no more.
func (d *dispatcher) feed(s Schedule, pacer Pacer) {
	start, stop := d.report.Start, d.starts.Done()
	for d.limit < 0 || d.offered < d.limit {
		a, ok := s.Next()
		for ; ok && !d.Shard.Sends(d.First+a.Index); a, ok = s.Next() {
		}
		a.Index += d.First
		last := time.Duration(-1) // when the load is over, if it is before a
		switch p, profile := s.(*arrivals); {
		case !ok && profile:
			last = shorter(d.Duration, p.rate.Length())
		case !ok:
			d.spent = true
			last = 0
		case d.Duration > 0 && a.At >= d.Duration:
			last = d.Duration
		}
		if last >= 0 {
			if pacer.Wait(start+int64(last), stop) {
				d.over(start + int64(last))
				if !d.spent {
					d.noMore()
				}
			}
			return
		}
		due := start + int64(min(a.At, longest))
		if !pacer.Wait(due-d.lead, stop) {
			return
		}
		d.wake.add(d.now() - due)
		d.offer(a, due)
	}
	pacer.Wait(d.lastArrival, stop) // which may be the lead ahead
	d.over(d.now())
}
