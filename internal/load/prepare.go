package load

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// Preparer makes things ahead of time, in one goroutine and in order, so that
// who needs one finds it ready.
type Preparer[T any] struct {
	items   chan T
	first   int           // how many items Ready waits for
	ready   chan struct{} // closed once they are there, or all there are
	stop    context.CancelFunc
	running sync.WaitGroup
	starved atomic.Int64
	held    atomic.Int64  // bytes that are ahead
	full    atomic.Bool   // they are too many, so that taking one wakes
	taken   chan struct{} // of one that was taken since

	mu  sync.Mutex
	err error
}

// Sized is what has a size in bytes, such as a request with pictures: no more
// are made ahead while those that wait have [MostBytes] or more.
type Sized interface{ Bytes() int }

// MostBytes bounds the memory of what waits, but for the one made last: enough
// for 0.4 seconds of a network of 10 Gbit/s.
const MostBytes = 512 << 20

// Prepare starts to call next, and keeps up to depth (at least 1) of its
// results ahead of who takes them, and fewer where they are large; Ready waits
// for the first ones, at most depth. It goes on until next fails, which is
// [io.EOF] when there are no more, until ctx ends or until Close. The Preparer
// has to be closed.
func Prepare[T any](ctx context.Context, depth, first int, next func() (T, error)) *Preparer[T] {
	ctx, stop := context.WithCancel(ctx)
	depth = max(depth, 1)
	p := &Preparer[T]{items: make(chan T, depth), first: min(max(first, 1), depth), ready: make(chan struct{}), stop: stop, taken: make(chan struct{}, 1)}
	p.running.Go(func() { p.run(ctx, next) })
	return p
}

func (p *Preparer[T]) run(ctx context.Context, next func() (T, error)) {
	defer close(p.items)
	ready := sync.OnceFunc(func() { close(p.ready) })
	defer ready()
	made := 0
	for ctx.Err() == nil {
		if p.held.Load() >= MostBytes {
			ready()
			p.wait(ctx)
			continue
		}
		item, err := next()
		if err != nil {
			p.fail(err)
			return
		}
		p.held.Add(size(item))
		select {
		case p.items <- item:
		case <-ctx.Done():
			return
		}
		if made++; made == p.first {
			ready()
		}
	}
}

// wait waits until less is ahead, or for the end of ctx.
func (p *Preparer[T]) wait(ctx context.Context) {
	p.full.Store(true)
	defer p.full.Store(false)
	for p.held.Load() >= MostBytes {
		select {
		case <-p.taken:
		case <-ctx.Done():
			return
		}
	}
}

// leave counts an item that is no longer ahead.
func (p *Preparer[T]) leave(item T) {
	n := size(item)
	if n == 0 {
		return
	}
	p.held.Add(-n)
	if p.full.Load() {
		select {
		case p.taken <- struct{}{}:
		default: // it has been told
		}
	}
}

func size[T any](item T) int64 {
	if s, ok := any(item).(Sized); ok {
		return int64(s.Bytes())
	}
	return 0
}

// Ready waits until the first items are prepared, or all that there are, so
// that a burst at the start finds them. It returns early when ctx ends.
func (p *Preparer[T]) Ready(ctx context.Context) {
	select {
	case <-p.ready:
	case <-ctx.Done():
	}
}

// Take gives the next item, in the order in which they were made. It gives
// false when there are no more, for the reason that Err gives, and when ctx
// ends while it waits.
func (p *Preparer[T]) Take(ctx context.Context) (T, bool) {
	select {
	case item, ok := <-p.items:
		if ok {
			p.leave(item)
		}
		return item, ok
	default:
	}
	select {
	case item, ok := <-p.items:
		if ok {
			p.leave(item)
			p.starved.Add(1)
		}
		return item, ok
	case <-ctx.Done():
		var none T
		return none, false
	}
}

// Starved is how many items were not ready when they were asked for. Each
// made a request late, through no fault of the server.
func (p *Preparer[T]) Starved() int { return int(p.starved.Load()) }

// Err is the error that ended the preparation; nil while it goes on, after
// [io.EOF] and when it was stopped.
func (p *Preparer[T]) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

func (p *Preparer[T]) fail(err error) {
	if err == io.EOF {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// CloseWithin is Close for no longer than d: it gives false when a call of
// next goes on after that, which is then left alone.
func (p *Preparer[T]) CloseWithin(d time.Duration) bool {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		p.Close()
	}()
	late := time.NewTimer(d)
	defer late.Stop()
	select {
	case <-closed:
		return true
	case <-late.C:
		return false
	}
}

// Close ends the preparation and waits for a call of next that is under way.
// What was prepared can still be taken.
func (p *Preparer[T]) Close() {
	p.stop()
	p.running.Wait()
}
