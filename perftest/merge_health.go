package perftest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// health sums up how the clients did: delays and shares are those of the worst
// one, numbers and rates those of all together.
func (m *merger) health() {
	first := m.parts[0].Health
	h := Health{
		AskedConcurrency: Absent, Concurrency: Absent, AskedRate: Absent, Rate: Absent, CPUs: Absent, CPU: Absent,
		MachineCPU: Absent, Steal: Absent, Throttled: Absent, GCPause: Absent, LongestWait: Absent, StallShare: Absent, Watched: Absent, OnlyWarns: true,
		ReadLag: noLag, RunQueue: noLag, CanaryLag: first.CanaryLag, CanaryTTFT: first.CanaryTTFT, Limits: first.Limits, KernelStamps: true,
	}
	for _, p := range m.parts {
		o := &p.Health
		h.AskedConcurrency, h.Concurrency = sum(h.AskedConcurrency, o.AskedConcurrency), sum(h.Concurrency, o.Concurrency)
		h.AskedRate, h.Rate, h.CPUs = sum(h.AskedRate, o.AskedRate), sum(h.Rate, o.Rate), sum(h.CPUs, o.CPUs)
		h.ReadLag, h.RunQueue = h.ReadLag.worse(o.ReadLag), h.RunQueue.worse(o.RunQueue)
		h.CanaryLag, h.CanaryTTFT = h.CanaryLag.worse(o.CanaryLag), h.CanaryTTFT.worse(o.CanaryTTFT)
		h.CPU, h.MachineCPU, h.Steal = larger(h.CPU, o.CPU), larger(h.MachineCPU, o.MachineCPU), larger(h.Steal, o.Steal)
		h.Throttled, h.GCPause = larger(h.Throttled, o.Throttled), larger(h.GCPause, o.GCPause)
		h.LongestWait, h.StallShare, h.Watched = larger(h.LongestWait, o.LongestWait), larger(h.StallShare, o.StallShare), larger(h.Watched, o.Watched)
		h.Offered, h.Waited, h.Canaries, h.Wakes = h.Offered+o.Offered, h.Waited+o.Waited, h.Canaries+o.Canaries, h.Wakes+o.Wakes
		h.OutOfFiles, h.FileLimit = h.OutOfFiles+o.OutOfFiles, cmp.Or(h.FileLimit, o.FileLimit)
		h.KernelStamps, h.Thinks, h.OnlyWarns = h.KernelStamps && o.KernelStamps, h.Thinks || o.Thinks, h.OnlyWarns && o.OnlyWarns
		for _, l := range o.Lines {
			h.Lines = append(h.Lines, p.says(l))
		}
	}
	h.Findings = m.findings()
	m.res.Health = h
	q := m.res.requestsHealth(0)
	m.res.Health.SendLag, m.res.Health.SlotGap = lagOf(q.SendLag), lagOf(q.SlotGap)
	m.res.Health.SlotGapShare = per(Value(q.GapTotal.Seconds()), Value(q.WorkerTime.Seconds()))
}

// mostNamed is how many shards are named one by one, where as many may be the
// same way as a job has.
const mostNamed = 4

// findings are those of all shards. What several of them found is one, with what
// to do about it said once.
func (m *merger) findings() (all []string) {
	type finding struct {
		remedy string
		seen   []string
	}
	var found []*finding
	byKind := map[string]*finding{}
	for _, p := range m.parts {
		for _, f := range p.Health.Findings {
			seen, remedy, _ := strings.Cut(f, "): ")
			kind := seen[:max(0, strings.IndexAny(seen, "0123456789"))] + remedy
			if byKind[kind] == nil {
				byKind[kind] = &finding{remedy: remedy}
				found = append(found, byKind[kind])
			}
			byKind[kind].seen = append(byKind[kind].seen, p.says(seen)+")")
		}
	}
	for _, f := range found {
		if more := len(f.seen) - mostNamed; more > 0 {
			f.seen = append(f.seen[:mostNamed], fmt.Sprintf("%d more", more))
		}
		all = append(all, strings.Join(f.seen, "; ")+": "+f.remedy)
	}
	return all
}

// healthLines are those of Health that a summary shows: of many shards those of
// the first with the most findings.
func (r *Result) healthLines() (lines []string) {
	if len(r.Shards) <= mostNamed {
		return r.Health.Lines
	}
	worst := make([]*ShardInfo, len(r.Shards))
	for i := range r.Shards {
		worst[i] = &r.Shards[i]
	}
	slices.SortStableFunc(worst, func(a, b *ShardInfo) int { return len(b.Health.Findings) - len(a.Health.Findings) })
	for _, s := range worst[:mostNamed] {
		for _, line := range s.Health.Lines {
			lines = append(lines, fmt.Sprintf("shard %d: %s", s.Index, line))
		}
	}
	return append(lines, fmt.Sprintf("%d more, none with more findings: see report.html", len(worst)-mostNamed))
}

