package perftest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// ReplayTarget gives the target of the stored runs that t is to judge and report
// again, and whether there are to be any (PERFTEST_REPLAY or -perf.replay), so
// that no server is needed: its model, and whether it was simulated. It is zero
// where no stored run of t or a sub-test is found, which Run then says.
func ReplayTarget(t testing.TB) (target Target, replaying bool) {
	set := readSettings()
	if set.replay == "" {
		return Target{}, false
	}
	heads, _ := storedHeads(strings.Split(set.replay, ","))
	for _, h := range heads {
		if h.mine() && (h.Test == t.Name() || strings.HasPrefix(h.Test, t.Name()+"/")) {
			return Target{URL: h.Target.URL, Model: h.Target.Model, Simulated: h.Simulated}, true
		}
	}
	return Target{}, true
}

// replayRun is Run without sending anything: the stored run of s, judged by
// what the code says now.
func replayRun(t testing.TB, s Scenario, from passage, set settings) *Result {
	t.Helper()
	res, err := findReplay(t, s, set)
	if err == nil {
		err = s.ranAs(res)
	}
	if err != nil {
		t.Fatalf("%s", notesOf(t).failed("%s: nothing is replayed: %v", report.Escape(s.Name), err))
	}
	res.judgeBy(s, set)
	if !from.probe {
		t.Logf("%s\n\nreplayed: %s", res.Summary(), filepath.Join(res.Dir, resultFile))
		if !testing.Verbose() {
			report.ToTerminal(res.digest() + "\nreplayed: " + filepath.Join(res.Dir, resultFile) + "\n")
		}
		res.attributes(func(key, value string) { t.Attr("perftest."+key, value) })
		notesOf(t).result(res)
	}
	t.Cleanup(func() { t.Helper(); res.writeReplay(t, set) })
	if res.Partial && !(from.probe && res.Ended == endedMustFail) {
		t.Errorf("%s", notesOf(t).failed("%s: the stored run is partial: %s", report.Escape(s.Name), res.partialText()))
	}
	return res
}

// judgeBy takes from the code what a judgement goes by.
func (r *Result) judgeBy(s Scenario, set settings) {
	r.Scenario.SLOs = append([]SLO{}, s.SLOs...)
	r.Verdicts, r.Comparison = []Verdict{}, nil
	r.Health.Limits = s.ClientLimits
	r.Health.OnlyWarns = set.warnsOfBottleneck()
	for i := range r.Shards {
		r.Shards[i].Health.Limits, r.Shards[i].Health.OnlyWarns = s.ClientLimits, set.warnsOfBottleneck()
	}
}

// ranAs refuses a stored run of another load or workload than that of s. The
// folders of files do not count: they are those of one machine.
func (s *Scenario) ranAs(r *Result) error {
	tree := func(typ string, config json.RawMessage) map[string]any {
		flat := map[string]any{}
		flatten("", withoutFolders(map[string]any{"type": typ, "config": plain(config)}), flat)
		return flat
	}
	for _, part := range []struct {
		field  string
		value  any
		typ    string
		config json.RawMessage
	}{
		{"Load", s.Load, r.Scenario.Load.Type, r.Scenario.Load.Config},
		{"Workload", s.Workload, r.Scenario.WorkloadType, r.Scenario.Workload},
	} {
		if part.value == nil {
			return badField(part.field, "nil", "set it, as for a run")
		}
		diff := differences(tree(part.typ, part.config), tree(typeName(part.value), describe(part.value)))
		if diff != "" {
			return badField(part.field, "another than that of the stored run in "+r.Dir, "of the two, "+diff+"; judge it by the scenario that it ran")
		}
	}
	return nil
}

func withoutFolders(v any) any {
	switch v := v.(type) {
	case string:
		if filepath.IsAbs(v) {
			return filepath.Base(v)
		}
	case []any:
		for i := range v {
			v[i] = withoutFolders(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = withoutFolders(v[k])
		}
	}
	return v
}

// writeReplay writes the page of a stored run into a folder of its own; that
// of a merged one has it, and its verdicts.
func (r *Result) writeReplay(t testing.TB, set settings) {
	t.Helper()
	dir, err := r.Dir, error(nil)
	if r.stored {
		dir, err = makeResultDir(set.results, r.Name, time.Now())
	}
	if err == nil {
		v := view{title: r.Name, runs: []viewed{{Result: r, missed: t.Failed()}}}
		err = v.write(dir, pageDeadline(t))
	}
	if err != nil {
		t.Logf("%s is not written: %v", pageFile, err)
	} else {
		t.Logf("report: %s", filepath.Join(dir, pageFile))
	}
	r.reported = true
}

// replays counts the stored runs that each test under way has taken.
var replays struct {
	sync.Mutex
	taken map[string]int
}

// findReplay gives the test's next stored run: that of its first Run is the
// oldest one. Shards of one run are merged.
func findReplay(t testing.TB, s Scenario, set settings) (*Result, error) {
	all, err := storedRuns(strings.Split(set.replay, ","), t.Name(), s.Name)
	if err != nil {
		return nil, err
	}
	key := t.Name() + "\n" + s.Name
	replays.Lock()
	n := replays.taken[key]
	if replays.taken == nil {
		replays.taken = map[string]int{}
	}
	replays.taken[key]++
	replays.Unlock()
	if n == 0 {
		t.Cleanup(func() {
			t.Helper()
			replays.Lock()
			taken := replays.taken[key]
			delete(replays.taken, key)
			replays.Unlock()
			if taken < len(all) {
				t.Errorf("%s: %s holds %d runs of it, and the oldest %d were replayed: name the folders of those to replay, such as %s", report.Escape(s.Name), set.replay, len(all), taken, all[len(all)-1].folders[0])
			}
		})
	}
	if n >= len(all) {
		return nil, fmt.Errorf("%s holds %d runs of it, and the test makes more", set.replay, len(all))
	}
	return all[n].read(set, s.Name)
}

// read reads a stored run, and merges it where it is of shards.
func (r *storedRun) read(set settings, name string) (*Result, error) {
	var results []*Result
	for _, folder := range r.folders {
		one, err := ReadResult(folder)
		if err != nil {
			return nil, err
		}
		one.replayed = true
		one.Runs, one.EarlierRuns, one.earlier = nil, nil, nil // each is replayed by itself
		results = append(results, one)
	}
	if r.shards <= 1 {
		return results[0], nil
	}
	dir, err := makeResultDir(set.results, name, time.Now())
	if err != nil {
		return nil, err
	}
	merged, err := Merge(dir, Shards{Results: results, AllowMissing: set.missing})
	if err != nil {
		_ = os.Remove(dir) // it is empty where the shards do not belong together
		return nil, err
	}
	merged.reported = false // its page is written again, with the verdicts
	return merged, nil
}
