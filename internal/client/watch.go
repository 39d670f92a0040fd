package client

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/record"
)

var errTimeout = errors.New("time-out")

// watch enforces the time-outs of one request after another with one timer. A
// token only moves the limit: the timer fires, sees that it is not due, and is
// set anew, so that an event costs one atomic store.
type watch struct {
	limits Timeouts
	now    func() int64

	connected atomic.Bool
	headers   atomic.Bool
	token     atomic.Int64 // stamp of the last token, Absent before the first

	mu     sync.Mutex
	timer  *time.Timer
	cancel context.CancelCauseFunc // ends the request; nil when none is watched
	sent   int64
	cap    int64  // a further limit, for the body of an answer that failed already
	fired  string // phase of the time-out that ended the request
}

func (w *watch) start(sent int64, cancel context.CancelCauseFunc) {
	w.connected.Store(false)
	w.headers.Store(false)
	w.token.Store(record.Absent)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel, w.sent, w.cap, w.fired = cancel, sent, math.MaxInt64, ""
	l := w.limits
	first := min(l.Connect, l.FirstToken, l.Total)
	if w.timer == nil {
		w.timer = time.AfterFunc(first, w.check)
	} else {
		w.timer.Reset(first)
	}
}

// first notes the first token. Only here can the limit come nearer.
func (w *watch) first(at int64) {
	w.token.Store(at)
	w.rearm(math.MaxInt64)
}

// within ends the request in d at the latest.
func (w *watch) within(d time.Duration) { w.rearm(w.now() + int64(d)) }

func (w *watch) rearm(limit int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cap = min(w.cap, limit)
	if w.cancel != nil {
		due, _ := w.due()
		w.timer.Reset(time.Duration(due - w.now()))
	}
}

// stop ends the watch and gives the phase of the time-out, empty if none fired.
func (w *watch) stop() (fired string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel = nil
	w.timer.Stop()
	return w.fired
}

// check runs when the timer fires. It may come late, in the time of a later
// request: it then only sets the timer for that one.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel == nil || w.fired != "" {
		return
	}
	due, phase := w.due()
	if left := due - w.now(); left > 0 {
		w.timer.Reset(time.Duration(left))
		return
	}
	w.fired = phase
	w.cancel(errTimeout)
}

// due is the next limit as things stand, and what passing it is called.
func (w *watch) due() (at int64, phase string) {
	phase = w.phase()
	switch phase {
	case record.PhaseConnect:
		at = w.sent + int64(min(w.limits.Connect, w.limits.FirstToken))
	case record.PhaseHeaders, record.PhaseFirstToken:
		at = w.sent + int64(w.limits.FirstToken)
	default:
		at = w.token.Load() + int64(w.limits.BetweenTokens)
	}
	if total := w.sent + int64(w.limits.Total); total < at {
		at, phase = total, record.PhaseTotal
	}
	return min(at, w.cap), phase
}

// phase is how far the request has come.
func (w *watch) phase() string {
	switch {
	case !w.connected.Load():
		return record.PhaseConnect
	case !w.headers.Load():
		return record.PhaseHeaders
	case w.token.Load() == record.Absent:
		return record.PhaseFirstToken
	default:
		return record.PhaseBetweenTokens
	}
}
