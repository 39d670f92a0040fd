package perftest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// loadSearch is a search under way: of one process, of shard 0, which decides
// alone, or of another shard, which is told.
type loadSearch struct {
	t        testing.TB
	scenario Scenario
	slos     []SLO
	search   *stats.Search
	capacity *Capacity
	runs     []*Result
	next     searchStep
	decided  *Result // the last one that is in next
	broken   string  // why the search can tell nothing at all
	where    string  // the verdict is, in another shard; else empty
}

// searchStep is how a search goes on, as shard 0 tells the others.
type searchStep struct {
	Probe *stats.Probe `json:"probe"` // nil at the end
	// Found is what it came to at the end, in File; nil where it broke off.
	Found *Capacity `json:"found"`
	File  string    `json:"file"`
}

// level is the scenario of a probe.
func (m *loadSearch) level(p stats.Probe) Scenario {
	level := m.scenario
	level.Load = probeLoad(level.Load, p)
	level.Name += "/" + levelName(level.Load, 0)
	if m.capacity.Unit == "concurrency" && level.Warmup.Requests > 0 {
		level.Warmup.Requests = max(level.Warmup.Requests, int(p.Load))
	}
	return level
}

// first is the step that the search begins with, in all shards.
func (m *loadSearch) first() searchStep {
	m.step()
	return m.next
}

// step sets the next step by what was reported.
func (m *loadSearch) step() {
	probe, more := m.search.Next()
	switch {
	case !more:
		m.end()
	case !fits(m.t, m.level(probe), m.runs):
		m.capacity.CutShort = endedDeadline
		m.end()
	default:
		m.next = searchStep{Probe: &probe}
	}
}

// end sets the last step.
func (m *loadSearch) end() {
	m.capacity.take(m.search.Found(), m.runs, m.slos)
	m.next = searchStep{Found: m.capacity, File: m.capacity.File}
}

// decide takes in the result of a step.
func (m *loadSearch) decide(res *Result) {
	m.t.Helper()
	probe := *m.next.Probe
	m.runs = append(m.runs, res)
	m.decided = res
	p, tried := res.probed(probe, m.slos)
	m.capacity.Probes = append(m.capacity.Probes, p)
	m.t.Logf("%s", p.line(m.capacity.Unit))
	switch {
	case interrupted.Load():
		m.capacity.CutShort = endedInterrupted
		m.end()
	case res.Ended == endedDeadline || res.Ended == endedInterrupted || res.Ended == endedLost:
		m.capacity.CutShort = res.Ended
		m.end()
	case p.Outcome == Invalid && tried.Outcome != stats.ProbeInvalid:
		m.broken = fmt.Sprintf("%s: %s", m.level(probe).Name, p.Reason)
		m.next = searchStep{}
	default:
		m.search.Report(tried)
		if m.step(); m.next.Probe != nil && lost.Load() != nil { // which would never come to it
			m.capacity.CutShort = endedLost
			m.end()
		}
	}
}

// then is decide in shard 0, before the others get the result of all: with it
// they are told what it gives.
func (m *loadSearch) then(res *Result) ([]byte, error) {
	m.t.Helper()
	m.decide(res)
	return json.Marshal(m.next)
}

// after goes on after a step, whoever decides.
func (m *loadSearch) after(res *Result) {
	m.t.Helper()
	if res.elsewhere == "" {
		if m.decided != res { // by then
			m.decide(res)
		}
		return
	}
	m.runs = append(m.runs, res)
	m.where = res.elsewhere
	m.next = searchStep{}
	if err := json.Unmarshal(res.then, &m.next); err != nil {
		m.t.Fatalf("%s: shard 0's next step: %v", report.Escape(m.scenario.Name), err)
	}
}

// ended shows what the search came to, and gives it.
func (m *loadSearch) ended() *Capacity {
	t, c := m.t, m.capacity
	t.Helper()
	switch {
	case m.where == "" && m.broken != "":
		t.Fatalf("%s", m.broken)
	case m.where == "":
		c.show(t)
	case m.next.Found == nil:
		t.Skipf("%s: shard 0 has ended the search: the verdict is %s", report.Escape(c.Name), report.Escape(m.where))
	default:
		c = m.next.Found
		c.elsewhere = cmp.Or(m.next.File, m.where)
		if m.next.File != "" {
			c.elsewhere = "shard 0's, in " + m.next.File
		}
		if i := c.confirming(); i >= 0 && i < len(m.runs) {
			c.Result = m.runs[i]
		}
		t.Logf("%s: the verdict on its max load is %s", report.Escape(c.Name), report.Escape(c.elsewhere))
	}
	return c
}
