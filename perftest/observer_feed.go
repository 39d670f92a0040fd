package perftest

import (
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report"
)

// feeds are a run's observers.
type feeds []*feed

// feed is what stands between a run and one observer. The goroutine that folds
// records puts requests in, and that of the observer takes them out;
// the lock is held for the exchange of two slices.
type feed struct {
	name     string
	observer Observer
	state    func() Snapshot // all but the requests
	wake     chan struct{}   // holds one: half of the buffer is full, or the run has ended
	done     chan struct{}   // closed when the goroutine has ended

	mu      sync.Mutex
	waiting []FinishedRequest
	seen    int // requests that have ended
	missed  int // of those, the ones in no snapshot
	ending  bool
	gone    bool   // it is told nothing more
	failure string // why, when it is its own fault
	stack   string // of its panic
}

// observe starts a goroutine for each observer. state is asked for what a
// snapshot says of the run.
func observe(observers []Observer, state func() Snapshot) feeds {
	var all feeds
	for _, o := range observers {
		f := &feed{name: typeName(o), observer: o, state: state, wake: make(chan struct{}, 1), done: make(chan struct{})}
		go f.run()
		all = append(all, f)
	}
	return all
}

// put hands a request to all observers. It never waits for one.
func (all feeds) put(r *record.Record) {
	if len(all) == 0 {
		return
	}
	one := finished(r)
	for _, f := range all {
		f.put(&one)
	}
}

// stop gives every observer its last snapshot, waits for all of them together
// for no longer than d, and says what went wrong, and where a panic was.
func (all feeds) stop(d time.Duration) (warnings, stacks []string) {
	for _, f := range all {
		f.mu.Lock()
		f.ending = true
		f.mu.Unlock()
		f.nudge()
	}
	limit := time.NewTimer(d)
	defer limit.Stop()
	over := false
	for _, f := range all {
		if !over {
			select {
			case <-f.done:
			case <-limit.C:
				over = true
			}
		}
		warning, stack := f.leave(d)
		if warning != "" {
			warnings = append(warnings, warning)
		}
		if stack != "" {
			stacks = append(stacks, stack)
		}
	}
	return warnings, stacks
}

func (f *feed) put(one *FinishedRequest) {
	f.mu.Lock()
	f.seen++
	if f.gone || len(f.waiting) == ObserverBuffer {
		f.missed++
	} else {
		f.waiting = append(f.waiting, *one)
	}
	half := len(f.waiting) == ObserverBuffer/2
	f.mu.Unlock()
	if half {
		f.nudge()
	}
}

func (f *feed) nudge() {
	select {
	case f.wake <- struct{}{}:
	default: // one is enough
	}
}

// run calls the observer until the run has ended or it has failed.
func (f *feed) run() {
	defer close(f.done)
	tick := time.NewTicker(observeEvery)
	defer tick.Stop()
	room := 0
	for {
		select {
		case <-tick.C:
		case <-f.wake:
		}
		s, ok := f.take(room)
		if !ok {
			return
		}
		room = len(s.Finished)
		if !f.call(s) || s.Last {
			return
		}
	}
}

// take makes a snapshot with all that waits, and leaves room for the next one.
func (f *feed) take(room int) (Snapshot, bool) {
	next := make([]FinishedRequest, 0, room)
	f.mu.Lock()
	finished, missed, last, gone := f.waiting, f.missed, f.ending, f.gone
	if !gone {
		f.waiting = next
	}
	f.mu.Unlock()
	if gone {
		return Snapshot{}, false
	}
	s := f.state()
	s.Finished, s.Missed, s.Last = finished, missed, last
	return s, true
}

// call calls the observer, contains what it does to its goroutine, and reports
// whether it may be called again.
func (f *feed) call(s Snapshot) (ok bool) {
	defer func() {
		if ok {
			return
		}
		failure, stack := "ended its goroutine (t.FailNow and require belong into the test's own)", ""
		if p := recover(); p != nil {
			failure, stack = "panicked: "+report.Escape(fmt.Sprint(p)), string(debug.Stack())
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.failure, f.stack = failure, stack
		f.giveUp()
	}()
	f.observer.Observe(s)
	return true
}

// giveUp tells the observer nothing more: all it has not got is missed. The
// caller holds the lock.
func (f *feed) giveUp() {
	f.gone = true
	f.missed += len(f.waiting)
	f.waiting = nil
}

// leave ends what there is between run and observer, and says how it went.
func (f *feed) leave(waited time.Duration) (warning, stack string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault := f.failure
	select {
	case <-f.done:
	default:
		f.giveUp()
		fault = fmt.Sprintf("had not returned %v after the end of the run, and was left alone", waited)
	}
	switch {
	case fault == "" && f.missed == 0:
		if w, ok := f.observer.(Warner); ok {
			if text := w.Warning(); text != "" {
				return fmt.Sprintf("observer %s: %s", f.name, report.Escape(text)), ""
			}
		}
		return "", ""
	case fault == "":
		fault = "was slower than the run"
	}
	return fmt.Sprintf("observer %s %s: it missed %d of %d requests", f.name, fault, f.missed, f.seen), f.stack
}
