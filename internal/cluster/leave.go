package cluster

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// Close implements [meet.Meeting].
func (r *root) Close(why string) {
	r.mu.Lock()
	tell := !r.over
	r.over = true
	r.mu.Unlock()
	if tell {
		k := kindFailed
		if ended := r.Why(); ended != nil {
			if why = ended.Error(); errors.As(ended, new(meet.Gone)) {
				k = kindGone
			}
		}
		r.tell(farewell, func(p *peer) error { return p.conn.send(k, []byte(cleaned(why))) })
	}
	r.cancel()
	_ = r.listener.Close()
	r.mu.Lock()
	open := slices.Clone(r.pending)
	for _, p := range r.peers {
		if p != nil {
			open = append(open, p.conn)
		}
	}
	r.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	r.work.Wait()
}

// farewell is how long is waited for a shard to hear the last that it is told.
const farewell = 2 * time.Second

// tell tells each shard the last, and waits a little for them to go: a
// connection that is closed with something unread takes what was sent with it.
func (r *root) tell(wait time.Duration, last func(*peer) error) {
	limit := time.NewTimer(wait)
	defer limit.Stop()
	var told sync.WaitGroup
	done := make(chan struct{})
	for _, p := range r.met() {
		told.Go(func() {
			if last(p) == nil {
				select {
				case <-p.gone:
				case <-done:
				}
			}
		})
	}
	all := make(chan struct{})
	go func() { told.Wait(); close(all) }()
	select {
	case <-all:
	case <-limit.C:
		for _, p := range r.met() {
			_ = p.conn.Close() // ends a send that hangs
		}
	}
	close(done)
	<-all
}

// met are the shards that have come.
func (r *root) met() (met []*peer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p != nil {
			met = append(met, p)
		}
	}
	return met
}
