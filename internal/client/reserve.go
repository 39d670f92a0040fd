package client

import (
	"context"
	"net"
	"sync"
	"time"
)

const (
	// reserveEvery is how often a reserve is looked after, beside after each
	// connection that was taken.
	reserveEvery = 500 * time.Millisecond
	// A connection is replaced from renewAfter on, and used until dropAfter: a
	// server may close it then (llama-server and uvicorn after 5 s).
	renewAfter = 3 * time.Second
	dropAfter  = 5 * time.Second
	// mostReserved bounds the connections in it, and the dials at once.
	mostReserved = 64
)

// reserve holds connections that were opened ahead for whichever slot dials
// next: new slots, and those whose own connection has been idle for too long.
type reserve struct {
	c     *Client
	want  func(taken int) int
	lags  lags          // of TLS handshakes, which are nobody's
	kick  chan struct{} // holds one
	dials sync.WaitGroup

	mu      sync.Mutex
	kept    []reserved // the oldest first
	opening int
	taken   int // since want was asked
	closed  bool
}

type reserved struct {
	nc    net.Conn
	since time.Time
}

// Reserve keeps connections open ahead of need until stop is called, which
// closes those that are left: as many as want says, 64 at most. want is asked twice a
// second, and after each connection that was taken, with the number of those
// since it was asked before. A connection that nobody has taken for 3 s is
// replaced. Reserve waits for the first ones, no
// longer than ctx and Timeouts.Connect allow. It keeps none where the way leads
// through a proxy; and there is one reserve of a client at a time.
func (c *Client) Reserve(ctx context.Context, want func(taken int) int) (stop func()) {
	if c.direct == "" {
		return func() {}
	}
	r := &reserve{c: c, want: want, kick: make(chan struct{}, 1)}
	alive, end := context.WithCancel(context.WithoutCancel(ctx))
	r.fill(alive)
	first := make(chan struct{})
	var keeping sync.WaitGroup
	keeping.Go(func() {
		r.dials.Wait()
		close(first)
		r.keep(alive)
	})
	select {
	case <-first:
	case <-ctx.Done():
	}
	c.reserve.Store(r)
	return func() {
		c.reserve.CompareAndSwap(r, nil)
		end()
		keeping.Wait()
		r.dials.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.closed = true
		for _, k := range r.kept {
			k.nc.Close()
		}
		r.kept = nil
	}
}

// keep looks after the reserve until ctx ends.
func (r *reserve) keep(ctx context.Context) {
	tick := time.NewTicker(reserveEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-r.kick:
		case <-ctx.Done():
			return
		}
		r.fill(ctx)
	}
}

// fill drops what is too old, and opens what is missing.
func (r *reserve) fill(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	want := min(r.want(r.taken), mostReserved)
	r.taken = 0
	for len(r.kept) > 0 && (time.Since(r.kept[0].since) >= dropAfter || len(r.kept) > want) {
		r.kept[0].nc.Close()
		r.kept = r.kept[1:]
	}
	fresh := 0
	for _, k := range r.kept {
		if time.Since(k.since) < renewAfter {
			fresh++
		}
	}
	for n := want - fresh - r.opening; n > 0; n-- {
		r.opening++
		r.dials.Go(func() { r.open(ctx) })
	}
}

// open adds a connection. One that fails is no matter: there is another at the
// next look.
func (r *reserve) open(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, r.c.cfg.Timeouts.Connect)
	defer cancel()
	nc, err := r.c.connect(ctx, "tcp", r.c.direct, &r.lags, nil, r.c.post.URL.Scheme == "https")
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opening--
	switch {
	case err != nil:
	case r.closed:
		nc.Close()
	default:
		r.kept = append(r.kept, reserved{nc, time.Now()})
	}
}

// take gives the oldest connection that is still good to a slot whose reads
// count in l; nil when there is none.
func (r *reserve) take(l *lags) net.Conn {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	defer func() {
		select {
		case r.kick <- struct{}{}:
		default: // it has one to come
		}
	}()
	r.taken++ // also where there was none: more are needed
	for len(r.kept) > 0 {
		nc := r.kept[0].nc
		r.kept = r.kept[1:]
		c := stamping(nc)
		gone, sure := hungUp(c.Conn)
		if gone {
			nc.Close()
			continue
		}
		c.doubted, c.lags = !sure, l
		return nc
	}
	return nil
}
