package perftest

import (
	"cmp"
	"fmt"
	"path/filepath"
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
// levels that ran, in their order: one that go test's -run does not match is
// left out; a level whose set-up fails, Ctrl-C and the test's deadline end
// the sweep, and it fails; a missed objective does not end it.
func Sweep(t *testing.T, s Scenario, levels Levels, check func(t *testing.T, res *Result)) []*Result {
	t.Helper()
	if len(levels.Loads) == 0 {
		t.Fatal(badField("Levels.Loads", "empty", "give at least one load, for example perftest.Concurrencies(64, 1, 4, 8)"))
	}
	if err := lasts("Levels.CoolDown", levels.CoolDown, "none"); err != nil {
		t.Fatal(err)
	}
	defer holdLivePage()() // between the levels, too
	var results []*Result
	var view report.LevelsView
	next := passage{}
	for i, load := range levels.Loads {
		name := levelName(load, i)
		var res *Result
		chosen := false
		passed := t.Run(name, func(t *testing.T) {
			chosen = true
			if len(results) > 0 && readSettings().replay == "" {
				if why := sleep(t, levels.CoolDown); why != endedComplete {
					t.Fatalf("%s: not run: the cool-down before it was cut short (%s)", t.Name(), why)
				}
			}
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
		if !chosen {
			continue // go test's -run has left it out
		}
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
	if len(results) > 0 && results[0].elsewhere == "" {
		view.Name, view.Simulated = t.Name(), results[0].Simulated
		text := report.Levels(view)
		if page := writeSweep(t, s, results, view.Levels); page != "" {
			text += "\n\nreport: " + page
		}
		t.Log(text)
		notesOf(t).text(text)
		if !testing.Verbose() {
			report.ToTerminal(text + "\n\n")
		}
	}
	return results
}

// writeSweep writes the page of all levels beside their folders, and gives its
// path, or "" when it could not. What is wrong with it is logged.
func writeSweep(t *testing.T, s Scenario, results []*Result, levels []report.Level) string {
	t.Helper()
	v := view{title: cmp.Or(s.Name, t.Name()), sweep: true}
	for i, r := range results {
		v.runs = append(v.runs, viewed{Result: r, label: levels[i].Name, missed: !levels[i].Passed})
	}
	dir, err := makeResultDir(readSettings().results, v.title, time.Now())
	if err == nil {
		err = v.write(dir, pageDeadline(t))
	}
	if err != nil {
		t.Logf("the sweep's %s is not written: %v", pageFile, err)
		return ""
	}
	return filepath.Join(dir, pageFile)
}

// passage is what a run of a sweep takes over from the ones before.
type passage struct {
	skip   int    // requests of the workload that they have taken
	nonce  uint64 // the number of the first one, 0 for one of its own
	probe  bool   // it is one of a search: what it misses, and that it is cut short for it, is no error
	repeat uint64 // added to the seed of the load, but not to the workload's: its data goes on
	// then says how a search goes on after a run, as the others have to know it
	// where shards meet; nil of any other run.
	then func(*Result) ([]byte, error)
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

// sleep waits, and says how that ended: early with Ctrl-C, and when the test's
// deadline is near.
func sleep(t *testing.T, d time.Duration) string {
	ctx, stop := lifetime(t)
	defer stop()
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ended(ctx, nil)
}
