package perftest

import (
	"time"

	"github.com/slogate/slogate/internal/load"
)

// Open is an open loop: requests start at the times of a seeded plan, whatever
// the server does. A late client moves no time: what is overdue starts at
// once, and the wait shows in Queue and Response.
type Open struct {
	// Rate is the mean number of requests a second, above 0.
	Rate float64
	// Arrivals spaces them; nil means [Poisson].
	Arrivals Arrivals
	// Requests to send in all; 0 means as many as fall into Duration.
	Requests int
	// Duration after which no request starts; 0 means no limit of time.
	Duration time.Duration
	// InFlight bounds the requests in flight; 0 means no bound.
	InFlight int
	// AtBound says what becomes of a start that finds the bound reached; zero
	// lets it wait.
	AtBound AtBound
	// Drain says what becomes of requests in flight at the end; zero waits.
	Drain Drain
	// Cancel abandons a share of the requests; zero abandons none.
	Cancel Cancel
	// PrefillConcurrency is the most requests that wait for their first token
	// at any time; 0 means no limit.
	PrefillConcurrency int
}

// Plan implements [Load].
func (o Open) Plan() (Plan, error) {
	if !(o.Rate >= leastRate && o.Rate <= mostSlots) {
		return Plan{}, badField("Load.Rate", o.Rate, "set Open.Rate to the requests a second, above 0 (1e-6 to 1e6)")
	}
	if o.Requests == 0 && o.Duration == 0 {
		return Plan{}, badField("Load.Requests", 0, "set Open.Requests or Open.Duration, so that the run ends")
	}
	rates := load.Level(o.Rate)
	schedule, err := arrivalSchedule(o.Arrivals, rates)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{
		Requests: o.Requests, Duration: o.Duration, InFlight: o.InFlight, AtBound: o.AtBound,
		Drain: o.Drain, Cancel: o.Cancel, PrefillConcurrency: o.PrefillConcurrency,
		rate: o.Rate, rates: rates, schedule: schedule,
	}
	return p, p.check()
}

const (
	// leastRate is one request in eleven days: the times of fewer may be beyond
	// what a Duration can hold.
	leastRate = 1e-6
	// leastShape is that of bursts of some hundred requests: those of far
	// smaller ones have no end.
	leastShape = 1e-3
)

// Arrivals space the requests of an open loop: [Constant], [Poisson] or
// [Gamma]. The time of request i is a function of the scenario's seed and i.
type Arrivals interface{ process() (load.Process, error) }

// Constant spaces requests evenly.
type Constant struct{}

// Poisson makes requests independent of each other, as many users are: the
// gaps are exponential.
type Poisson struct{}

// Gamma spaces requests by gaps of a gamma distribution. Shape 1 is that of
// Poisson, a smaller one comes in bursts, a greater one is more even. (vLLM's
// bench calls the shape burstiness.)
type Gamma struct {
	Shape float64 // above 0
}

func (Constant) process() (load.Process, error) { return load.Constant{}, nil }
func (Poisson) process() (load.Process, error)  { return load.Poisson{}, nil }
func (g Gamma) process() (load.Process, error) {
	if !(g.Shape >= leastShape && g.Shape <= 1e9) {
		return nil, badField("Load.Arrivals.Shape", g.Shape, "set Gamma.Shape above 0 (0.001 to 1e9); 1 is a Poisson process")
	}
	return load.Gamma(g), nil
}

// arrivalSchedule makes the schedule of arrivals at a rate; nil arrivals mean
// Poisson.
func arrivalSchedule(a Arrivals, rate load.Profile) (func(uint64, func() (time.Duration, any, bool)) load.Schedule, error) {
	if a == nil {
		a = Poisson{}
	}
	process, err := a.process()
	if err != nil {
		return nil, err
	}
	return func(seed uint64, _ func() (time.Duration, any, bool)) load.Schedule {
		return load.Arrivals(process, rate, seed)
	}, nil
}
