package perftest

import (
	"fmt"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// Levels are the loads of a [Sweep], in their order.
type Levels struct {
	// Loads to run, at least one; see [Concurrencies] and [RequestRates].
	Loads []Load
	// CoolDown is the time between the end of a level and the next one's
	// start; 0 means none.
	CoolDown time.Duration
	// RepeatPrompts sends the same prompts in each level. By default each
	// level goes on with the workload where the one before has ended, so that
	// none is answered from the server's cache of another.
	RepeatPrompts bool
}

// Concurrencies are closed loops of the given concurrencies, each of which
// sends each times as many requests as it has slots.
func Concurrencies(each int, concurrencies ...int) []Load {
	loads := make([]Load, len(concurrencies))
	for i, c := range concurrencies {
		loads[i] = Closed{Concurrency: c, Requests: each * c}
	}
	return loads
}

// RequestRates are open loops of Poisson arrivals at the given rates, a second, each
// for the given time.
func RequestRates(duration time.Duration, rates ...float64) []Load {
	loads := make([]Load, len(rates))
	for i, r := range rates {
		loads[i] = Open{Rate: r, Duration: duration}
	}
	return loads
}

// Sweep runs s at each level, as sub-tests of t, and shows an overview of all.
// s.Load is left aside. check, unless it is nil, is called in each sub-test
// with its result, to hold it against objectives. The results are those of the
// levels that ran, in their order: a level whose set-up fails, and Ctrl-C, end
// the sweep; a missed objective does not.
func Sweep(t *testing.T, s Scenario, levels Levels, check func(t *testing.T, res *Result)) []*Result {
	t.Helper()
	if len(levels.Loads) == 0 {
		t.Fatal(badField("Levels.Loads", "empty", "give at least one load, for example perftest.Concurrencies(64, 1, 4, 8)"))
	}
	if levels.CoolDown < 0 {
		t.Fatal(badField("Levels.CoolDown", levels.CoolDown, "set it to 0 (none) or more"))
	}
	var results []*Result
	var view report.LevelsView
	next := passage{}
	for i, load := range levels.Loads {
		if i > 0 && !sleep(t, levels.CoolDown) {
			break
		}
		var res *Result
		name := levelName(load, i)
		passed := t.Run(name, func(t *testing.T) {
			level := s
			level.Load = load
			if s.Name != "" {
				level.Name = s.Name + "/" + name
			}
			res = runAs(t, level, next)
			if check != nil {
				check(t, res)
			}
		})
		if res == nil {
			break
		}
		results = append(results, res)
		view.Levels = append(view.Levels, res.level(name, passed))
		if next.nonce = 0; levels.RepeatPrompts {
			next.nonce = res.Scenario.Nonce
		} else {
			next.skip += res.taken
		}
		if interrupted.Load() {
			break
		}
	}
	if len(results) > 0 {
		view.Name, view.Simulated = t.Name(), results[0].Simulated
		text := report.Levels(view)
		t.Log(text)
		if !testing.Verbose() {
			report.ToTerminal(text + "\n\n")
		}
	}
	return results
}

// passage is what a run of a sweep takes over from the ones before.
type passage struct {
	skip  int    // requests of the workload that they have taken
	nonce uint64 // the number of the first one, 0 for one of its own
}

// levelName is the sub-test's name of a level.
func levelName(l Load, i int) string {
	switch l := l.(type) {
	case Closed:
		return fmt.Sprintf("c=%d", l.Concurrency)
	case Open:
		return fmt.Sprintf("rate=%g", l.Rate)
	}
	return fmt.Sprintf("level=%d", i+1)
}

// level is r as a row of the overview.
func (r *Result) level(name string, passed bool) report.Level {
	m := r.Metrics
	return report.Level{
		Name: name, Passed: passed, Requests: r.Counts.Sent, Failed: r.Counts.Failed,
		RequestRate: float64(r.Rates.Requests), OutputRate: float64(r.Rates.Output),
		TTFT: float64(m.TTFT.Mean), TTFTp99: float64(m.TTFT.P(99)), TPOT: float64(m.TPOT.Mean), TPOTp99: float64(m.TPOT.P(99)),
		Latency: float64(m.Latency.Mean), LatencyP99: float64(m.Latency.P(99)),
	}
}

// sleep waits, and reports whether it may go on: not after Ctrl-C, and not
// once the test's deadline is near.
func sleep(t *testing.T, d time.Duration) bool {
	ctx, stop := lifetime(t)
	defer stop()
	select {
	case <-time.After(d):
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
