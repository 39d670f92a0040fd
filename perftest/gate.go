package perftest

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// errMustFail is why a gate's run is stopped whose objectives are lost.
var errMustFail = errors.New("must fail")

// errShort says that a run was not made because of go test's -short.
var errShort = errors.New("-short")

// looks is how often the evidence is judged at most, in a run of plan p.
func (s *Scenario) looks(p Plan) int {
	if s.Extend.Requests == 0 || p.Requests == 0 {
		return 0
	}
	looks := 1
	for n := p.Requests; n < s.Extend.Requests; n *= 2 {
		looks++
	}
	return looks
}

// checkGate refuses a plan that cannot prove the scenario's objectives, and
// warns of what weakens them.
func (r *run) checkGate() error {
	s, p := &r.scenario, &r.plan
	if w := s.Warmup; w.Requests > 0 && w.Duration == 0 && w.Requests < p.slots() || len(s.SLOs) > 0 && w == (Warmup{}) {
		r.warn("the warm-up of %d requests is smaller than the load's %d slots: what is measured may begin with a cold server", w.Requests, max(1, p.slots()))
	}
	for i, slo := range s.SLOs {
		if err := slo.check(); err != nil {
			return fmt.Errorf("SLOs[%d]: %w", i, err)
		}
	}
	switch e := s.Extend; {
	case e.Requests < 0:
		return badField("Extend.Requests", e.Requests, "set it to 0 (none) or to more than the load's requests")
	case e.Duration < 0:
		return badField("Extend.Duration", e.Duration, "set it to 0 (no limit) or more")
	case e == (Extend{}):
	case len(s.SLOs) == 0:
		return badField("SLOs", "empty", "name the objectives that Extend is to decide")
	case p.Requests == 0 || p.paired || p.profile != nil || p.Starts != nil && p.Duration > 0:
		return badField("Load.Requests", p.Requests, "Extend needs a Closed or Open load with Requests")
	case e.Requests <= p.Requests:
		return badField("Extend.Requests", e.Requests, fmt.Sprintf("set it to more than the load's %d", p.Requests))
	}
	if r.from.probe {
		return nil
	}
	if err := r.provable(); err != nil {
		if testing.Short() && !r.settings.required {
			return fmt.Errorf("%w: %w", errShort, err)
		}
		return err
	}
	return nil
}

// provable says whether the planned requests could prove each objective, if not
// one of them were over its limit.
func (r *run) provable() error {
	p := &r.plan
	planned := max(p.Requests, r.scenario.Extend.Requests)
	if planned == 0 && p.rate > 0 {
		planned = int(math.Ceil(p.rate * p.Duration.Seconds()))
	}
	requests := r.turnsOf(planned) * max(1, r.scenario.Repeat)
	planned *= max(1, r.scenario.Repeat)
	if planned == 0 || r.settings.shard.Count > 1 && !r.settings.rendezvous {
		return nil // how many fit into the time is not known, or these are not all
	}
	var lacking []string
	most := 0
	// The margin rule asks for a minute.
	margin := p.rate == 0 || time.Duration(float64(planned)/p.rate*1e9) >= time.Minute
	for _, slo := range r.scenario.SLOs {
		if n := slo.leastRequests(r.scenario.looks(r.plan), margin); n > requests {
			lacking = append(lacking, fmt.Sprintf("%v (%d)", slo, n))
			most = max(most, n)
		}
	}
	if most == 0 {
		return nil
	}
	says, counts := fmt.Sprintf("%d requests", requests), "a conversation counts as one unless its workload is Conversational; "
	if requests != planned {
		says, counts = fmt.Sprintf("%d conversations of %d turns or more in all", planned, requests), "each turn counts; "
	}
	return badField("Load", says,
		fmt.Sprintf("they cannot prove %s even if all keep the limit: measure at least %d (%sit may take more, to which Extend goes on), or judge without proof: leave SLOs empty and use assert.SLOs", strings.Join(lacking, ", "), most, counts))
}

// turnsOf is how many requests n of the load come to: more where the workload
// knows how many turns its conversations have, and the load cuts none of them.
func (r *run) turnsOf(n int) int {
	w, knows := r.scenario.Workload.(Conversational)
	if !knows || r.plan.Duration > 0 || r.plan.profile != nil {
		return n
	}
	return max(n, w.FewestTurns(n))
}

// leastRequests is the least number of requests that could prove s, by the
// margin rule where that may help.
func (s SLO) leastRequests(looks int, margin bool) int {
	p, isShare := s.kept()
	switch {
	case s.Metric == ITL || s.Metric == ITLPerToken:
		return minRequestsOfGaps
	case s.Metric == ServerMetric:
		return 0
	case isShare: // of error rate and goodput there is no value near the limit
		return stats.ShareTest{P: p, Alpha: s.level() / float64(max(1, looks))}.LeastRequests(margin && !s.isShare())
	case s.Stat == Mean:
		return rateWindows
	}
	return rateRequests
}

