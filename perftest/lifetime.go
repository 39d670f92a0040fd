package perftest

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/bubble"
)

// Why a run's context ended.
var (
	errInterrupted = errors.New("interrupted")
	errDeadline    = errors.New("deadline")
)

// interrupted is set by the first Ctrl-C: what has not started then does not
// start any more.
var interrupted atomic.Bool

// grace is what requests in flight get to finish in when a run is stopped,
// unless the deadline is nearer.
const grace = 2 * time.Second

// lifetime is the context of a run: it ends at Ctrl-C or SIGTERM, and before
// the test's deadline, so early that requests in flight can be ended and the
// result be written. (go test enforces the deadline with a panic that leaves
// nothing.) A second Ctrl-C ends the process as if nobody had listened.
func lifetime(t testing.TB) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(t.Context())
	if bubble.Inside() { // whose time is not the deadline's, and which signals cannot enter
		return ctx, func() { cancel(nil) }
	}
	stopListening := onSignal(func() {
		interrupted.Store(true)
		cancel(errInterrupted)
	})
	forget := onInterrupt(func() { cancel(errInterrupted) })
	cancelDeadline := func() {}
	if d, ok := deadlineOf(t); ok {
		ctx, cancelDeadline = context.WithDeadlineCause(ctx, d.Add(-reserve(time.Until(d))), errDeadline)
	}
	return ctx, func() {
		stopListening()
		forget()
		cancelDeadline()
		cancel(nil)
	}
}

// onSignal calls f at the first Ctrl-C or SIGTERM, until it is stopped.
func onSignal(f func()) (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	var listener sync.WaitGroup
	listener.Go(func() {
		defer signal.Stop(signals)
		select {
		case <-signals:
			f()
		case <-done:
		}
	})
	return func() {
		close(done)
		listener.Wait()
	}
}

// reserve is the time before the deadline at which a run stops sending, of
// which requests in flight get a fifth; the rest is for ends of bodies that
// come late, and to write the result.
func reserve(left time.Duration) time.Duration {
	return min(5*grace, max(left*2/5, 0))
}

// graceWithin is the grace of a run with that much time left.
func graceWithin(t testing.TB) time.Duration {
	if d, ok := deadlineOf(t); ok {
		return reserve(time.Until(d)) / 5
	}
	return grace
}

// mergedBy is when a run that merges the parts of all shards gives that up, to
// say so and where they are; zero without a deadline.
func mergedBy(t testing.TB) time.Time {
	d, ok := deadlineOf(t)
	if !ok {
		return time.Time{}
	}
	return d.Add(-reserve(time.Until(d)) / 3)
}

// deadlineOf is the deadline of a test; benchmarks have none.
func deadlineOf(t testing.TB) (time.Time, bool) {
	if t, has := t.(interface{ Deadline() (time.Time, bool) }); has && !bubble.Inside() {
		return t.Deadline()
	}
	return time.Time{}, false
}
