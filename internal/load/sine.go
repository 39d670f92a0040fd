package load

import (
	"iter"
	"math"
	"time"
)

// Sine is a profile that swings around a mean: it starts there, is at
// Mean+Amplitude after a quarter of a period, and at Mean-Amplitude after three.
type Sine struct {
	Mean      float64
	Amplitude float64       // 0 to Mean
	Period    time.Duration // greater than 0
	Duration  time.Duration // of the whole; greater than 0
}

func (s Sine) Length() time.Duration { return s.Duration }

// angular is the angular frequency, a second.
func (s Sine) angular() float64 { return 2 * math.Pi / s.Period.Seconds() }

func (s Sine) At(t time.Duration) float64 {
	if t < 0 || t >= s.Duration {
		return 0
	}
	return s.Mean + s.Amplitude*math.Sin(s.angular()*t.Seconds())
}

func (s Sine) Integral(t time.Duration) float64 {
	return s.area(min(max(t, 0), s.Duration).Seconds())
}

func (s Sine) area(t float64) float64 {
	w := s.angular()
	return s.Mean*t + s.Amplitude/w*(1-math.Cos(w*t))
}

// Inverse bisects: the swing adds between 0 and twice Amplitude/angular to the
// area of the mean, so that the time is known to lie in a short stretch.
func (s Sine) Inverse(area float64) (time.Duration, bool) {
	if !(area < s.area(s.Duration.Seconds())) {
		return s.Duration, false
	}
	low := max((area-2*s.Amplitude/s.angular())/s.Mean, 0)
	high := area / s.Mean
	for high-low > 1e-10 {
		middle := low + (high-low)/2
		if middle == low || middle == high {
			break // as near as a float64 is
		}
		if s.area(middle) > area {
			high = middle
		} else {
			low = middle
		}
	}
	at, _ := seconds(low + (high-low)/2)
	return min(at, s.Duration), true
}

func (s Sine) steps() iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		n, top, bottom := whole(s.Mean), whole(s.Mean+s.Amplitude), whole(s.Mean-s.Amplitude)
		if !yield(0, n) {
			return
		}
		// to goes to a number within half a period, from a trough to a peak or
		// on to a trough, and says whether there is more to come.
		left := false
		to := func(period int, goal int) bool {
			for n != goal {
				next := nearer(n, goal)
				edge := math.Asin((float64(n+next)/2 - s.Mean) / s.Amplitude)
				if next < n {
					edge = math.Pi - edge
				}
				at, _ := seconds((2*math.Pi*float64(period) + edge) / s.angular())
				if at >= s.Duration {
					return false
				}
				if n = next; !yield(at, n) {
					left = true
					return false
				}
			}
			return true
		}
		for period := 0; s.Period*time.Duration(period)-s.Period/4 < s.Duration; period++ {
			if !to(period, top) || !to(period, bottom) {
				break
			}
		}
		if !left && n != 0 {
			yield(s.Duration, 0)
		}
	}
}
