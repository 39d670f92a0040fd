package load

import (
	"iter"
	"math"
	"time"
)

// Stage is one stretch of a profile, from one value to another in a straight
// line.
type Stage struct {
	Duration time.Duration // greater than 0
	From, To float64
}

// Stages are stretches that follow each other.
type Stages []Stage

// Ramp goes from one value to another in a straight line.
func Ramp(from, to float64, length time.Duration) Stages {
	return Stages{{length, from, to}}
}

// Steps goes from one value to another by steps of the same height, each held
// for as long as the others: steps values in all, of which the first is from
// and the last is to. With one step it is to.
func Steps(from, to float64, steps int, length time.Duration) Stages {
	out := make(Stages, 0, max(steps, 1))
	for i := range cap(out) {
		value := to
		if i < cap(out)-1 {
			value = from + (to-from)*float64(i)/float64(cap(out)-1)
		}
		begin, end := share(length, i, cap(out)), share(length, i+1, cap(out))
		out = append(out, Stage{end - begin, value, value})
	}
	return out
}

// Spike holds base, and peak for width from a time on.
func Spike(base, peak float64, at, width, length time.Duration) Stages {
	var out Stages
	for _, s := range []Stage{{at, base, base}, {min(width, length-at), peak, peak}, {length - at - width, base, base}} {
		if s.Duration > 0 {
			out = append(out, s)
		}
	}
	return out
}

// share is i of n equal parts of d.
func share(d time.Duration, i, n int) time.Duration {
	q, r := d/time.Duration(n), d%time.Duration(n)
	return q*time.Duration(i) + r*time.Duration(i)/time.Duration(n)
}

func (s Stages) Length() (sum time.Duration) {
	for _, x := range s {
		sum += x.Duration
	}
	return sum
}

func (s Stages) At(t time.Duration) float64 {
	if t < 0 {
		return 0
	}
	for _, x := range s {
		if t < x.Duration {
			return x.at(t.Seconds())
		}
		t -= x.Duration
	}
	return 0
}

func (s Stages) Integral(t time.Duration) (sum float64) {
	for _, x := range s {
		if t <= 0 {
			break
		}
		sum += x.area(min(t, x.Duration).Seconds())
		t -= x.Duration
	}
	return sum
}

func (s Stages) Inverse(area float64) (time.Duration, bool) {
	var begin time.Duration
	for _, x := range s {
		whole := x.area(x.Duration.Seconds())
		if area < whole {
			at, _ := seconds(x.inverse(area))
			return begin + min(at, x.Duration), true
		}
		area -= whole
		begin += x.Duration
	}
	return begin, false
}

func (s Stages) steps() iter.Seq2[time.Duration, int] {
	return func(yield func(time.Duration, int) bool) {
		var begin time.Duration
		last := -1
		step := func(at time.Duration, n int) bool {
			if n == last {
				return true
			}
			last = n
			return yield(at, n)
		}
		for _, x := range s {
			if !step(begin, whole(x.From)) {
				return
			}
			for n := last; n != whole(x.To); {
				edge := float64(n) + 0.5
				if x.To < x.From {
					edge--
				}
				n = nearer(n, whole(x.To))
				at, _ := seconds((edge - x.From) / x.slope())
				if !step(begin+min(at, x.Duration), n) {
					return
				}
			}
			begin += x.Duration
		}
		step(begin, 0)
	}
}

// slope is the stage's change of value a second.
func (x Stage) slope() float64 { return (x.To - x.From) / x.Duration.Seconds() }

func (x Stage) at(t float64) float64 { return x.From + x.slope()*t }

func (x Stage) area(t float64) float64 { return t * (x.From + x.slope()*t/2) }

// inverse solves From*t + slope*t*t/2 = area, in the form that loses no digits
// when the slope is small, and has no division by it.
func (x Stage) inverse(area float64) float64 {
	if area <= 0 && x.From > 0 {
		return 0
	}
	root := math.Sqrt(max(x.From*x.From+2*x.slope()*area, 0))
	if x.From+root == 0 {
		return 0
	}
	return 2 * area / (x.From + root)
}
