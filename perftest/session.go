package perftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/load"
)

// converse sends a request and, where it is the first turn of a conversation,
// the turns after it: each with the server's real answer to the one before,
// and after the time that a user thinks. A conversation is one request of the
// load, which has one turn of it in flight, and no later turn starts after the
// load's Duration or profile.
// It reports false when not even the first turn was sent.
func (d *driver) converse(ctx context.Context, t *load.Turn, p *prepared) bool {
	slot := d.slots.get(t.Slot)
	turn := startOf(t)
	for {
		entered := d.enterTurn(ctx, t, &turn)
		if entered == notEntered {
			return turn.turn > 1
		}
		d.exchange(ctx, slot, t, turn, p)
		if entered == inPlace {
			<-d.places
		}
		next, ok := d.then(slot, p, &turn)
		if !ok {
			return true
		}
		if !d.think(ctx, t.More, turn.scheduled) {
			return true
		}
		p = next
	}
}

// start is when and as what a request starts.
type start struct {
	turn             int // of its conversation, from 1
	scheduled, ready int64
}

func startOf(t *load.Turn) start { return start{1, t.Scheduled, t.Ready} }

// then prepares the next turn. It is scheduled for the moment after the answer
// at which the user has thought.
func (d *driver) then(slot *client.Slot, p *prepared, turn *start) (_ *prepared, more bool) {
	defer func() {
		if p := recover(); p != nil {
			d.broken(fmt.Errorf("workload: it panicked: %v", p))
			more = false
		}
	}()
	if p.then == nil {
		return nil, false
	}
	ended := d.now()
	answer, ok := slot.Answer()
	if !ok {
		return nil, false
	}
	req, ok := p.then(answer)
	if !ok {
		return nil, false
	}
	next, err := d.encoded(req)
	if err != nil {
		d.broken(err)
		return nil, false
	}
	*turn = start{turn: turn.turn + 1, scheduled: ended + int64(min(max(req.Think, 0), mostTime))}
	turn.ready = turn.scheduled
	return next, true
}

// think waits for a moment, and reports whether the load goes on then.
func (d *driver) think(ctx, more context.Context, until int64) bool {
	timer := time.NewTimer(time.Duration(until - d.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-more.Done():
	case <-ctx.Done():
	}
	d.noteCut()
	return more.Err() == nil && ctx.Err() == nil
}

// noteCut keeps that a conversation was under way when the run was stopped.
func (d *driver) noteCut() {
	if d.stop.Err() != nil {
		d.cut.Store(true)
	}
}

// entry says how a turn got past the bounds of the scenario.
type entry int

const (
	notEntered entry = iota // the load has ended
	free                    // there is no bound on turns in flight
	inPlace                 // it has a place among them, to be given back
)

// enterTurn waits until a turn may be sent: a later one until it may wait for
// its first token, as the load has seen to for the first one, and each for a
// place among the turns in flight. The wait moves the moment at which the turn
// might start. (All take the two in this order, so that none waits for one that
// waits for it.)
func (d *driver) enterTurn(ctx context.Context, t *load.Turn, turn *start) entry {
	end := t.Wait
	if turn.turn > 1 {
		end = t.More
		if d.plan.PrefillConcurrency > 0 && !d.warmup.Load() {
			waited, ok := t.Again(ctx, end)
			if !ok {
				d.noteCut()
				return notEntered
			}
			if waited {
				turn.ready = d.now()
			}
		}
	}
	if d.places == nil {
		return free
	}
	select {
	case d.places <- struct{}{}:
		return inPlace
	default:
	}
	select {
	case d.places <- struct{}{}:
		turn.ready = d.now()
		return inPlace
	case <-ctx.Done():
		if turn.turn == 1 && errors.Is(context.Cause(ctx), load.ErrAbandoned) {
			turn.ready = d.now()
			return free // its user has left the queue: it is sent to nobody, and counted
		}
	case <-end.Done():
	}
	d.noteCut()
	return notEntered
}

// now is the time in nanoseconds after the epoch.
func (d *driver) now() int64 { return int64(time.Since(d.epoch)) }

// broken keeps the first error of a workload's later turns.
func (d *driver) broken(err error) { d.turnErr.CompareAndSwap(nil, &err) }
