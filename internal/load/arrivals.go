package load

import (
	"math"
	"time"
)

// Arrival is one start that a load plans.
type Arrival struct {
	Index int           // position in the plan, from 0
	At    time.Duration // after the start of the load
	Item  any           // what is to be sent, where the schedule knows it
}

// Schedule gives the arrivals of a load one after the other, in order of their
// times, and false when there are no more. The loop that it is given to calls
// it from one goroutine.
type Schedule interface {
	Next() (Arrival, bool)
}

// Process spaces arrivals: [Constant], [Poisson] or [Gamma].
type Process interface {
	// gap is the time before the i-th arrival, in mean gaps.
	gap(s *stream, i uint64) float64
}

// Constant spaces arrivals evenly, from 0.
type Constant struct{}

// Poisson makes arrivals independent of each other: the gaps, the one before
// the first arrival too, are exponential.
type Poisson struct{}

// Gamma spaces arrivals by gaps of a gamma distribution with the given shape,
// greater than 0 (vLLM's "burstiness"). A gap's standard deviation is
// 1/sqrt(Shape) of its mean: shape 1 is distributed as [Poisson], a smaller one
// comes in bursts, a greater one is more even.
type Gamma struct{ Shape float64 }

func (Constant) gap(_ *stream, i uint64) float64 {
	if i == 0 {
		return 0
	}
	return 1
}

// By inversion, so that it is one draw and can be checked by hand.
func (Poisson) gap(s *stream, i uint64) float64 { return exponential(s.at(i)) }

func (g Gamma) gap(s *stream, i uint64) float64 { return gamma(s.at(i), g.Shape) / g.Shape }

// exponential draws from the exponential distribution of mean 1.
func exponential(s *stream) float64 { return -math.Log1p(-s.Float64()) }

// gamma draws from the gamma distribution of scale 1 by the method of Marsaglia
// and Tsang ("A simple method for generating gamma variables", 2000), with their
// step from shape+1 to a shape below 1.
func gamma(s *stream, shape float64) float64 {
	boost := 1.0
	if shape < 1 {
		boost = math.Pow(1-s.Float64(), 1/shape)
		shape++
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-s.Float64()) < x*x/2+d*(1-v+math.Log(v)) {
			return boost * d * v
		}
	}
}

// Arrivals is the schedule of a process at a rate in arrivals a second, which
// may change over time: arrivals of rate 1 are mapped through the inverse of the
// rate's integral, which is exact for a Poisson process of changing rate too.
// It ends with the rate's profile.
//
// The time of arrival i is a function of the process, the rate, the seed and i.
// It is a sum of i+1 gaps, each of which is drawn by its index, so that whoever
// counts through the schedule gets the same one; there is no way to jump.
func Arrivals(p Process, rate Profile, seed uint64) Schedule {
	return &arrivals{process: p, rate: rate, stream: newStream(seed, forGaps)}
}

type arrivals struct {
	process Process
	rate    Profile
	stream  *stream
	next    uint64
	unit    float64 // time of the latest arrival at rate 1
}

func (a *arrivals) Next() (Arrival, bool) {
	i := a.next
	a.next++
	a.unit += a.process.gap(a.stream, i)
	at, ok := a.rate.Inverse(a.unit)
	return Arrival{Index: int(i), At: at}, ok
}
