package load

import "time"

// Pacer waits for moments, for one goroutine.
type Pacer interface {
	// Wait returns true at the moment at, in nanoseconds after the epoch; at
	// once when it has passed. It returns false, soon after stop can be
	// received from, when that is earlier; what it received is gone.
	Wait(at int64, stop <-chan struct{}) bool
	// Close gives back what the Pacer holds. The goroutine that waited calls
	// it.
	Close()
}

// Pacing makes the Pacer of a goroutine whose moments count from epoch. The
// goroutine that is to wait calls it. A schedule is absolute: each Wait starts
// from the clock, so that being late once makes nothing later.
type Pacing func(epoch time.Time) Pacer

// early is a Pacer whose waits end so exactly that handing over to another
// goroutine, which has to be woken, takes longer than they are late.
type early interface {
	// lead is how long that mostly takes: who is told of a moment so much
	// ahead of it is awake by then.
	lead() time.Duration
}

// TimerPacing waits with a timer of the standard library. It works everywhere,
// in testing/synctest bubbles too (where it is exact), and on a real Linux is up
// to a millisecond late at any rate: the runtime rounds its waits up to whole
// milliseconds (golang.org/issue/53824).
func TimerPacing(epoch time.Time) Pacer { return &timerPacer{epoch: epoch} }

type timerPacer struct {
	epoch time.Time
	timer *time.Timer
}

func (p *timerPacer) Wait(at int64, stop <-chan struct{}) bool {
	select {
	case <-stop:
		return false
	default:
	}
	left := time.Duration(at) - time.Since(p.epoch)
	if left <= 0 {
		return true
	}
	if p.timer == nil {
		p.timer = time.NewTimer(left)
	} else {
		p.timer.Reset(left)
	}
	select {
	case <-p.timer.C:
		return true
	case <-stop:
		p.timer.Stop()
		return false
	}
}

func (p *timerPacer) Close() {
	if p.timer != nil {
		p.timer.Stop()
	}
}
