package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// lead times of a start: the least, and how many times the largest bound of a
// clock, so that its message has come when it is due.
const (
	leastLead = 50 * time.Millisecond
	leadTrips = 8
)

// Begin implements [meet.Meeting]. When all are ready it estimates each shard's
// clock, and gives each the same instant on its own.
func (r *root) Begin(ctx context.Context, phase string) (instant time.Time, err error) {
	if err := r.gather(ctx, phase); err != nil {
		return instant, err
	}
	peers := r.met()
	estimates, err := r.measureAll(ctx, peers)
	if err != nil {
		return instant, err
	}
	lead := leastLead
	r.mu.Lock()
	for i, p := range peers {
		if !r.begun { // a part of the load that comes later moves no stamp of those before it
			p.first = estimates[i]
		}
		lead = max(lead, leadTrips*estimates[i].bound)
	}
	r.mu.Unlock()
	at := r.cfg.clock() + int64(lead)
	for i, p := range peers {
		if err := p.conn.sendJSON(kindStart, start{phase, at + int64(estimates[i].offset)}); err != nil {
			r.gone(p, err)
		}
	}
	instant = sleepUntil(ctx, r.ended, r.cfg.clock, at)
	if err := r.Why(); err != nil {
		return instant, err
	}
	return instant, context.Cause(ctx)
}

// gather waits until all shards are ready for a phase.
func (r *root) gather(ctx context.Context, phase string) error {
	late := time.NewTimer(r.cfg.patience)
	defer late.Stop()
	wonder := time.NewTimer(wonderAfter)
	defer wonder.Stop()
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if err := r.Why(); err != nil {
			return err
		}
		who := r.missing(phase)
		if who == "" {
			return nil
		}
		missing := fmt.Errorf("%s, within %v%s: see its log (was it started, with %s=%s?), or wait longer with %s", who, r.cfg.patience, r.explained(), envRendezvous, r.cfg.address, envWait)
		select {
		case <-changed:
		case <-wonder.C:
			r.run.Wait("waiting for all shards at %s, for %v at the most: %s%s", r.cfg.address, r.cfg.patience, who, r.explained())
		case <-late.C:
			gone := meet.Gone{Why: missing}
			r.mu.Lock()
			r.end(gone)
			r.mu.Unlock()
			return gone
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), missing)
		}
	}
}

// missing says which shards are not where the others wait; empty when all are.
func (r *root) missing(phase string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var away, late []string
	for i, p := range r.peers {
		switch {
		case i == 0:
		case p == nil:
			away = append(away, fmt.Sprint(i))
		case p.ready != phase:
			late = append(late, fmt.Sprintf("shard %d at %s is not ready for the %s", i, p.from, phase))
		}
	}
	switch n := len(away); {
	case n == 1:
		late = append([]string{"shard " + away[0] + " has not come"}, late...)
	case n > mostNamed:
		late = append([]string{fmt.Sprintf("shards %s and %d more have not come", strings.Join(away[:mostNamed], ", "), n-mostNamed)}, late...)
	case n > 1:
		late = append([]string{"shards " + strings.Join(away, ", ") + " have not come"}, late...)
	}
	if len(late) == 0 {
		return ""
	}
	if n := len(late) - mostNamed; n > 0 {
		late = append(late[:mostNamed], fmt.Sprintf("%d more are not", n))
	}
	return fmt.Sprintf("%s, of %d", strings.Join(late, "; "), len(r.peers))
}

// mostNamed bounds the shards that a message names one by one.
const mostNamed = 16

// explained is what may be why shards do not come.
func (r *root) explained() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(append([]string{""}, r.remarks...), "; ")
}

