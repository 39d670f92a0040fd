package client

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	// stepBound is from where on a change of the wall clock against the
	// monotonic one is a step. Slewing moves both alike (adjtimex(2)); what is
	// less is the time between the two readings.
	stepBound = 10 * time.Microsecond
	// samples of the two clocks are taken together, and the closest one
	// counts: the others may have been interrupted between the readings.
	samples = 9
)

// wall maps the wall clock, in which the kernel stamps, to time after the
// epoch. Their distance changes only when the wall clock is set.
type wall struct {
	read   func() (wall, mono int64) // both clocks, in nanoseconds
	offset atomic.Int64              // wall minus mono
	mu     sync.Mutex
}

func newWall(epoch time.Time) *wall {
	w := &wall{read: func() (int64, int64) {
		now := time.Now() // reads one clock right after the other
		return now.UnixNano(), int64(now.Sub(epoch))
	}}
	w.offset.Store(w.sample())
	return w
}

// sample is the distance of the clocks.
func (w *wall) sample() int64 {
	var offset int64
	closest := int64(-1)
	for range samples {
		_, before := w.read()
		wall, mono := w.read()
		_, after := w.read()
		if took := after - before; closest < 0 || took < closest {
			closest, offset = took, wall-mono
		}
	}
	return offset
}

// now reads the clocks, and follows the wall clock if it was set.
func (w *wall) now() (mono, offset int64) {
	wall, mono := w.read()
	offset = w.offset.Load()
	if apart(wall-mono, offset) {
		offset = w.follow()
	}
	return mono, offset
}

func (w *wall) follow() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Mostly this goroutine was just held up between the two readings.
	if now := w.sample(); apart(now, w.offset.Load()) {
		w.offset.Store(now)
	}
	return w.offset.Load()
}

func apart(a, b int64) bool { return max(a-b, b-a) > int64(stepBound) }

// stamps places the kernel's stamps of one connection.
type stamps struct {
	wall   *wall
	offset int64 // the one under which its stamps are trusted
	last   int64 // the latest stamp given
}

func newStamps(w *wall) stamps { return stamps{wall: w, offset: w.offset.Load()} }

// at is when data that was just read had come, after the epoch, given the
// kernel's stamp in wall-clock nanoseconds (0 when there is none), and whether
// the reader had to wait for the data. lag is the time since then, negative
// when the kernel's stamp is missing or cannot be: then the read's return is
// the time of arrival.
//
// A stamp from about the time at which the wall clock was set may be of the old
// time or of the new one, so none is trusted until the reader has caught up.
func (s *stamps) at(kernel int64, waited bool) (at, lag int64) {
	now, offset := s.wall.now()
	at, lag = now, -1
	switch {
	case offset != s.offset:
		if waited {
			s.offset = offset
		}
	case kernel != 0 && kernel-offset <= now+int64(stepBound):
		// A segment that overtook another one is of use when that is there.
		at = min(max(kernel-offset, s.last), now)
		lag = now - at
	}
	s.last = at
	return at, lag
}
