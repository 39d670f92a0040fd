package perftest

import (
	"context"
	"fmt"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/load"
)

// converse sends a request and, where it is the first turn of a conversation,
// the turns after it: each with the server's real answer to the one before,
// and after the time that a user thinks. A conversation is one request of the
// load, which has one turn of it in flight, and no turn starts after its end.
// It reports false when not even the first turn was sent.
func (d *driver) converse(ctx context.Context, t *load.Turn, p *prepared) bool {
	slot := d.slots.get(t.Slot)
	turn := startOf(t)
	for {
		if !d.enterTurn(ctx, &turn) {
			d.cut.Store(true)
			return turn.turn > 1
		}
		d.exchange(ctx, slot, t, turn, p)
		d.leaveTurn()
		next, ok := d.then(slot, p, &turn)
		if !ok {
			return true
		}
		if !d.think(ctx, t.Wait, turn.scheduled) {
			if d.stop.Err() != nil {
				d.cut.Store(true)
			}
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
	*turn = start{turn: turn.turn + 1, scheduled: ended + int64(max(req.Think, 0))}
	turn.ready = turn.scheduled
	return next, true
}

// think waits for a moment, and reports whether the load goes on then.
func (d *driver) think(ctx, load context.Context, until int64) bool {
	timer := time.NewTimer(time.Duration(until - d.now()))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-load.Done():
	case <-ctx.Done():
	}
	return load.Err() == nil && ctx.Err() == nil
}

// enterTurn waits for a place among the turns in flight, which moves the
// moment at which the turn might start.
func (d *driver) enterTurn(ctx context.Context, turn *start) bool {
	if d.places == nil {
		return true
	}
	select {
	case d.places <- struct{}{}:
		return true
	default:
	}
	select {
	case d.places <- struct{}{}:
		turn.ready = d.now()
		return true
	case <-ctx.Done():
	case <-d.stop.Done():
	}
	return false
}

func (d *driver) leaveTurn() {
	if d.places != nil {
		<-d.places
	}
}

// now is the time in nanoseconds after the epoch.
func (d *driver) now() int64 { return int64(time.Since(d.epoch)) }

// broken keeps the first error of a workload's later turns.
func (d *driver) broken(err error) { d.turnErr.CompareAndSwap(nil, &err) }
