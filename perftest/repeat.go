package perftest

import (
	"reflect"
	"slices"
	"testing"

	"github.com/slogate/slogate/internal/record"
)

// runAs runs s as often as it says, going on where an earlier run has ended,
// and gives the last result. A run that was stopped is the last one.
func runAs(t testing.TB, s Scenario, from passage) *Result {
	t.Helper()
	if s.Repeat <= 1 {
		return runOnce(t, s, from)
	}
	var done []*Result
	taken := 0
	for i := range s.Repeat {
		t.Logf("run %d of %d", i+1, s.Repeat)
		res := runOnce(t, s, from)
		done = append(done, res)
		taken += res.taken
		if res.Partial || interrupted.Load() {
			break
		}
		from = from.after(res)
	}
	res := together(t, done)
	res.taken = taken
	return res
}

// after is the passage of a run that goes on after res.
func (p passage) after(res *Result) passage {
	return passage{skip: p.skip + res.taken, repeat: p.repeat + 1}
}

// together makes the last of several runs stand for all of them.
func together(t testing.TB, runs []*Result) *Result {
	t.Helper()
	last := runs[len(runs)-1]
	last.earlier = slices.Clone(runs[:len(runs)-1])
	last.Runs = nil
	for _, r := range runs {
		last.Runs = append(last.Runs, r.figures())
	}
	if err := last.save(); err != nil {
		t.Errorf("%s: %v", last.Name, err)
	}
	return last
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
			verdicts[i].Outcome, verdicts[i].Reason = Invalid, bottleneck
		}
	}
	return verdicts
}

// pooled is all runs of r as one long run: each begins where the one before
// has ended. Rates are over all their windows together.
func (r *Result) pooled() *Result {
	runs := append(slices.Clone(r.earlier), r)
	p := &Result{
		Name: r.Name, Simulated: r.Simulated, Partial: r.Partial, Ended: r.Ended, Started: runs[0].Started,
		Scenario: r.Scenario, Target: r.Target, Health: r.Health,
	}
	slots := max(1, r.Scenario.Load.Concurrency)
	at := int64(0) // end of the runs before
	for i, run := range runs {
		p.Counts = p.Counts.plus(run.Counts)
		first, last := run.span()
		move := at - first
		at = last + move
		for _, s := range run.samples.all {
			p.samples.all = append(p.samples.all, s.moved(move, i*slots))
		}
		for _, s := range run.samples.start {
			p.samples.start = append(p.samples.start, s.moved(move, i*slots))
		}
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
	p.measure(r.Scenario.Load.Concurrency)
	p.poolRates(runs)
	return p
}

// poolRates sets the rates to the means of the runs', each by its window.
func (p *Result) poolRates(runs []*Result) {
	mean := func(of func(*Result) Value) Value {
		sum, over := Value(0), Value(0)
		for _, r := range runs {
			w := r.rateWindow()
			sum, over = sum+w*of(r), over+w
		}
		return per(sum, over)
	}
	p.Window, p.Duration = 0, 0
	for _, r := range runs {
		p.Window, p.Duration = p.Window+r.Window, p.Duration+r.Duration
	}
	errors := p.Rates.Errors
	p.Rates = Rates{
		Requests: mean(func(r *Result) Value { return r.Rates.Requests }), Output: mean(func(r *Result) Value { return r.Rates.Output }),
		Total: mean(func(r *Result) Value { return r.Rates.Total }), Input: mean(func(r *Result) Value { return r.Rates.Input }),
		Items: mean(func(r *Result) Value { return r.Rates.Items }), Concurrency: mean(func(r *Result) Value { return r.Rates.Concurrency }),
		OutputPerAccelerator: mean(func(r *Result) Value { return r.Rates.OutputPerAccelerator }),
		TotalPerAccelerator:  mean(func(r *Result) Value { return r.Rates.TotalPerAccelerator }),
		Errors:               errors,
	}
}

// rateWindow is the window that r's rates are over.
func (r *Result) rateWindow() Value {
	if r.Counts.Start > 0 && r.Steady.Window.Known() {
		return r.Steady.Window
	}
	return r.Window
}

// span is from the first sending to the last end of the measured requests.
func (r *Result) span() (first, last int64) {
	first = record.Absent
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.sent != record.Absent && (first == record.Absent || s.sent < first) {
			first = s.sent
		}
		last = max(last, s.done)
	}
	return max(first, 0), max(last, first, 0)
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
