package perftest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/report/page"
)

func (v *view) healthTable() []page.Table {
	t := page.Table{Caption: "What the client's machine and loop say", Head: v.head("", "what was seen")}
	for i := range v.runs {
		r := &v.runs[i]
		for _, f := range r.Health.Findings {
			t.Rows = append(t.Rows, v.row(r, page.Cell{Text: "too much", Mark: page.Warn}, text(f)))
		}
		for _, line := range r.Health.Lines {
			t.Rows = append(t.Rows, v.row(r, text(""), text(line)))
		}
	}
	return tables(v.shardTable(), t)
}

// shardTable has the parts that merged results are made of.
func (v *view) shardTable() page.Table {
	t := page.Table{Caption: "The shards that the load was sent by", Head: v.head("shard", "started", "clock ahead", "requests", "failed", "send lag p99", "CPU", "ended", "machine")}
	for i := range v.runs {
		r := &v.runs[i]
		for _, s := range r.Shards {
			cpu := "-"
			if s.Health.CPU.Known() {
				cpu = report.Percent(float64(s.Health.CPU))
			}
			clock, ended := report.Duration(float64(s.ClockAhead)), text(s.Ended)
			if s.ClockBound > 0 {
				clock += " ± " + report.Duration(float64(s.ClockBound))
			}
			switch {
			case s.Lost != "":
				ended = page.Cell{Text: s.Ended + ": " + s.Lost, Mark: page.Warn}
			case s.Ended == endedLost:
				ended = text("stopped, since another was lost")
			}
			machine := "-" // nothing was heard of it
			if s.Environment.CPUs > 0 {
				machine = fmt.Sprintf("%s, %d CPUs", s.Environment.CPU, s.Environment.CPUs)
			}
			t.Rows = append(t.Rows, v.row(r, text(fmt.Sprintf("%d of %d", s.Index, s.Count)), text(s.Started.Format("15:04:05.000")), number(clock),
				number(fmt.Sprint(s.Counts.Sent)), number(fmt.Sprint(s.Counts.Failed)), number(report.Duration(float64(s.Health.SendLag.P99))), number(cpu), ended,
				text(machine)))
		}
	}
	return t
}

func (v *view) environmentTable() []page.Table {
	t := page.Table{Caption: "Where and how it ran", Head: v.labels("")}
	if len(v.runs) == 1 {
		t.Head[1] = "value"
	}
	for _, f := range []struct {
		name string
		of   func(*Result) string
	}{
		{"scenario", func(r *Result) string { return r.Name }},
		{"test", func(r *Result) string { return r.Package + " " + r.Test }},
		{"started", func(r *Result) string { return r.Started.Format("2006-01-02 15:04:05.000 MST") }},
		{"ended", func(r *Result) string { return r.Ended }},
		{"server", func(r *Result) string { return r.Target.URL }},
		{"model", func(r *Result) string { return r.Target.Model }},
		{"API", func(r *Result) string { return r.Target.API }},
		{"load", func(r *Result) string { return r.Scenario.Load.Type }},
		{"workload", func(r *Result) string { return r.Scenario.WorkloadType }},
		{"seed and nonce", func(r *Result) string { return fmt.Sprint(r.Scenario.Seed, " and ", r.Scenario.Nonce) }},
		{"client", func(r *Result) string {
			e := r.Environment
			return fmt.Sprintf("%s, %d CPUs, %s/%s, %s", e.CPU, e.CPUs, e.OS, e.Arch, e.Go)
		}},
		{"clock", func(r *Result) string { return r.Environment.Clock }},
		{"commit", func(r *Result) string { return r.Environment.Commit }},
		{"slogate", func(r *Result) string { return r.Environment.Version }},
		{"folder", func(r *Result) string { return r.Dir }},
	} {
		cells, any := []page.Cell{text(f.name)}, false
		for i := range v.runs {
			s := f.of(v.runs[i].Result)
			any = any || s != ""
			cells = append(cells, text(s))
		}
		if any {
			t.Rows = append(t.Rows, cells)
		}
	}
	return tables(t)
}

// configurations are the scenario and the target in full, as result.json has
// them.
func (v *view) configurations() (texts []page.Text) {
	for _, r := range v.runs {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false) // the page does
		enc.SetIndent("", "  ")
		if enc.Encode(struct {
			Scenario    ScenarioInfo `json:"scenario"`
			Target      TargetInfo   `json:"target"`
			Environment Environment  `json:"environment"`
		}{r.Scenario, r.Target, r.Environment}) != nil {
			continue
		}
		title := "Full configuration"
		if len(v.runs) > 1 {
			title += " of " + r.label
		}
		texts = append(texts, page.Text{Title: title, Body: b.String()})
	}
	return texts
}

// How many differences of runs are told of.
const (
	mostDifferenceRows  = 40
	mostDifferenceNames = 6
)

// differing are the members of the configuration in which the runs differ, and
// each run's flattened. The nonce is another one in each run; and a sweep's
// levels are meant to differ.
func (v *view) differing() (names []string, runs []map[string]any) {
	if !v.compares() {
		return nil, nil
	}
	all := map[string]any{}
	for _, r := range v.runs {
		tree := map[string]any{}
		for name, part := range map[string]any{"scenario": r.Scenario, "target": r.Target, "environment": r.Environment} {
			if data, err := json.Marshal(part); err == nil {
				tree[name] = plain(data)
			}
		}
		flat := map[string]any{}
		flatten("", tree, flat)
		delete(flat, "scenario.nonce")
		runs = append(runs, flat)
		maps.Copy(all, flat)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.ContainsFunc(runs, func(flat map[string]any) bool { return flat[name] != runs[0][name] }) {
			names = append(names, name)
		}
	}
	return names, runs
}

func (v *view) differenceNote() string {
	names, _ := v.differing()
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - mostDifferenceNames; n > 0 {
		names, more = names[:mostDifferenceNames], fmt.Sprintf(" and %d more", n)
	}
	return "The runs differ in " + strings.Join(names, ", ") + more + ": see the configuration."
}

func (v *view) differenceTable() []page.Table {
	names, runs := v.differing()
	t := page.Table{Caption: "In what the runs differ", Head: v.labels("")}
	if n := len(names) - mostDifferenceRows; n > 0 {
		names = names[:mostDifferenceRows]
		t.Caption += fmt.Sprintf(", and in %d more", n)
	}
	for _, name := range names {
		cells := []page.Cell{text(name)}
		for _, flat := range runs {
			s := "-"
			if x, ok := flat[name]; ok {
				s = shortJSON(x)
			}
			cells = append(cells, text(s))
		}
		t.Rows = append(t.Rows, cells)
	}
	return tables(t)
}