var noLag = Lag{Absent, Absent, Absent}

// worse has the larger of each figure.
func (l Lag) worse(o Lag) Lag {
	return Lag{larger(l.P50, o.P50), larger(l.P99, o.P99), larger(l.Max, o.Max)}
}

// larger is the larger of two figures, of which either may be absent.
func larger(a, b Value) Value {
	if !a.Known() || b > a {
		return b
	}
	return a
}

// sum is that of two figures, of which either may be absent.
func sum(a, b Value) Value {
	switch {
	case !a.Known():
		return b
	case !b.Known():
		return a
	}
	return a + b
}

// says marks a line as a shard's.
func (p *part) says(line string) string { return fmt.Sprintf("shard %d: %s", p.index, line) }

// warnings takes over what the shards found that the requests do not say
// again: once where all say it.
func (m *merger) warnings() {
	r := m.res
	if n := len(m.parts); n < m.count {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d shards are missing: their requests are in no figure", m.count-n, m.count))
	}
	for i, p := range m.parts {
		if p.Target.URL != m.parts[0].Target.URL {
			r.Warnings = append(r.Warnings, fmt.Sprintf("shard %d measured %s, shard %d %s: are these one server?%s", m.parts[0].index, m.parts[0].Target.URL, p.index, p.Target.URL, eachItsOwn(r)))
			break
		}
		if i > 0 && m.apart(&m.parts[i-1], &p) {
			r.Warnings = append(r.Warnings, fmt.Sprintf("shards %d and %d sent nothing at the same time: the load was never the whole one (start them together; clocks that disagree? see Shards.ClocksAhead)", m.parts[i-1].index, p.index))
			if !r.Partial {
				r.Partial, r.Ended = true, endedApart
			}
			break
		}
	}
	own := make([][]string, len(m.parts))
	for i, p := range m.parts {
		own[i] = p.ownWarnings()
	}
	for i, p := range m.parts {
		for _, w := range own[i] {
			all := true
			for _, other := range own {
				all = all && slices.Contains(other, w)
			}
			switch {
			case !all:
				r.Warnings = append(r.Warnings, p.says(w))
			case i == 0:
				r.Warnings = append(r.Warnings, w)
			}
		}
	}
}

// eachItsOwn says why shards that were given no server have several.
func eachItsOwn(r *Result) string {
	if !r.Simulated {
		return ""
	}
	return " Each shard simulates its own: with PERFTEST_URL all measure the same"
}

// ownWarnings are those that do not follow from the requests.
func (p *part) ownWarnings() (own []string) {
	again := *p.Result
	again.Warnings = nil
	c := tokenCounter{info: p.Tokenizer, differ: p.Counts.TokenizerDiffers}
	c.finish(&again)
	again.warn()
	again.warnOfLoad()
	for _, w := range p.Warnings {
		if !slices.Contains(again.Warnings, w) {
			own = append(own, w)
		}
	}
	return own
}

// apart reports whether two parts had no moment in common. Those of shards that
// have met come without their samples, and began together. It is not known of a
// part that sent nothing, as one without a connection, and of two of a single
// request, which an open load may well have one after the other.
func (m *merger) apart(a, b *part) bool {
	if n, n2 := len(a.samples.all), len(b.samples.all); n == 0 || n2 == 0 || n+n2 == 2 {
		return false
	}
	from, to := a.rateSpan()
	from2, to2 := b.rateSpan()
	if from > to || from2 > to2 {
		return false
	}
	return to+a.shift < from2+b.shift || to2+b.shift < from+a.shift
}

// of is the part of a merged result that one shard sent, for what its client
// did.
func (s *ShardInfo) of(r *Result) *Result {
	only := &Result{Health: s.Health, Counts: s.Counts, Target: r.Target, Metrics: Metrics{ITL: r.Metrics.ITL}}
	only.Scenario.Load = r.Scenario.Load
	for _, one := range r.samples.all {
		if int(one.slot)%s.Count == s.Index {
			only.samples.all = append(only.samples.all, one)
		}
	}
	for _, one := range r.samples.start {
		if int(one.slot)%s.Count == s.Index {
			only.samples.start = append(only.samples.start, one)
		}
	}
	return only
}

// shardBottleneck says why the first shard whose client was the bottleneck
// spoils them all; empty when there is none.
func (r *Result) shardBottleneck(smallest time.Duration, rates bool) string {
	for i := range r.Shards {
		s := &r.Shards[i]
		if s.Health.OnlyWarns {
			continue
		}
		if why := s.of(r).clientBottleneck(smallest, rates); why != "" {
			return fmt.Sprintf("shard %d of %d: %s", s.Index, s.Count, why)
		}
	}
	return ""
}
