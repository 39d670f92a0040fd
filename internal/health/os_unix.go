//go:build linux || darwin || freebsd

package health

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the user and system time of all threads so far.
func processCPU() (time.Duration, bool) {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// monotonic asks the kernel: package time has another clock in a bubble.
func monotonic() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
