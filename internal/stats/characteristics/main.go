// Characteristics prints how often the verdicts of package stats are right on
// a simulated engine, as Markdown. Its output is kept beside it:
//
//	go run ./internal/stats/characteristics > internal/stats/characteristics.md
//
// It takes a few minutes, and prints the same every time.
package main

import (
	"fmt"

	"github.com/slogate/slogate/internal/stats/simulate"
)

// capacity is the engine's, in requests a second.
const capacity = 12.7

// trueRequests is how many requests a true percentile is taken from.
const trueRequests = 1_000_000

var metrics = []struct {
	name string
	of   simulate.Metric
}{{"TTFT", simulate.TTFT}, {"TPOT", simulate.TPOT}}

func main() {
	fmt.Println("# Operating characteristics of the verdicts")
	fmt.Println("\nPrinted by `go run ./internal/stats/characteristics`; the engine is that of package simulate.")
	limits()
	early()
	regressions()
	search()
	saturation()
	loads()
	effects()
}

func limits() {
	fmt.Println("\n## p99 below a limit, at 63 % load (8 requests a second)")
	fmt.Println("\nLimit as a multiple of the true p99; level 5 %, 500 runs each. At 1.0 PASS and FAIL are false.")
	fmt.Println("\n| metric | n | limit | PASS | FAIL | PASS by the share alone | PASS by the binomial rule | sample p99 over the limit |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, m := range metrics {
		truth := simulate.Truth(8, m.of, 99, trueRequests)
		for _, n := range []int{300, 1_000, 3_000} {
			for _, r := range simulate.Percentile(8, m.of, n, 500, truth, 0.5, 0.7, 0.85, 1, 1.25, 1.5, 2, 3) {
				fmt.Printf("| %s p99 %.3g s | %d | %.2f | %.3f | %.3f | %.3f | %.3f | %.3f |\n", m.name, truth, n, r.Multiple, r.Pass, r.Fail, r.Share, r.Binomial, r.Naive)
			}
		}
	}
}

func loads() {
	fmt.Println("\n## False verdicts at the limit, by load")
	fmt.Println("\n1,000 runs each.")
	fmt.Println("\n| metric | load | n | false PASS | false FAIL | by the share alone | binomial rule |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, m := range metrics {
		for _, rate := range []float64{6, 8, 10, 11} {
			truth := simulate.Truth(rate, m.of, 99, trueRequests)
			for _, n := range []int{1_000, 3_000} {
				r := simulate.Percentile(rate, m.of, n, 1_000, truth, 1)[0]
				fmt.Printf("| %s p99 %.3g s | %.0f %% | %d | %.3f | %.3f | %.3f | %.3f |\n", m.name, truth, 100*rate/capacity, n, r.Pass, r.Fail, r.Share, r.Binomial)
			}
		}
	}
}

func early() {
	fmt.Println("\n## Early FAIL against the final verdict, 1,000 requests planned, 63 % load")
	fmt.Println("\n| limit | runs | stopped early | of these no FAIL at the end | FAIL at the end | mean stop |")
	fmt.Println("|---|---|---|---|---|---|")
	truth := simulate.Truth(8, simulate.TTFT, 99, trueRequests)
	for _, multiple := range []float64{0.3, 0.5, 0.7} {
		c := simulate.EarlyStop(8, truth, multiple, 1_000, 1_000)
		fmt.Printf("| %.1f | %d | %d | %d | %d | %.0f |\n", c.Multiple, c.Runs, c.Early, c.Disagree, c.FinalFail, c.MeanStop)
	}
}

func regressions() {
	fmt.Println("\n## Regressions by Welch on 5 baseline and 3 candidate runs of 1,000 requests, 63 % load")
	fmt.Println("\nTolerance 5 %, margin 10 %; 400 comparisons each.")
	fmt.Println("\n| run-to-run noise | step time | figure | its ratio | REGRESSED | OK | permutation |")
	fmt.Println("|---|---|---|---|---|---|---|")
	for _, at := range []struct{ noise, slow float64 }{{0, 1}, {0.02, 1}, {0.02, 1.1}, {0.02, 1.2}, {0.05, 1}, {0.05, 1.2}} {
		c := simulate.Comparison{Rate: 8, Requests: 1_000, Baseline: 5, Candidate: 3, Noise: at.noise, Slow: at.slow}
		for _, r := range c.Repeat(400) {
			fmt.Printf("| %.0f %% | %+.0f %% | %s | %.2f | %.3f | %.3f | %.3f |\n", 100*at.noise, 100*(at.slow-1), r.Figure, r.Effect, r.Regressed, r.Unchanged, r.Permutation)
		}
	}
}

func saturation() {
	shares := []float64{0.5, 0.8, 0.9, 0.95, 1, 1.05, 1.1, 1.2}
	fmt.Println("\n## How often the trend rule fires, 100 runs each")
	fmt.Print("\n| seconds |")
	for _, s := range shares {
		fmt.Printf(" %.0f %% load |", 100*s)
	}
	fmt.Println("\n|---|---|---|---|---|---|---|---|---|")
	for _, seconds := range []float64{60, 120, 300} {
		fmt.Printf("| %.0f |", seconds)
		for _, s := range shares {
			fmt.Printf(" %.3f |", simulate.Saturated(s*capacity, seconds, 100))
		}
		fmt.Println()
	}
}

func search() {
	fmt.Println("\n## The highest rate with TTFT p99 below 0.5 s")
	truth := simulate.TrueCapacity(trueRequests)
	s := simulate.MaxLoad(150, truth)
	fmt.Printf("\nTrue rate %.2f requests a second.\n", truth)
	fmt.Println("\n| searches | found/true | deviation | over 1.03 | none confirmed | true rate within [lo, hi] | requests |")
	fmt.Println("|---|---|---|---|---|---|---|")
	fmt.Printf("| %d | %.3f | %.3f | %.3f | %.3f | %.3f | %.0f |\n", s.Searches, s.Mean, s.SD, s.OverClaims, s.Unconfirmed, s.Bracket, s.Requests)
}

func effects() {
	fmt.Println("\n## Why a false PASS is more frequent than 5 %")
	fmt.Println("\nA calm run sees few bursts: it counts few violations and, from the same lack, estimates")
	fmt.Println("a small design effect. So the estimate is too small just where it matters, the more so the")
	fmt.Println("fewer bursts a run holds. Fewer and longer batches lower the false PASSes a little, and ask for")
	fmt.Println("more requests: five make it 1.68 times the binomial's number, (t_{.95,4}/t_{.95,inf})², where 20 take 1.10.")
	fmt.Println("63 % load, limit at the true p99, 1,000 runs each.")
	fmt.Println("\n| metric | n | true design effect | mean estimate | mean estimate of calm runs | share of calm runs |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, m := range metrics {
		truth := simulate.Truth(8, m.of, 99, trueRequests)
		for _, n := range []int{1_000, 3_000} {
			e := simulate.DesignEffect(8, m.of, n, 1_000, truth)
			fmt.Printf("| %s | %d | %.1f | %.1f | %.1f | %.2f |\n", m.name, n, e.True, e.Mean, e.Calm, e.Runs)
		}
	}
	fmt.Println("\nCalm runs have less than half the violations that they should have. Near the capacity a run of")
	fmt.Println("1,000 requests is shorter than one congestion, and the margin rule passes calm ones: hence the")
	fmt.Println("warning by `Load.Unsteady`, and 600 s or three runs for a release gate there.")
}
