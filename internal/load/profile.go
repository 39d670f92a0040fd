package load

import (
	"iter"
	"math"
	"time"
)

// Profile is a rate (a second) or a concurrency over the time of a load:
// [Level], [Stages] or [Sine]. Its values are 0 or more.
type Profile interface {
	// Length after which the profile, and with it the load, is over; 0 means
	// that it goes on for ever.
	Length() time.Duration
	// At is the value at a time; 0 before the profile and after it.
	At(t time.Duration) float64
	// Integral is the area under the profile up to a time, in values times
	// seconds: for a rate, the arrivals expected by then.
	Integral(t time.Duration) float64
	// Inverse is the time after which the Integral is more than area, to the
	// nearest nanosecond; false when it never is.
	Inverse(area float64) (time.Duration, bool)
	// steps are the times at which the value, rounded to a whole number with
	// halves up, becomes another one, with that number. They begin with time 0
	// and end with the number 0, at the Length at the latest.
	steps() iter.Seq2[time.Duration, int]
}

// Level is a profile of one value for ever.
type Level float64

func (Level) Length() time.Duration { return 0 }

func (l Level) At(t time.Duration) float64 {
	if t < 0 {
		return 0
	}
	return float64(l)
}

func (l Level) Integral(t time.Duration) float64 { return float64(l) * max(t, 0).Seconds() }

func (l Level) Inverse(area float64) (time.Duration, bool) { return seconds(area / float64(l)) }

func (l Level) steps() iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) { yield(0, whole(float64(l))) }
}

// SlotChanges is how many times a slot starts or stops in a profile of
// concurrency, or a number above most where it is more than that.
func SlotChanges(p Profile, most int) (changes int) {
	last := 0
	for _, n := range p.steps() {
		if changes += max(n-last, last-n); changes > most {
			break
		}
		last = n
	}
	return changes
}

// nearer is the whole number next to n on the way to m.
func nearer(n, m int) int {
	if n < m {
		return n + 1
	}
	return n - 1
}

// whole rounds to a whole number, halves up.
func whole(x float64) int { return int(math.Floor(x + 0.5)) }

// seconds is a time to the nearest nanosecond, and whether a Duration can
// hold it.
func seconds(s float64) (time.Duration, bool) {
	ns := math.Round(s * 1e9)
	if !(ns < math.MaxInt64) { // NaN too
		return math.MaxInt64, false
	}
	return time.Duration(ns), true
}
