package perftest

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Shards are the results of the parts of one load, which as many processes have
// sent (PERFTEST_SHARD); see [Merge].
type Shards struct {
	// Results are the parts, in any order: each shard once, of Run or
	// ReadResult. Their requests.jsonl is read again.
	Results []*Result
	// ClocksAhead say by how much the clock of each result's machine was ahead
	// of a common one: one entry a result, in the order of Results. Nil means
	// that all clocks agree, as NTP keeps them to some milliseconds.
	ClocksAhead []time.Duration
	// AllowMissing takes shards that are not all there. The result is then
	// partial, and cannot pass. Zero refuses them.
	AllowMissing bool
}

// ShardInfo is a part that a merged result is made of.
type ShardInfo struct {
	// Index of the shard, from 0, of Count.
	Index int `json:"index"`
	Count int `json:"count"` // shards that the load was cut into
	// Started is the start of the shard's own run, by its own clock.
	Started time.Time `json:"started"`
	// ClockAhead is by how much that clock was said to be ahead.
	ClockAhead Value `json:"clock_ahead_s"`
	// ClockBound is the most by which ClockAhead is wrong, where shards have
	// met (see package perftest/cluster); 0 elsewhere.
	ClockBound Value `json:"clock_bound_s,omitzero"`
	// ClockDrift is by how much ClockAhead had changed at the end of the run.
	ClockDrift Value `json:"clock_drift_s,omitzero"`
	// From is the address that the shard came from; empty for shard 0, and
	// where shards have not met.
	From string `json:"from,omitzero"`
	// Lost says why the part is not whole; empty when it is.
	Lost string `json:"lost,omitzero"`
	// Ended is how the shard's run ended, as of the whole.
	Ended string `json:"ended"`
	URL   string `json:"url"` // of the server that it measured
	// Counts are the shard's requests.
	Counts Counts `json:"counts"`
	// Health is how the shard's client did.
	Health Health `json:"health"`
	// Environment is the shard's machine and build.
	Environment Environment `json:"environment"`
}

