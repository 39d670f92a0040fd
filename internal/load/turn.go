package load

import (
	"context"
	"time"
)

// Part is the part of a load that a request belongs to.
type Part uint8

// The parts. Only a [ClosedLoop] that is Steady has more than the first.
const (
	Measured Part = iota // what the plan asks for
	Starting             // from the start burst: the first of its slot, or sent before all slots had started
	Padding              // sent after the last measured one, while those before it are in flight
)

// Turn is one request's start. It belongs to its slot, which uses it again for
// the next request: nothing of it may be kept when [Do] returns.
type Turn struct {
	// Slot that sends it, from 0. A slot has one request at a time.
	Slot int
	// Part of the load that it belongs to.
	Part Part
	// Index is its position in its part of the whole load, from 0. Those of a
	// closed loop are in order of their starts within a shard.
	Index int
	// Scheduled is when it should have started, in nanoseconds after the
	// epoch: its arrival, or when its slot became free (and had thought).
	Scheduled int64
	// Ready is when it might start: Scheduled, or the end of its wait for a bound
	// of the plan.
	Ready int64
	// Wait is done when it is no use to wait any longer for something to send.
	Wait context.Context
	// More is done when no further request may be sent in the turn, as those of
	// a conversation are: the plan's duration has passed, or the run was stopped.
	More context.Context
	// Item is what is to be sent, where the schedule knows it.
	Item any

	permit permit // of those who wait for their first token; nil when they are not counted
	first  bool   // the first token was told

	busy busy
	last int64 // latest Scheduled time of the slot
}

// permit counts those who wait for their first token.
type permit interface {
	firstToken()
	// again waits for a place, and gives false when one of the two ends first.
	again(one, other <-chan struct{}) (waited, ok bool)
}

// FirstToken says that the request's first token has come. Calls after the first
// do nothing, and a request that ends without one needs none. It must be called
// by the goroutine of [Do], and costs nothing when the load has no cap.
func (t *Turn) FirstToken() {
	if t.first {
		return
	}
	t.first = true
	if t.permit != nil {
		t.permit.firstToken()
	}
}

// Again lets a Do send a further request in its turn, once the one before has
// ended: it waits until that may wait for its first token, and says whether it
// had to. It gives false when one of the contexts ends before. It must be called by the
// goroutine of [Do].
func (t *Turn) Again(one, other context.Context) (waited, ok bool) {
	t.FirstToken() // of the request before, if it never came
	if t.permit == nil {
		return false, true
	}
	if waited, ok = t.permit.again(one.Done(), other.Done()); ok {
		t.first = false
	}
	return waited, ok
}

// gate is the permit of a closed loop: a place for each request that waits.
type gate chan struct{}

func newGate(places int) gate {
	if places <= 0 {
		return nil
	}
	return make(gate, places)
}

// again implements [permit]. Places are given in the order in which they were asked for.
func (g gate) again(one, other <-chan struct{}) (waited, ok bool) {
	if g == nil {
		return false, true
	}
	select {
	case g <- struct{}{}:
		return false, true
	default:
	}
	select {
	case g <- struct{}{}:
		return true, true
	case <-one:
	case <-other:
	}
	return true, false
}

func (g gate) firstToken() { <-g }

// busy is how long a slot had a request in flight: all before the last one, and
// that one's begin and end.
type busy struct {
	sum, begin, end int64
	count           int
	first           int64 // begin of the first one
}

func (b *busy) add(begin, end int64) {
	if b.count == 0 {
		b.first = begin
	}
	b.sum += b.end - b.begin
	b.begin, b.end = begin, end
	b.count++
}

// until is the time in flight before a moment after which no request began.
func (b *busy) until(moment int64) time.Duration {
	return time.Duration(b.sum + max(min(b.end, moment)-b.begin, 0))
}