// least is the time that the plan takes, as far as it says one.
func (p *Plan) least() time.Duration {
	need := p.Duration
	if p.profile != nil {
		need += p.profile.Length()
	} else if p.Duration == 0 && p.rate > 0 {
		need += time.Duration(float64(p.Requests) / p.rate * 1e9)
	}
	return need
}

// checkTime refuses, for a gate, a plan whose runs to come do not fit before the
// test's deadline, and warns of one that is to prove nothing.
func (r *run) checkTime(left time.Duration) error {
	toCome := max(1, r.scenario.Repeat-int(r.from.repeat))
	need := time.Duration(toCome) * (r.plan.least() + r.scenario.Warmup.Duration)
	if need <= left || r.from.probe {
		return nil
	}
	says := fmt.Sprintf("the plan takes at least %v, and the test's deadline ends it in %v: raise go test's -timeout, or ask for less", need.Round(time.Second), left.Round(time.Second))
	if len(r.scenario.SLOs) > 0 {
		return errors.New(says)
	}
	r.warn("%s", says)
	return nil
}

// warn tells of something before the load, and keeps it for the result.
func (r *run) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	r.logf("%s: %s", report.Escape(r.scenario.Name), text)
	r.warnings = append(r.warnings, text)
}

// watch looks, after each twentieth of the requests, whether an objective must
// fail whatever those to come do. It runs in the goroutine that writes records.
type watch struct {
	slos    []SLO
	planned int // requests of all shards and runs; 0 when that is not known
	looks   int
	next    int // number of requests at which it looks
	lost    func()
	why     string // of the first objective that is lost
}

// look is called after each request that was measured.
func (w *watch) look(c *collector) {
	if len(w.slos) == 0 || w.why != "" || c.counts.Sent < w.next {
		return
	}
	planned, rest := w.planned, fmt.Sprintf("the rest of %d", w.planned)
	if planned == 0 || c.counts.Conversations > 0 { // of which it is not known how many turns they have
		planned, rest = 0, "the others"
	}
	w.next = c.counts.Sent + max(1, c.counts.Sent/20, planned/20)
	so := &Result{Counts: c.counts, samples: c.samples, Window: Absent}
	so.Scenario.Looks = w.looks
	for _, slo := range w.slos {
		if slo.Tag == "" && (judged{so, len(w.slos)}).mustFail(slo, planned) {
			w.why = fmt.Sprintf("%v is missed by so many of %d requests that it must fail, whatever %s do", slo, c.counts.Sent, rest)
			w.lost()
			return
		}
	}
}

// mustFail reports whether an objective is lost, if all requests to come keep
// it: one on a share by the test that judges it, and one that a single request
// can miss (a maximum, an error rate of 0, a mean, which failures leave without
// a bound) by that. planned is 0 when their number is not known, which the
// others need.
func (r judged) mustFail(slo SLO, planned int) bool {
	p, ok := slo.kept()
	switch {
	case slo.Metric == ITL || slo.Metric == ITLPerToken || slo.Metric == ServerMetric:
		return false
	case slo.Stat == Mean:
		t := r.overLimit(slo)
		return t.failed+t.lacking > 0
	case !ok:
		return false
	}
	var over []bool
	switch slo.Metric {
	case ErrorRate:
		over, _ = r.against(slo, func(s *sample) (bool, bool) { return s.failed, true }, false)
	case Goodput:
		over, _ = r.against(slo, func(s *sample) (bool, bool) { return s.keeping(slo.Limits) }, slo.lower())
	default:
		over = violations(slo, r.overLimit(slo).values, p).Over
	}
	if planned == 0 {
		return p == 1 && slices.Contains(over, true)
	}
	return stats.ShareTest{P: p, FailAlpha: r.refuteLevel(slo)}.MustFail(over, planned)
}

// against flags the requests that count against an SLO on a share of all, in
// the order of their intended starts; unknown is what is taken for those of
// which it is not known.
func (r *Result) against(slo SLO, is func(*sample) (yes, known bool), unknown bool) (flags []bool, n int) {
	for _, s := range r.inOrder() {
		yes, known := is(s)
		if s.cancelled && !s.counts(slo) {
			continue
		}
		if !known {
			yes = unknown
		}
		flag := yes != slo.lower()
		flags = append(flags, flag)
		if flag {
			n++
		}
	}
	return flags, n
}