// Merge joins the results of the shards of one load to the result of the whole
// load, in the folder dir, which it makes: result.json, requests.jsonl and
// report.html as Run writes them. Nothing of the shards changes.
//
// Every figure is made anew from the requests of all shards, as one run would
// have made it; percentiles of percentiles are none. The files are read side by
// side, so that it takes the memory of the result alone. Stamps are brought to
// one clock by each result's Started; slot k of shard i of n becomes slot k*n+i,
// which it is of the whole. The health of each client is kept ([Result].Shards),
// and where one of them was the bottleneck, every verdict is INVALID. The
// server's own metrics are those that one shard scraped.
//
// Shards that were never at work together, by their clocks, make a partial result
// that cannot pass, since the server never had the whole load.
//
// Results that are no shards of one plan are refused, with what differs: they
// have to be of the same test, scenario, nonce (PERFTEST_NONCE), model and
// version.
//
// Of a repeated scenario each run is merged, those before the last one in folders
// run-1, run-2 and so on of dir, and the result is that of the last run, which
// knows the others, as Run gives it.
func Merge(dir string, shards Shards) (*Result, error) {
	runs, err := shards.runs()
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	last, err := mergeRun(dir, runs[len(runs)-1])
	if err != nil || len(runs) == 1 {
		return last, err
	}
	all := []*Result{}
	for i, run := range runs[:len(runs)-1] {
		one, err := mergeRun(filepath.Join(dir, fmt.Sprintf("run-%d", i+1)), run)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	last.standFor(append(all, last))
	if err := last.save(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	return last, nil
}

// runs are the shards of each run of a repeated scenario; of any other, they
// themselves.
func (s Shards) runs() ([]Shards, error) {
	n := 0
	for i, r := range s.Results {
		switch {
		case r == nil: // which is refused with the rest
			return []Shards{s}, nil
		case i > 0 && len(r.earlier) != n:
			return nil, fmt.Errorf("%s stands for %d runs, and %s for %d: read all runs of each shard", s.Results[0].Dir, n+1, r.Dir, len(r.earlier)+1)
		}
		n = len(r.earlier)
	}
	runs := make([]Shards, n+1)
	for k := range runs {
		runs[k] = s
		runs[k].Results = nil
		for _, r := range s.Results {
			if k < n {
				r = r.earlier[k]
			}
			runs[k].Results = append(runs[k].Results, r)
		}
	}
	return runs, nil
}

// mergeRun merges the shards of one run.
func mergeRun(dir string, shards Shards) (*Result, error) {
	m, err := shards.merger(dir)
	if err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	if m.res.Dir, err = filepath.Abs(dir); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	if err := m.merge(); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	v := view{title: m.res.Name, runs: []viewed{{Result: m.res}}}
	if err := errors.Join(m.res.save(), v.write(m.res.Dir, time.Time{})); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	m.res.reported = true // verdicts that come later write the page again
	return m.res, nil
}

// merger is a merging under way.
type merger struct {
	parts  []part // by their index
	count  int    // shards of the plan
	res    *Result
	seen   indexes   // measured requests
	server *part     // whose scrapes stand for all; nil when none made any
	until  time.Time // when it is given up; zero is never
}

// part is one shard.
type part struct {
	*Result
	index int
	ahead time.Duration
	shift int64 // from its stamps to the merged ones
}

// merger checks the shards, and begins the result.
func (s Shards) merger(dir string) (*merger, error) {
	if len(s.Results) == 0 {
		return nil, badField("Shards.Results", "empty", "give it the result of each shard")
	}
	if s.ClocksAhead != nil && len(s.ClocksAhead) != len(s.Results) {
		return nil, badField("Shards.ClocksAhead", fmt.Sprintf("of %d entries", len(s.ClocksAhead)), fmt.Sprintf("give one for each of the %d results, or none at all", len(s.Results)))
	}
	m := &merger{seen: indexes{}}
	for i, r := range s.Results {
		field := fmt.Sprintf("Shards.Results[%d]", i)
		switch {
		case r == nil:
			return nil, badField(field, "nil", "give it a result of Run or ReadResult")
		case r.Dir == "":
			return nil, badField(field, "of no folder", "its requests.jsonl is needed: give it a result that was written")
		case len(r.Shards) > 0:
			return nil, badField(field, "merged already", "merge the shards that it was made of")
		}
		p := part{Result: r, index: r.Scenario.Load.ShardIndex}
		if s.ClocksAhead != nil {
			p.ahead = s.ClocksAhead[i]
		}
		m.parts = append(m.parts, p)
	}
	slices.SortStableFunc(m.parts, func(a, b part) int { return cmp.Compare(a.index, b.index) })
	if err := m.check(s.AllowMissing); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(dir, requestsFile)); err == nil {
		return nil, badField("the folder", fmt.Sprintf("%q", dir), "it holds a result already: name a new one")
	}
	m.begin()
	return m, nil
}

// begin makes the result of what the shards have in common.
func (m *merger) begin() {
	first := m.parts[0]
	base := first.Started.Add(-first.ahead)
	for _, p := range m.parts {
		if at := p.Started.Add(-p.ahead); at.Before(base) {
			base = at
		}
	}
	m.res = &Result{
		Schema: ResultSchema, Version: ResultVersion, Name: first.Name, Test: first.Test, Package: first.Package,
		Simulated: first.Simulated, Ended: endedComplete, Started: base.Round(0).UTC(), // without the monotonic reading
		Scenario: first.Scenario, Target: first.Target, Environment: first.Environment,
		Window: Absent, Duration: Absent, Failures: []Failure{}, Warnings: []string{}, Verdicts: []Verdict{},
	}
	m.res.Scenario.Load.ShardIndex, m.res.Scenario.Load.ShardCount = 0, 1
	m.res.Duration = 0
	for i := range m.parts {
		p := &m.parts[i]
		p.shift = int64(p.Started.Add(-p.ahead).Sub(base))
		m.res.Duration = max(m.res.Duration, p.Duration+seconds(p.shift))
		m.res.Counts.Planned += p.Counts.Planned
		m.res.Counts.Dropped += p.Counts.Dropped
		m.res.Counts.Unsent += p.Counts.Unsent
		if p.Partial {
			m.res.Partial, m.res.Ended = true, p.Ended
		}
		if p.server != nil && (m.server == nil || len(p.server.scrapes) > len(m.server.server.scrapes)) {
			m.server = p
		}
		m.res.Shards = append(m.res.Shards, ShardInfo{
			Index: p.index, Count: m.count, Started: p.Started, ClockAhead: Value(p.ahead.Seconds()), Ended: p.Ended,
			URL: p.Target.URL, Counts: p.Counts, Health: p.Health, Environment: p.Environment,
		})
	}
	if len(m.parts) < m.count {
		m.res.Partial, m.res.Ended = true, endedMissing
		m.res.Counts.Planned = max(m.res.Counts.Planned, m.res.Scenario.Load.Requests)
	}
}
