package client

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"
)

// Bounds of the rest of a body that is read so that its connection lives on.
const (
	drainTime  = time.Second
	drainBytes = 256 << 10
	settleTime = time.Millisecond
)

// drains reads the rest of bodies, beside the slot's next requests.
type drains struct {
	group *sync.WaitGroup

	mu   sync.Mutex
	open []*drain
	// slow says that an end once came late. Waiting is given up then: the
	// server keeps its ends back, and each wait would cost the next request.
	slow bool
}

type drain struct {
	cancel context.CancelCauseFunc // ends the request, and with it the read
	done   chan struct{}
}

// add takes over a body that was read as far as it mattered; err is what its
// last read said, and cancel ends the request that it belongs to.
func (d *drains) add(body io.ReadCloser, err error, cancel context.CancelCauseFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil || len(d.open) >= idlePerSlot {
		body.Close() // at its end already, broken, or one too many to wait for
		cancel(nil)
		return
	}
	one := &drain{cancel: cancel, done: make(chan struct{})}
	d.open = append(d.open, one)
	d.group.Go(func() { d.run(one, body) })
}

func (d *drains) run(one *drain, body io.ReadCloser) {
	timer := time.AfterFunc(drainTime, func() { one.cancel(errTimeout) })
	_, _ = io.CopyN(io.Discard, body, drainBytes) // what is not at its end is closed, whatever the cause
	body.Close()
	timer.Stop()
	one.cancel(nil)
	d.mu.Lock()
	d.open = slices.DeleteFunc(d.open, func(x *drain) bool { return x == one })
	d.mu.Unlock()
	close(one.done)
}

// settle gives the body of the request before a moment to end, so that its
// connection is there for the next one.
func (d *drains) settle() {
	d.mu.Lock()
	if d.slow || len(d.open) == 0 {
		d.mu.Unlock()
		return
	}
	last := d.open[len(d.open)-1]
	d.mu.Unlock()
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-last.done:
	case <-timer.C:
		d.mu.Lock()
		d.slow = true
		d.mu.Unlock()
	}
}

// abort ends all of them and waits until they are.
func (d *drains) abort() {
	d.mu.Lock()
	open := slices.Clone(d.open)
	d.mu.Unlock()
	for _, x := range open {
		x.cancel(nil)
	}
	for _, x := range open {
		<-x.done
	}
}
