package perftest

import (
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report"
)

// runAs runs s as often as it says, going on where an earlier run has ended,
// and gives the last result. A run that was stopped is the last one.
func runAs(t testing.TB, s Scenario, from passage) *Result {
	t.Helper()
	if s.Repeat <= 1 {
		res := runOnce(t, s, from)
		res.mustBeJudged(t)
		return res
	}
	var done []*Result
	taken := 0
	for i := range s.Repeat {
		t.Logf("run %d of %d", i+1, s.Repeat)
		res := runOnce(t, s, from)
		done = append(done, res)
		taken += res.taken
		if res.Ended != endedComplete || interrupted.Load() {
			break
		}
		from = from.after(res)
	}
	res := together(t, done)
	res.taken = taken
	res.mustBeJudged(t)
	return res
}

// mustBeJudged fails a test that ends without having judged r, although its
// scenario has objectives: it would be green whatever they came to.
func (r *Result) mustBeJudged(t testing.TB) {
	t.Helper()
	if len(r.Scenario.SLOs) == 0 || r.elsewhere != "" {
		return
	}
	judged := new(atomic.Bool)
	r.judgedOnce = judged
	t.Cleanup(func() {
		t.Helper()
		if !judged.Load() && !t.Failed() && !t.Skipped() {
			t.Errorf("%s: nothing has judged the scenario's SLOs: give the result to assert.Gate (or assert.SLOs), or leave SLOs empty", report.Escape(r.Name))
		}
	})
}

// after is the passage of a run that goes on after res.
func (p passage) after(res *Result) passage {
	return passage{skip: p.skip + res.taken, probe: p.probe, repeat: p.repeat + 1, then: p.then}
}

// together makes the last of several runs stand for all of them.
func together(t testing.TB, runs []*Result) *Result {
	t.Helper()
	last := runs[len(runs)-1]
	if last.elsewhere != "" || len(runs) == 1 { // of one run its own requests tell the spread
		return last
	}
	last.standFor(runs)
	if err := last.save(); err != nil {
		t.Errorf("%s: %v", last.Name, err)
	}
	return last
}

// standFor makes r the last of runs, which knows the others.
func (r *Result) standFor(runs []*Result) {
	r.earlier = slices.Clone(runs[:len(runs)-1])
	r.Runs, r.EarlierRuns = nil, nil
	for _, run := range runs {
		run.within = run != r
		r.Runs = append(r.Runs, run.figures())
		if rel, err := filepath.Rel(r.Dir, run.Dir); err == nil && run != r {
			r.EarlierRuns = append(r.EarlierRuns, filepath.ToSlash(rel))
		}
	}
}

// judgeRuns judges the requests of all runs together. A run in which the client
// was the bottleneck spoils them all.
func (r *Result) judgeRuns(slos []SLO) []Verdict {
	p := r.pooled()
	p.Health.OnlyWarns = true // each run is asked by itself
	verdicts := p.Judge(slos...)
	for _, run := range append(slices.Clone(r.earlier), r) {
		bottleneck := run.bottleneck(slos)
		if bottleneck == "" {
			continue
		}
		for i := range verdicts {
			verdicts[i].tellsNothing(bottleneck)
		}
	}
	return verdicts
}

// pooled is all runs of r as one long run: each begins where the one before has
// ended. Rates are the runs' own.
func (r *Result) pooled() *Result {
	runs := append(slices.Clone(r.earlier), r)
	p := &Result{
		Name: r.Name, Simulated: r.Simulated, Partial: r.Partial, Ended: r.Ended, Started: runs[0].Started, Dir: r.Dir,
		Scenario: r.Scenario, Target: r.Target, Health: r.Health, server: r.server, parts: runs,
	}
	slots := max(1, r.Scenario.Load.Concurrency)
	at := int64(0) // end of the runs before
	for i, run := range runs {
		p.Counts = p.Counts.plus(run.Counts)
		from, to := run.rateSpan()
		if to < from { // nothing was sent
			from, to = 0, 0
		}
		for j := range run.samples.all {
			to = max(to, run.samples.all[j].done)
		}
		for _, s := range run.samples.all {
			p.samples.all = append(p.samples.all, s.moved(at-from, i*slots))
		}
		at += to - from
		p.samples.gaps.merge(&run.samples.gaps)
		for tag, g := range run.samples.byTag {
			if p.samples.byTag == nil {
				p.samples.byTag = map[string]*gaps{}
			}
			if p.samples.byTag[tag] == nil {
				p.samples.byTag[tag] = new(gaps)
			}
			p.samples.byTag[tag].merge(g)
		}
	}
	p.measure(0) // no part of it is steady
	p.poolRates()
	return p
}

// poolRates sets the rates to the means of the parts', each by its time.
func (r *Result) poolRates() {
	mean := func(of func(*Result) Value) Value {
		sum, over := Value(0), Value(0)
		for _, part := range r.parts {
			time := seconds(part.busyTimes().length())
			sum, over = sum+of(part)*time, over+time
		}
		return per(sum, over)
	}
	r.Window = 0
	for _, part := range r.parts {
		r.Window += part.Window
	}
	r.Rates.Requests = mean(func(r *Result) Value { return r.Rates.Requests })
	r.Rates.Output = mean(func(r *Result) Value { return r.Rates.Output })
	r.Rates.Total = mean(func(r *Result) Value { return r.Rates.Total })
}

// judged is how many requests a judgement of r is about, and how many failed.
func (r *Result) judged() (requests, failed int) {
	for _, run := range append(slices.Clone(r.earlier), r) {
		requests += run.Counts.Succeeded + run.Counts.Failed
		failed += run.Counts.Failed
	}
	return requests, failed
}

// moved is s at another time, and of other slots than those of the runs before.
func (s sample) moved(by int64, slots int) sample {
	for _, stamp := range []*int64{&s.scheduled, &s.ready, &s.sent, &s.firstToken, &s.secondToken, &s.firstAnswer, &s.lastToken, &s.done} {
		if *stamp != record.Absent {
			*stamp += by
		}
	}
	s.slot += int32(slots)
	return s
}

func (g *gaps) merge(o *gaps) {
	g.events.Merge(&o.events)
	g.tokens.Merge(&o.tokens)
	g.untold += o.untold
}

// plus adds the counts of another run; the largest deviation is the larger one.
func (c Counts) plus(d Counts) Counts {
	largest := c.LargestDeviation
	if abs(d.LargestDeviation) > abs(largest) {
		largest = d.LargestDeviation
	}
	sum, more := reflect.ValueOf(&c).Elem(), reflect.ValueOf(d)
	for i := range sum.NumField() {
		sum.Field(i).SetInt(sum.Field(i).Int() + more.Field(i).Int())
	}
	c.LargestDeviation = largest
	return c
}

// mostRuns bounds Scenario.Repeat.
const mostRuns = 1000
