// Package simulate is a model of a serving engine, on which the verdicts of
// package stats are tried: how often they are right, over thousands of runs
// whose truth is known. Its constants are a toy's; directions and orders of
// magnitude carry over to real engines, third digits do not.
package simulate

import (
	"math"
	"math/rand/v2"
)

// Engine is continuous batching, first come first served: a step decodes one
// token of every sequence in the batch and prefills what the chunk budget
// allows. The zero value is the engine of the design: its capacity is 12.7
// requests a second.
type Engine struct {
	// Slow multiplies all step times; 0 means 1. A regression of 20 % is 1.2.
	Slow float64
}

const (
	maxBatch    = 64
	chunkBudget = 2048
	stepBase    = 0.010   // seconds a step
	stepSeq     = 0.0001  // and for each sequence that decodes
	stepPrefill = 0.00004 // and for each prompt token
	stallTime   = 0.25    // a pause of the whole engine
	stallEvery  = 60      // seconds between pauses, on average
	promptMean  = 1000
	promptCV    = 0.6
	outputMean  = 150
	outputCV    = 0.7
)

// Request is what a client saw of one request, in seconds.
type Request struct {
	Start, TTFT, End float64
	TPOT             float64 // NaN for a single token
}

// sequence is a request within the engine.
type sequence struct {
	at      int // its place in the results
	prefill int // prompt tokens to go
	decode  int // tokens to go
	tokens  int // of the answer
}

// Open runs an open loop of Poisson arrivals: warm requests that are not
// measured, then n that are. Load goes on until the last of them has ended. The
// results are in order of arrival.
func (e Engine) Open(seed uint64, rate float64, warm, n int) []Request {
	rng := rand.New(rand.NewPCG(seed, 0x510))
	slow := e.Slow
	if slow == 0 {
		slow = 1
	}
	prompt, output := lognormal(promptMean, promptCV), lognormal(outputMean, outputCV)
	var (
		done                      = make([]Request, warm+n)
		open                      = n // measured requests that have not ended
		waiting, filling, running []sequence
		now, stall                = 0.0, rng.ExpFloat64() * stallEvery
		arrivals                  = 0
		arrival                   = rng.ExpFloat64() / rate
	)
	for open > 0 {
		if len(waiting)+len(filling)+len(running) == 0 {
			now = max(now, arrival)
			for stall < now { // it paused while it had nothing to do
				stall += rng.ExpFloat64() * stallEvery
			}
		}
		for ; arrival <= now; arrival += rng.ExpFloat64() / rate {
			tokens := output(rng)
			waiting = append(waiting, sequence{arrivals, prompt(rng), tokens, tokens})
			if arrivals < len(done) {
				done[arrivals].Start = arrival
			}
			arrivals++
		}
		budget := chunkBudget
		prefilled := 0
		fill := func(s *sequence) {
			k := min(budget, s.prefill)
			budget, s.prefill, prefilled = budget-k, s.prefill-k, prefilled+k
		}
		for i := range filling {
			fill(&filling[i])
		}
		for budget > 0 && len(waiting) > 0 && len(filling)+len(running) < maxBatch {
			s := waiting[0]
			waiting = waiting[1:]
			fill(&s)
			filling = append(filling, s)
		}
		now += slow * (stepBase + stepSeq*float64(len(running)) + stepPrefill*float64(prefilled))
		if now >= stall {
			now += stallTime
			stall = now + rng.ExpFloat64()*stallEvery
		}
		// One token for each that decodes, and the first for each whose prompt is in.
		keep := running[:0]
		for _, s := range running {
			if s.decode--; s.decode > 0 {
				keep = append(keep, s)
			} else {
				open -= end(done, s, now, warm)
			}
		}
		running = keep
		still := filling[:0]
		for _, s := range filling {
			if s.prefill > 0 {
				still = append(still, s)
				continue
			}
			if s.at < len(done) {
				done[s.at].TTFT = now - done[s.at].Start
			}
			if s.decode--; s.decode > 0 {
				running = append(running, s)
			} else {
				open -= end(done, s, now, warm)
			}
		}
		filling = still
	}
	return done[warm:]
}

// end notes the end of a request and tells how many measured ones it was.
func end(done []Request, s sequence, now float64, warm int) int {
	if s.at >= len(done) {
		return 0
	}
	r := &done[s.at]
	r.End, r.TPOT = now, math.NaN()
	if s.tokens > 1 {
		r.TPOT = (now - r.Start - r.TTFT) / float64(s.tokens-1)
	}
	if s.at < warm {
		return 0
	}
	return 1
}

// lognormal draws whole numbers of 1 or more with a mean and a coefficient of
// variation.
func lognormal(mean, cv float64) func(*rand.Rand) int {
	sigma := math.Sqrt(math.Log1p(cv * cv))
	mu := math.Log(mean) - sigma*sigma/2
	return func(rng *rand.Rand) int {
		return max(1, int(math.Round(math.Exp(mu+sigma*rng.NormFloat64()))))
	}
}
