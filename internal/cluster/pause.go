package cluster

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// Pause implements [meet.Root].
func (r *root) Pause(ctx context.Context) ([]meet.Part, bool) {
	for {
		r.mu.Lock()
		changed, all := r.changed, r.why == nil && r.stopped.IsZero()
		var parts []meet.Part
		for i, p := range r.peers {
			switch {
			case i == 0:
			case p == nil || p.end != nil || p.lost != "":
				all = false
			case p.paused != nil:
				parts = append(parts, r.part(i))
			}
		}
		r.begun = true
		r.mu.Unlock()
		if !all || len(parts) == len(r.peers)-1 {
			return parts, all
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, false
		}
	}
}

// Resume implements [meet.Root]. It does not wait for the network.
func (r *root) Resume(requests int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = r.last || requests == 0
	for _, p := range r.peers {
		if p != nil && p.paused != nil {
			r.resume(p, requests)
		}
	}
}

// resume answers a shard that pauses. The caller holds the lock.
func (r *root) resume(p *peer, requests int) {
	p.paused = nil
	r.work.Go(func() {
		if err := p.conn.sendJSON(kindResume, resume{requests}); err != nil {
			r.gone(p, err)
		}
	})
}

// pause notes that a shard waits for more requests, and says why it is lost where
// it is.
func (r *root) pause(p *peer, so *end) (lost string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case p.end != nil || p.paused != nil:
		return "it paused twice"
	case so.Problem != "":
		return so.Problem
	}
	p.paused = so
	if r.last {
		r.resume(p, 0)
	}
	r.change()
	return ""
}

// Pause implements [meet.Member].
func (m *member) Pause(ctx context.Context, d meet.Delivery) (int, error) {
	e := end{Result: d.Result, Taken: d.Taken, Problem: d.Problem}
	if t := m.tail; t != nil {
		sent := make(chan int64, 1)
		select {
		case t.flush <- sent:
		case <-t.done:
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
		select {
		case e.Bytes = <-sent:
		case <-t.done:
			return 0, fmt.Errorf("its records could not be sent: %w", t.err)
		}
	}
	if err := m.conn.sendJSON(kindPause, e); err != nil {
		select {
		case <-m.gone: // its error says more
			return 0, m.Why()
		case <-time.After(farewell):
			return 0, err
		}
	}
	select {
	case s := <-m.resumes:
		return s.Requests, nil
	case <-m.ended:
		return 0, m.Why()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// resumed takes what shard 0 says of a pause.
func (m *member) resumed(data []byte) error {
	s, err := decodeJSON[resume](data)
	if err != nil {
		return err
	}
	if s.Requests < 0 {
		return fmt.Errorf("shard 0 lets the run go on by %d requests", s.Requests)
	}
	select {
	case m.resumes <- s:
		return nil
	default:
		return errors.New("shard 0 sent a resume that nobody waits for")
	}
}
