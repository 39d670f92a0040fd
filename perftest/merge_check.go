package perftest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// endedMissing is how a merged result ended that lacks shards of its load.
const endedMissing = "missing shards"

// endedApart is how one ended of which two shards were never at work together, so
// that its load was never the whole one.
const endedApart = "shards apart"

// check refuses what is not each shard of one plan once.
func (m *merger) check(allowMissing bool) error {
	first := m.parts[0]
	m.count = max(1, first.Scenario.Load.ShardCount)
	for _, p := range m.parts[1:] {
		if diff := differences(plan(first.Result), plan(p.Result)); diff != "" {
			return fmt.Errorf("%s and %s are no shards of one plan: %s", first.Dir, p.Dir, diff)
		}
	}
	if m.count == 1 && len(m.parts) > 1 {
		return fmt.Errorf("%s and %s are whole runs, and no shards of one (PERFTEST_SHARD): Compare holds them against each other", first.Dir, m.parts[1].Dir)
	}
	var missing []string
	at := 0
	for i := range m.count {
		n := 0
		for ; at < len(m.parts) && m.parts[at].index == i; at++ {
			n++
		}
		switch {
		case n > 1:
			return fmt.Errorf("%s and %s are both shard %d of %d: give each once", m.parts[at-2].Dir, m.parts[at-1].Dir, i, m.count)
		case n == 0:
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if at < len(m.parts) {
		return fmt.Errorf("%s is shard %d of %d: its result.json is damaged", m.parts[at].Dir, m.parts[at].index, m.count)
	}
	if len(missing) > 0 && !allowMissing {
		return fmt.Errorf("of %d shards these are missing: %s; find them, or set Shards.AllowMissing (-perf.missing of a replay) for a partial result", m.count, strings.Join(missing, ", "))
	}
	return nil
}

// plan is what all shards of one load have in common, as JSON has it.
func plan(r *Result) map[string]any {
	s := r.Scenario
	s.Load.ShardIndex = 0
	data, err := json.Marshal(map[string]any{
		"name": r.Name, "test": r.Test, "package": r.Package, "simulated": r.Simulated, "version": r.Version,
		"slogate": r.Environment.Version, "scenario": s,
		"target": map[string]any{"model": r.Target.Model, "api": r.Target.API, "no_stream": r.Target.NoStream, "params": r.Target.Params},
	})
	if err != nil {
		return nil // it has come from JSON, or goes into it
	}
	var tree any
	_ = json.Unmarshal(data, &tree)
	flat := map[string]any{}
	flatten("", tree, flat)
	return flat
}

// flatten gives each value of a tree its path.
func flatten(at string, v any, into map[string]any) {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			flatten(strings.TrimPrefix(at+"."+k, "."), e, into)
		}
	case []any:
		for i, e := range v {
			flatten(fmt.Sprintf("%s[%d]", at, i), e, into)
		}
	default:
		into[at] = v
	}
}

// mostDifferences are named; the first is usually the cause of the others.
const mostDifferences = 3

// differences names what differs, in the order of the names; empty when nothing
// does.
func differences(a, b map[string]any) string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	var out []string
	more := 0
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if a[k] == b[k] {
			continue
		}
		if len(out) == mostDifferences {
			more++
			continue
		}
		text := fmt.Sprintf("%s is %s and %s", k, shortJSON(a[k]), shortJSON(b[k]))
		if k == "scenario.nonce" {
			text += " (set PERFTEST_NONCE to one number for all shards of a run)"
		}
		out = append(out, text)
	}
	if more > 0 {
		out = append(out, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(out, ", ")
}

// shortJSON is a value for a message.
func shortJSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil || len(data) > 80 {
		return fmt.Sprintf("%.80s…", data)
	}
	return string(data)
}
