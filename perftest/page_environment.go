package perftest

import (
	"bytes"
	"encoding/json"
	"fmt"

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
	return tables(t)
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
