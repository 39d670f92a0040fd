package simulate

import (
	"math"

	"github.com/slogate/slogate/internal/stats"
)

// limit is the SLO of the searches: TTFT p99 below half a second.
const limit = 0.5

// TrueCapacity is the highest rate at which the true TTFT p99 is below half a
// second, by bisection on runs of n requests.
func TrueCapacity(n int) float64 {
	low, high := 10.0, 11.0
	for range 7 {
		mid := (low + high) / 2
		if Truth(mid, TTFT, 99, n) < limit {
			low = mid
		} else {
			high = mid
		}
	}
	return (low + high) / 2
}

// Search is what many searches for the highest load found.
type Search struct {
	Searches    int
	Mean, SD    float64 // of the found rate over the true one
	OverClaims  float64 // share of searches that found over 1.03 times the true rate
	Unconfirmed float64 // share that confirmed nothing
	Requests    float64 // mean number a search, without warm-up
	Bracket     float64 // share with Lo <= true rate < Hi
}

// MaxLoad searches the highest rate: short probes of 1,000 requests by their
// point estimate, then 4,000 with a PASS, as MaxLoad of the design.
func MaxLoad(searches int, truth float64) Search {
	type result struct {
		stats.Found
		requests int
	}
	results := parallel(searches, func(i int) result {
		s, err := stats.NewSearch(stats.SearchConfig{Start: 2, Max: 64})
		if err != nil {
			panic(err) // the values above are constants
		}
		requests := 0
		for step := uint64(0); ; step++ {
			p, more := s.Next()
			if !more {
				return result{s.Found(), requests}
			}
			n := 1000
			if p.Confirm {
				n = 4000
			}
			requests += n
			s.Report(stats.Tried{Outcome: probe(uint64(i)<<16+step, p, n)})
		}
	})
	out := Search{Searches: searches}
	var ratios []float64
	for _, r := range results {
		out.Requests += float64(r.requests) / float64(searches)
		if r.Confirmed {
			ratios = append(ratios, r.Lo/truth)
		}
	}
	all := stats.Summarize(ratios)
	out.Mean, out.SD = all.Mean, all.StdDev
	out.OverClaims = share(results, func(r result) bool { return r.Lo > 1.03*truth })
	out.Unconfirmed = share(results, func(r result) bool { return !r.Confirmed })
	out.Bracket = share(results, func(r result) bool { return r.Lo <= truth && truth < r.Hi })
	return out
}

// probe tries one rate after half a minute of warm-up.
func probe(seed uint64, p stats.Probe, n int) stats.ProbeOutcome {
	requests := Engine{}.Open(seed, p.Load, int(math.Ceil(30*p.Load)), n)
	v := stats.FlagViolations(values(requests, TTFT), limit, 0.99, true)
	s := stats.ShareTest{P: 0.99, Seconds: seconds(requests)}.Run(v)
	from := requests[0].Start
	if stats.JudgeLoad(spans(requests), from, from+seconds(requests)).Saturated {
		return stats.ProbeMissed
	}
	if !p.Confirm {
		if float64(s.K) <= 0.01*float64(s.N) {
			return stats.ProbeMet
		}
		return stats.ProbeMissed
	}
	switch s.Decision {
	case stats.Pass:
		return stats.ProbeMet
	case stats.Fail:
		return stats.ProbeMissed
	}
	return stats.ProbeOpen
}

func spans(requests []Request) []stats.Span {
	out := make([]stats.Span, len(requests))
	for i, r := range requests {
		out[i] = stats.Span{Start: r.Start, End: r.End, TTFT: r.TTFT}
	}
	return out
}

// Saturated is how often the trend rule fires on runs of so many seconds at a
// rate, from an idle engine.
func Saturated(rate, seconds float64, runs int) float64 {
	fired := parallel(runs, func(i int) bool {
		requests := Engine{}.Open(uint64(7e6)+uint64(i), rate, 0, int(rate*seconds))
		return stats.JudgeLoad(spans(requests), 0, requests[len(requests)-1].Start).Saturated
	})
	return share(fired, func(f bool) bool { return f })
}
