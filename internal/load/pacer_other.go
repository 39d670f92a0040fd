//go:build !linux

package load

import "time"

// PrecisePacing is [TimerPacing] on this system.
func PrecisePacing(epoch time.Time) Pacer { return TimerPacing(epoch) }