// measureAll estimates the clocks of all shards at once.
func (r *root) measureAll(ctx context.Context, peers []*peer) ([]estimate, error) {
	all, errs := make([]estimate, len(peers)), make([]error, len(peers))
	var work sync.WaitGroup
	for i, p := range peers {
		work.Go(func() { all[i], errs[i] = p.measure(ctx, r.cfg.clock) })
	}
	work.Wait()
	for i, err := range errs {
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return all, context.Cause(ctx)
		default:
			r.gone(peers[i], err)
			return all, r.Why()
		}
	}
	return all, nil
}

// Epochs implements [meet.Root].
func (r *root) Epochs() []time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]time.Duration, len(r.peers))
	for i, p := range r.peers {
		if p != nil {
			all[i] = r.since(p)
		}
	}
	return all
}

// since is how long after shard 0's epoch a shard's is. The caller holds the
// lock.
func (r *root) since(p *peer) time.Duration {
	return time.Duration(p.epoch-r.cfg.stamp(r.run.Epoch)) - p.first.offset
}

// Others implements [meet.Root].
func (r *root) Others() (sum meet.Live) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p != nil {
			sum = sum.Plus(p.live)
		}
	}
	return sum
}

// Stop implements [meet.Root]. It does not wait for the network.
func (r *root) Stop(why string) {
	r.mu.Lock()
	again := !r.stopped.IsZero() || r.over
	if !again {
		r.stopped = time.Now()
		r.change()
	}
	r.mu.Unlock()
	if again {
		return
	}
	for _, p := range r.met() {
		r.work.Go(func() {
			if err := p.conn.send(kindStop, []byte(cleaned(why))); err != nil {
				r.gone(p, err)
			}
		})
	}
}

// Collect implements [meet.Root].
func (r *root) Collect() []meet.Part {
	for {
		r.mu.Lock()
		changed, stopped := r.changed, r.stopped
		var waiting []*peer
		for _, p := range r.peers {
			if p != nil && p.end == nil && p.lost == "" {
				waiting = append(waiting, p)
			}
		}
		r.mu.Unlock()
		if len(waiting) == 0 {
			break
		}
		var limit <-chan time.Time
		if !stopped.IsZero() {
			limit = time.After(time.Until(stopped.Add(2 * r.run.Grace)))
		}
		select {
		case <-changed:
		case <-limit:
			for _, p := range waiting {
				r.lose(p, fmt.Sprintf("it had not delivered %v after the stop", 2*r.run.Grace))
			}
		}
	}
	r.settle()
	r.mu.Lock()
	defer r.mu.Unlock()
	var parts []meet.Part
	for i := range r.peers {
		if i > 0 {
			parts = append(parts, r.part(i))
		}
	}
	return parts
}

// settle estimates the clocks again of those that are still there, and waits
// for the files of those that are not.
func (r *root) settle() {
	ctx, cancel := context.WithTimeout(r.ctx, farewell)
	defer cancel()
	var work sync.WaitGroup
	for _, p := range r.met() {
		work.Go(func() {
			r.mu.Lock()
			lost := p.lost != ""
			r.mu.Unlock()
			if lost {
				<-p.gone
				return
			}
			if e, err := p.measure(ctx, r.cfg.clock); err == nil {
				r.mu.Lock()
				p.last = e
				r.mu.Unlock()
			}
		})
	}
	work.Wait()
}

// Announce implements [meet.Root].
func (r *root) Announce(m meet.Merged) {
	r.mu.Lock()
	r.over = true
	limit := handshakeTimeout // what a machine that has much to do may need to take it
	if !r.stopped.IsZero() {
		limit = farewell // the test's deadline may be near
	}
	r.mu.Unlock()
	r.tell(limit, func(p *peer) error { return p.conn.sendJSON(kindMerged, m) })
}

// lossOf says in words how a connection ended.
func lossOf(err error, silence time.Duration) string {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fmt.Sprintf("nothing was heard of it for %v: its machine, or the network to it, is gone", silence)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.Is(err, io.ErrClosedPipe),
		errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, errGone):
		return "its connection was lost: the process ended, or the network was cut"
	}
	return err.Error()
}
