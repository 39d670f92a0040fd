package load

import (
	"context"
	"slices"
	"sync"
	"time"
)

// ClosedLoop is a load of slots, each of which has one request in flight: the
// end of one starts the next at once, or after a time to think. There is no start
// after the Options' Requests or Duration or the end of the Profile, after a Do
// that returned false, and after the end of the context. Requests in flight are
// then waited for, within the Options' Grace and Drain.
type ClosedLoop struct {
	Options
	// Concurrency is the number of slots, those of all shards together.
	Concurrency int
	// RampUp says how they start.
	RampUp RampUp
	// Profile is the concurrency over time, in the place of Concurrency and
	// RampUp when it is not nil. Slots start on time; a slot that is no longer
	// wanted finishes its request. Slot k sends while the profile, rounded to
	// a whole number, is k+1 or more.
	Profile Profile
	// Think is the time between the end of an answer and the slot's next
	// request, which is scheduled for the end of it.
	Think Think
	// Steady keeps both ends of the loop out of the plan: the Options' Requests
	// and Duration count from the first request after the start burst, and when
	// they are over the slots stay busy with padding until the last measured
	// request has ended. It has no meaning with a Profile.
	Steady bool
}

// Slots is the number of slots that this shard has at most.
func (c ClosedLoop) Slots() int { return len(c.spans()) }

// SlotsWithin is the number of slots that this shard starts in the first d of
// the load; they are the ones with the lowest numbers.
func (c ClosedLoop) SlotsWithin(d time.Duration) (n int) {
	for _, spans := range c.spans() {
		if spans[0].begin > d {
			break
		}
		n++
	}
	return n
}

// StartsAfter are the times, in order, at which this shard's slots start, or
// start again, later than d after the start of the load.
func (c ClosedLoop) StartsAfter(d time.Duration) (at []time.Duration) {
	for _, spans := range c.spans() {
		for _, s := range spans {
			if s.begin > d {
				at = append(at, s.begin)
			}
		}
	}
	slices.Sort(at)
	return at
}

// spans are those of the shard's slots.
func (c ClosedLoop) spans() [][]span {
	var all [][]span
	if c.Profile != nil {
		all = profileSpans(c.Profile)
	} else {
		all = c.RampUp.spans(max(c.Concurrency, 0))
	}
	mine := all[:0]
	for k, spans := range all {
		if c.Shard.takes(k) {
			mine = append(mine, spans)
		}
	}
	return mine
}

// Run sends the load, and returns when every Do has. Moments count from epoch,
// which several runs may share. A plan without any slot is a mistake of the
// caller's, and panics.
func (c ClosedLoop) Run(ctx context.Context, epoch time.Time, do Do) Report {
	if c.Profile == nil && c.Concurrency < 1 {
		panic("load: a closed loop needs a Concurrency of 1 or more")
	}
	slots := c.spans()
	if c.Profile != nil {
		c.Duration = shorter(c.Duration, c.Profile.Length())
	}
	l := &closed{run: begin(ctx, epoch, c.Options), think: c.Think, gate: newGate(c.FirstTokens)}
	if c.Steady && c.Profile == nil {
		l.steady = newSteady(l.run, c.RampUp, c.Concurrency, len(slots))
	}
	l.alarm = newAlarm(l.run)
	l.asked = func(window time.Duration) float64 { return asked(slots, window) }
	if c.Duration > 0 && l.steady == nil {
		l.watch.Go(l.pastDuration)
	}
	var running sync.WaitGroup
	for k, spans := range slots {
		running.Go(func() { l.slot(k, spans, do) })
	}
	running.Wait()
	l.alarm.close()
	l.steady.close(&l.report)
	return l.end()
}

// shorter is the shorter of two lengths, of which 0 is none.
func shorter(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}

// closed is a closed loop that goes on.
type closed struct {
	*run
	think Think
	gate  gate
	alarm *alarm

	steady *steady // nil when the plan has both ends in it
}

// slot sends one request after the other. Between them there is nothing but a
// look at the clock and at the plan.
func (l *closed) slot(slot int, spans []span, do Do) {
	t := &Turn{Slot: slot, last: Never}
	if l.gate != nil {
		t.permit = l.gate
	}
	defer l.leave(t)
	var thoughts *stream
	if l.think.Exponential {
		thoughts = newStream(l.Seed, forThinks)
	}
	defer l.pad(t, do)
	wake := make(chan struct{}, 1)
	start := l.report.Start
	free, now := start, start
	for k := 0; ; k++ {
		due, left, ok := turn(spans, time.Duration(free-start))
		if !ok {
			return
		}
		spans = left
		t.Scheduled = start + int64(due)
		if !l.within(t.Scheduled) || t.Scheduled > now && !l.alarm.wait(t.Scheduled, wake) {
			return
		}
		waited, ok := l.gate.again(l.starts.Done(), nil)
		if !ok {
			return
		}
		t.first, t.Ready = false, t.Scheduled
		if waited {
			t.Ready = l.now()
		}
		if !l.within(t.Ready) {
			t.FirstToken() // gives the place back
			return
		}
		n, ok := l.next(t, k)
		t.Index = l.index(n)
		if ok {
			now, ok = l.call(do, t)
		}
		t.FirstToken() // if it never came
		l.ended(t, ok)
		if !ok {
			return
		}
		free = now + int64(l.think.after(thoughts, l.Shard.global(slot), k))
	}
}
