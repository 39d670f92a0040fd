package health

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const ms = time.Millisecond

func TestNextMoment(t *testing.T) {
	start := time.Now()
	d := watchdog{tick: 10 * ms, start: start}
	for now, want := range map[time.Duration]time.Duration{0: 10, 1: 10, 10*ms - 1: 10, 10 * ms: 20, 10*ms + 1: 20, 65 * ms: 70} {
		require.Equal(t, want*ms, d.next(start.Add(now)).Sub(start))
	}
}

func TestOvershoots(t *testing.T) {
	start := time.Now()
	d := watchdog{tick: 10 * ms, start: start}
	for _, over := range []time.Duration{0, ms, 2 * ms, 2*ms + 1, 150 * ms} {
		d.due = start
		d.woke(start.Add(over))
	}
	require.Equal(t, Jitter{Wakes: 5, Late: 2, Max: 150 * ms, Total: 148*ms + 1}, d.seen)
}

// stalled runs a watchdog whose third wake-up, at 30 ms, takes 35 ms.
func stalled(busy bool, stop time.Duration) Jitter {
	d := watchdog{tick: 10 * ms, start: time.Now()}
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		d.run(done, func(time.Time) bool {
			if d.seen.Wakes == 3 {
				time.Sleep(35 * ms)
				return busy
			}
			return false
		})
	}()
	time.Sleep(stop)
	close(done)
	<-ended
	return d.seen
}

func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		// Due at 40, came at 65; then 70, 80 and 90: 23 of 95 ms.
		require.Equal(t, Jitter{Wakes: 7, Late: 1, Max: 25 * ms, Total: 23 * ms, Share: 23.0 / 95}, stalled(false, 95*ms))
		// The same, but for work of the watchdog's own.
		require.Equal(t, Jitter{Wakes: 6}, stalled(true, 95*ms))
		// Stopped at 50 ms, seen at 65: the stall counts.
		require.Equal(t, Jitter{Wakes: 4, Late: 1, Max: 25 * ms, Total: 23 * ms, Share: 23.0 / 65}, stalled(false, 50*ms))
		// Stopped before the first moment, and in the moment of one.
		require.Equal(t, Jitter{}, stalled(false, 9*ms))
	})
}
