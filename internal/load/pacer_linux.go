package load

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Stretches of a precise wait. A timer of the runtime is up to 1 ms late, and
// can be stopped; the kernel's sleep is a wake-up late (0.02 to 0.03 ms at the
// median, measured on Linux 6.18), and cannot; spinning is exact, and takes a
// core.
const (
	coarse = 1500 * time.Microsecond // left when the timer is to fire
	spin   = 40 * time.Microsecond   // left when the kernel is to wake the thread
	// handOver is what it takes to wake a goroutine on another thread: 0.03 to
	// 0.06 ms where that thread sleeps.
	handOver = 60 * time.Microsecond
)

// PrecisePacing waits with a thread of its own that sleeps until shortly before
// the moment, by an absolute clock_nanosleep, and spins for the rest. Its median
// lag is below 0.001 ms, at the price of about 0.05 ms of a core a wait (a
// twentieth of a core at 1,000 a second). An open loop comes to each arrival
// 0.06 ms ahead of its time and hands it to its slot at once, which spins for what
// is left when it has woken (0.01 to 0.03 ms): the hand-over is then no part of
// the lag, which was 0.04 to 0.07 ms at the median with it. Where the runtime's clock is not the kernel's, in
// a testing/synctest bubble, and on other systems it is [TimerPacing].
func PrecisePacing(epoch time.Time) Pacer {
	var now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil || time.Since(time.Unix(now.Unix())).Abs() > time.Hour {
		return TimerPacing(epoch)
	}
	runtime.LockOSThread()
	p := &precisePacer{timerPacer: timerPacer{epoch: epoch}}
	// The slack of a thread's wake-ups is 0.05 ms unless it asks for less.
	if slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0); err == nil {
		p.slack = slack
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // only a later wake-up without it
	}
	return p
}

type precisePacer struct {
	timerPacer
	slack int // of the thread as it was, in nanoseconds
}

func (p *precisePacer) Wait(at int64, stop <-chan struct{}) bool {
	if !p.timerPacer.Wait(at-int64(coarse), stop) {
		return false
	}
	if !p.sleep(at - int64(spin)) {
		return p.timerPacer.Wait(at, stop)
	}
	for int64(time.Since(p.epoch)) < at {
	}
	return true
}

func (p *precisePacer) lead() time.Duration { return handOver }

// sleep returns at the given moment, or says that the system cannot do this.
func (p *precisePacer) sleep(at int64) bool {
	for {
		left := at - int64(time.Since(p.epoch))
		if left <= 0 {
			return true
		}
		var now unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &now) != nil {
			return false
		}
		until := unix.NsecToTimespec(now.Nano() + left)
		// A signal, as the runtime sends them for preemption, ends it early.
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &until, nil); err != nil && err != unix.EINTR {
			return false
		}
	}
}

func (p *precisePacer) Close() {
	p.timerPacer.Close()
	if p.slack > 0 {
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(p.slack), 0, 0, 0)
	}
	runtime.UnlockOSThread()
}
