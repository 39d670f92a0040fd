package health

import (
	"time"

	"golang.org/x/sys/windows"
)

// processCPU is the user and kernel time of all threads so far.
func processCPU() (time.Duration, bool) {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0, false
	}
	return filetime(kernel) + filetime(user), true
}

// filetime is a span in units of 100 ns; the type's own methods take it for a
// date.
func filetime(f windows.Filetime) time.Duration {
	return time.Duration(int64(f.HighDateTime)<<32|int64(f.LowDateTime)) * 100
}

// monotonic asks the system: package time has another clock in a bubble.
func monotonic() time.Duration { return windows.DurationSinceBoot() }
