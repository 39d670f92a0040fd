package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// twoClocks are clocks that a test sets.
type twoClocks struct{ wall, mono int64 }

func (c *twoClocks) pass(d time.Duration) { c.wall, c.mono = c.wall+int64(d), c.mono+int64(d) }

func newStepped() (*twoClocks, *wall) {
	c := &twoClocks{wall: 1_000_000_000_000, mono: 500}
	w := &wall{read: func() (int64, int64) { return c.wall, c.mono }}
	w.offset.Store(w.sample())
	return c, w
}

func TestStampsOfTheKernel(t *testing.T) {
	c, w := newStepped()
	s := newStamps(w)
	type placed struct{ at, lag int64 }
	at := func(kernel int64, waited bool) placed {
		at, lag := s.at(kernel, waited)
		return placed{at, lag}
	}
	c.pass(10_000) // mono 10,500
	require.Equal(t, placed{10_300, 200}, at(c.wall-200, true))
	c.pass(100)
	require.Equal(t, placed{10_300, 300}, at(c.wall-5_000, false), "a segment that overtook another")
	require.Equal(t, placed{10_600, -1}, at(0, true), "no stamp")
	c.pass(100)
	require.Equal(t, placed{10_700, 0}, at(c.wall+40, true), "ahead by less than what reading the clocks takes")
	require.Equal(t, placed{10_700, -1}, at(c.wall+20_000, true), "of the future")
	c.pass(1000)
	require.Equal(t, placed{11_600, 100}, at(c.wall-100, true))
}

// A wall clock that is set back or forth moves no stamp.
func TestStampsAcrossAStep(t *testing.T) {
	for _, step := range []time.Duration{-time.Hour, -time.Millisecond, -20 * time.Microsecond, 20 * time.Microsecond, time.Hour} {
		c, w := newStepped()
		s, other := newStamps(w), newStamps(w)
		c.pass(time.Millisecond)
		old := c.wall - 200
		c.wall += int64(step)
		at, lag := s.at(old, true)
		require.Equal(t, []int64{c.mono, -1}, []int64{at, lag}, "%v: the read that finds out", step)
		c.pass(time.Millisecond)
		at, lag = s.at(c.wall-200, true)
		require.Equal(t, []int64{c.mono - 200, 200}, []int64{at, lag}, "%v: trusted again", step)

		// A connection that reads after that: what waited in its queue may be older than the step.
		for _, waited := range []bool{false, false, true} {
			at, lag = other.at(old, waited)
			require.Equal(t, []int64{c.mono, -1}, []int64{at, lag}, "%v: of another connection", step)
		}
		at, lag = other.at(c.wall-200, false)
		require.Equal(t, []int64{c.mono, 0}, []int64{at, lag}, "%v: no stamp is before the one before it", step)
	}
}

// A goroutine held up between the two readings is no step.
func TestAnInterruptionIsNoStep(t *testing.T) {
	c, w := newStepped()
	offset := w.offset.Load()
	reads := 0
	read := w.read
	w.read = func() (int64, int64) {
		if reads++; reads%4 == 1 {
			c.mono += int64(time.Millisecond) // the wall clock was read before, and this one after
			wall, mono := read()
			c.wall += int64(time.Millisecond)
			return wall, mono
		}
		return read()
	}
	s := newStamps(w)
	_, lag := s.at(c.wall-100, true)
	require.GreaterOrEqual(t, lag, int64(0))
	require.Equal(t, offset, w.offset.Load())
}
