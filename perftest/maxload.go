package perftest

import (
	"cmp"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// MaxLoad searches the highest load under which s meets slos: the concurrency
// of a [Closed] load, or the rate of an [Open] one, from which the search
// starts. Without slos those of the scenario are met.
//
// The load doubles until it no longer meets them, is bisected to 5 %, and the
// highest one that does is then confirmed. A probe is as long as the load says,
// or 1,000 requests or 60 s where it says nothing, and of a closed loop 10
// requests a slot at least; its figures decide, and it ends as soon as it must
// fail. The confirming run has four times the requests and five times the time,
// and has to prove the SLOs: short probes see none of the long bursts near the
// limit, and claim too much. Where it does not prove them, the load goes down by
// 5 %, six times at most. A load that the server falls behind is not met,
// whatever its figures.
//
// Each probe has arrivals and prompts of its own, and the scenario's warm-up, of
// a closed loop of a request a slot at least, or one of 30 s where it has none.
// It begins when a single request has been answered, behind all that the probe
// before has left in the server's queue.
//
// A probe in which the client was the bottleneck ends the search. So do Ctrl-C
// and the test's deadline, which also fail the test.
//
// Where the shards of a job meet (see package perftest/cluster), shard 0 makes the
// search on the requests of all, and the others follow it from load to load. Of
// fewer slots than there are shards each of the first ones has one, and the
// others look on.
func MaxLoad(t testing.TB, s Scenario, slos ...SLO) *Capacity {
	t.Helper()
	s.Name = cmp.Or(s.Name, t.Name())
	if len(slos) == 0 {
		slos = s.SLOs
	}
	search, err := newSearch(s, slos)
	if err != nil {
		t.Fatalf("%s: %v", report.Escape(s.Name), err)
	}
	c := &Capacity{Schema: capacitySchema, Version: capacityVersion, Name: s.Name, Test: t.Name(), SLOs: slos, Unit: string(RequestRate), Started: time.Now().UTC()}
	if _, closed := s.Load.(Closed); closed {
		c.Unit = "concurrency"
	}
	s.SLOs, s.Extend, s.Repeat = slos, Extend{}, 0 // for the early stop
	if s.Warmup == (Warmup{}) {
		s.Warmup.Duration = 30 * time.Second
	}
	m := &loadSearch{t: t, scenario: s, slos: slos, search: search, capacity: c}
	from := passage{probe: true, then: m.then}
	for next := m.first(); next.Probe != nil; next = m.next {
		res := runOnce(t, m.level(*next.Probe), from)
		from = from.after(res)
		m.after(res)
	}
	return m.ended()
}

// fits reports whether a probe will probably end before the test's deadline: by
// its time, or by its requests at the rate of the probe before, if that is less.
func fits(t testing.TB, s Scenario, before []*Result) bool {
	deadline, has := deadlineOf(t)
	p, err := s.Load.Plan()
	if !has || err != nil {
		return true
	}
	need := p.least()
	if p.Requests > 0 && p.Duration > 0 {
		rate := 0.0
		if len(before) > 0 {
			rate = known(before[len(before)-1].Rates.Requests)
		}
		if rate > 0 {
			need = min(need, time.Duration(float64(p.Requests)/rate*1e9))
		} else {
			need = 0
		}
	}
	left := time.Until(deadline)
	return need+s.Warmup.Duration <= left-reserve(left)
}

// newSearch checks what is to be searched.
func newSearch(s Scenario, slos []SLO) (*stats.Search, error) {
	if len(slos) == 0 {
		return nil, badField("SLOs", "empty", "name the objectives that the load has to meet")
	}
	for i, slo := range slos {
		if err := slo.check(); err != nil {
			return nil, fmt.Errorf("SLOs[%d]: %w", i, err)
		}
	}
	cfg := stats.SearchConfig{}
	switch l := s.Load.(type) {
	case Closed:
		cfg.Start, cfg.Integer = float64(l.Concurrency), true
	case Open:
		cfg.Start = l.Rate
	default:
		return nil, badField("Load", fmt.Sprintf("a %T", s.Load), "give a Closed load to search a concurrency, or an Open one to search a rate")
	}
	search, err := stats.NewSearch(cfg)
	if err != nil {
		return nil, badField("Load", fmt.Sprintf("%+v", s.Load), "give the load that the search is to start from")
	}
	confirm, err := probeLoad(s.Load, stats.Probe{Load: max(1, cfg.Start), Confirm: true}).Plan()
	if err != nil {
		return nil, err
	}
	for _, slo := range slos {
		if n := slo.leastRequests(0, true); confirm.Requests > 0 && n > confirm.Requests {
			return nil, badField("Load.Requests", confirm.Requests/confirmRequests,
				fmt.Sprintf("a confirming run of %d times as many cannot prove %v: set it to %d or more, or to 0 for 1,000", confirmRequests, slo, (n+confirmRequests-1)/confirmRequests))
		}
	}
	return search, nil
}

// A probe's length where the load says nothing, and by how much longer a
// confirming run is.
const (
	probeRequests   = 1000
	probeDuration   = time.Minute
	confirmRequests = 4
	confirmDuration = 5
	// requestsASlot is the least number of requests a slot of a probe.
	requestsASlot = 10
)

// probeLoad is a load like l of the probe's concurrency or rate. A confirming
// one is so much longer than the probe that it confirms.
func probeLoad(l Load, p stats.Probe) Load {
	long := func(n int, d time.Duration, least int) (int, time.Duration) {
		if n == 0 && d == 0 {
			n, d = probeRequests, probeDuration
		}
		if n > 0 {
			n = max(n, least)
		}
		if p.Confirm {
			n, d = n*confirmRequests, d*confirmDuration
		}
		return n, d
	}
	switch l := l.(type) {
	case Closed:
		l.Concurrency = int(p.Load)
		l.Requests, l.Duration = long(l.Requests, l.Duration, requestsASlot*l.Concurrency)
		return l
	case Open:
		l.Rate = p.Load
		l.Requests, l.Duration = long(l.Requests, l.Duration, 0)
		return l
	}
	return l
}

// probed is what a run says of its load: of a short probe by its figures, of a
// confirming one by what they prove.
func (r *Result) probed(probe stats.Probe, slos []SLO) (Probe, stats.Tried) {
	tried := stats.Tried{Margin: math.NaN(), SD: math.NaN()}
	verdicts := r.Judge(slos...)
	p := Probe{
		Load: Value(probe.Load), Confirm: probe.Confirm, Outcome: Pass, Requests: r.Counts.Succeeded + r.Counts.Failed, Failed: r.Counts.Failed,
		RequestRate: r.Rates.Requests, OutputRate: r.Rates.Output, TTFTp99: r.Metrics.TTFT.P(99), TPOTMean: r.Metrics.TPOT.Mean,
		Dir: r.Dir, Verdicts: verdicts,
	}
	worst := func(o Outcome, reason string) {
		rank := map[Outcome]int{Pass: 0, Inconclusive: 1, Fail: 2, Invalid: 3}
		if rank[o] > rank[p.Outcome] {
			p.Outcome, p.Reason = o, reason
		}
	}
	for _, v := range verdicts {
		outcome, reason := v.Point, v.Reason
		if probe.Confirm {
			outcome, reason = v.Outcome, v.Evidence
		}
		worst(outcome, fmt.Sprintf("%v: %s", v.SLO, reason))
		if v.Binding {
			p.Binding = v.SLO.String()
			tried.Margin, tried.SD = v.margin()
		}
	}
	load := r.loadOf()
	if p.Saturated = load.Saturated; p.Saturated {
		worst(Fail, saturated(load))
	}
	switch bottleneck := r.bottleneck(slos); {
	case r.Ended == endedMustFail:
		p.Outcome, p.Reason = Fail, "it was stopped, since it had to fail"
		tried.Outcome = stats.ProbeMissed
	case bottleneck != "":
		p.Outcome, p.Reason = Invalid, bottleneck
		tried.Outcome = stats.ProbeInvalid
	case p.Outcome == Pass:
		tried.Outcome = stats.ProbeMet
	case p.Outcome == Fail:
		tried.Outcome = stats.ProbeMissed
	}
	return p, tried
}

// spreadOfRuns is what the logarithm of p99 differs by from run to run, for
// figures whose standard error is not known.
const spreadOfRuns = 0.125

// margin is how far the figure is from its limit, as a part of it, and positive
// when it keeps it; sd is its standard error.
func (v Verdict) margin() (margin, sd float64) {
	measured, limit := float64(v.Measured), v.SLO.bound()
	if limit == 0 {
		return math.NaN(), math.NaN()
	}
	margin = (limit - measured) / limit
	if v.SLO.lower() {
		margin = -margin
	}
	if !v.MeasuredBound.Known() {
		return margin, spreadOfRuns * measured / limit
	}
	z := math.Sqrt2 * math.Erfinv(2*v.Confidence-1)
	return margin, math.Abs(float64(v.MeasuredBound)-measured) / limit / z
}
