package perftest

import (
	"fmt"
	"math"
	"strings"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/report/page"
)

func text(s string) page.Cell   { return page.Cell{Text: s} }
func number(s string) page.Cell { return page.Cell{Text: s, Number: true} }

// head is a table's head: the given names, after one for the run where there
// are several.
func (v *view) head(names ...string) []string {
	if len(v.runs) > 1 {
		return append([]string{"run"}, names...)
	}
	return names
}

// row is a row below [view.head].
func (v *view) row(r *viewed, cells ...page.Cell) []page.Cell {
	if len(v.runs) > 1 {
		return append([]page.Cell{text(r.label)}, cells...)
	}
	return cells
}

func (v *view) verdictTable() []page.Table {
	t := page.Table{
		Caption: "Objectives and how they were kept. The verdict decides; the evidence says what is proven, and its bound how bad the true figure may be.",
		Head:    v.head("objective", "verdict", "limit", "measured", "bound", "samples", "over", "evidence", "why"),
	}
	for i := range v.runs {
		r := &v.runs[i]
		for _, d := range r.Verdicts {
			unit, over, why := d.SLO.Metric.unit(), "-", d.Reason
			if _, percentile := d.SLO.Stat.percentile(); (percentile || d.SLO.Stat == Max) && d.SLO.Metric != ServerMetric {
				over = fmt.Sprintf("%d (%d allowed)", d.Over, d.Allowed)
			}
			if d.Evidence != "" && d.Evidence != d.Reason {
				why = strings.TrimPrefix(why+"; "+d.Evidence, "; ")
			}
			bound := Absent
			if d.Confidence > 0 {
				bound = d.MeasuredBound
			}
			t.Rows = append(t.Rows, v.row(r, text(d.SLO.String()), outcome(d.Decided()),
				number(string(d.SLO.Op)+" "+unit.Limit(d.SLO.Limit)), number(unit.Beside(float64(d.Measured), d.SLO.Limit)),
				number(unit.Beside(float64(bound), d.SLO.Limit)), number(fmt.Sprint(d.Samples)), number(over), outcome(d.Outcome), text(why)))
		}
	}
	return tables(t)
}

// outcome is a cell that stands out as what it says.
func outcome(o Outcome) page.Cell {
	mark := page.Warn
	switch o {
	case Pass:
		mark = page.Good
	case Fail:
		mark = page.Bad
	}
	return page.Cell{Text: string(o), Mark: mark}
}

// tables leaves out tables without a row.
func tables(all ...page.Table) (kept []page.Table) {
	for _, t := range all {
		if len(t.Rows) > 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

func (v *view) verdictNote() string {
	for _, r := range v.runs {
		if len(r.Verdicts) > 0 {
			return ""
		}
	}
	return "No objective was judged."
}

// figureRow is a row of figures, one a run, each with its difference to the
// first one.
func (v *view) figureRow(name string, unit report.Unit, of func(*Result) Value) []page.Cell {
	cells, known := []page.Cell{text(name)}, false
	first := of(v.runs[0].Result)
	for i := range v.runs {
		x := of(v.runs[i].Result)
		known = known || x.Known()
		s := unit.Format(float64(x))
		if i > 0 && unit != report.Tokens {
			s += change(x, first)
		}
		cells = append(cells, number(s))
	}
	if !known {
		return nil
	}
	return cells
}

// change is the difference to the first run, for the end of a cell; empty
// where there is none to tell.
func change(x, first Value) string {
	if !x.Known() || !first.Known() || first == 0 {
		return ""
	}
	return fmt.Sprintf(" (%+.6g%%)", math.Round(1000*(float64(x)/float64(first)-1))/10)
}

func (v *view) labels(first string) []string {
	head := []string{first}
	for _, r := range v.runs {
		head = append(head, r.label)
	}
	return head
}

func (v *view) summaryTables() []page.Table {
	t := page.Table{Caption: "Totals", Head: v.labels("figure")}
	if len(v.runs) == 1 {
		t.Head[1] = "value"
	}
	for _, f := range []struct {
		name string
		unit report.Unit
		of   func(*Result) Value
	}{
		{"requests sent", report.Tokens, func(r *Result) Value { return Value(r.Counts.Sent) }},
		{"succeeded", report.Tokens, func(r *Result) Value { return Value(r.Counts.Succeeded) }},
		{"failed", report.Tokens, func(r *Result) Value { return Value(r.Counts.Failed) }},
		{"cancelled", report.Tokens, func(r *Result) Value { return Value(r.Counts.Cancelled) }},
		{"error rate", report.Share, func(r *Result) Value { return r.Rates.Errors }},
		{"warm-up requests, part of no figure", report.Tokens, func(r *Result) Value { return Value(r.Counts.Warmup) }},
		{"start burst, part of no figure", report.Tokens, func(r *Result) Value { return some(r.Counts.Start) }},
		{"sent to keep the slots busy at the end, part of no figure", report.Tokens, func(r *Result) Value { return some(r.Counts.Padding) }},
		{"window", report.Seconds, func(r *Result) Value { return r.Window }},
		{"mean in flight", report.Tokens, func(r *Result) Value { return r.Rates.Concurrency }},
		{"request rate", report.RequestRate, func(r *Result) Value { return r.Rates.Requests }},
		{"output rate", report.TokenRate, func(r *Result) Value { return r.Rates.Output }},
		{"total rate", report.TokenRate, func(r *Result) Value { return r.Rates.Total }},
		{"output rate an accelerator", report.TokenRate, func(r *Result) Value { return r.Rates.OutputPerAccelerator }},
		{"output rate while all slots were busy", report.TokenRate, func(r *Result) Value { return r.Steady.Output }},
		{"request rate while all slots were busy", report.RequestRate, func(r *Result) Value { return r.Steady.Requests }},
	} {
		if cells := v.figureRow(f.name, f.unit, f.of); cells != nil {
			t.Rows = append(t.Rows, cells)
		}
	}
	return tables(t)
}

// some is a count that is left out where there is none.
func some(n int) Value {
	if n == 0 {
		return Absent
	}
	return Value(n)
}

// distributions are those of the percentile table, in its order.
var distributions = []struct {
	name string
	unit report.Unit
	of   func(*Metrics) *Distribution
}{
	{"TTFT", report.Seconds, func(m *Metrics) *Distribution { return &m.TTFT }},
	{"TTFA", report.Seconds, func(m *Metrics) *Distribution { return &m.TTFA }},
	{"TPOT", report.Seconds, func(m *Metrics) *Distribution { return &m.TPOT }},
	{"ITL", report.Seconds, func(m *Metrics) *Distribution { return &m.ITL }},
	{"latency", report.Seconds, func(m *Metrics) *Distribution { return &m.Latency }},
	{"response", report.Seconds, func(m *Metrics) *Distribution { return &m.Response }},
	{"queue", report.Seconds, func(m *Metrics) *Distribution { return &m.Queue }},
	{"input tokens", report.Tokens, func(m *Metrics) *Distribution { return &m.InputTokens }},
	{"output tokens", report.Tokens, func(m *Metrics) *Distribution { return &m.OutputTokens }},
	{"output speed", report.TokenRate, func(m *Metrics) *Distribution { return &m.OutputSpeed }},
}

func (v *view) percentileTable() []page.Table {
	head := []string{"metric", "count", "mean", "sd", "min", "p50", "p90", "p95", "p99", "p99.9", "max"}
	t := page.Table{Caption: "Distributions over the successes; * marks a percentile that the count cannot carry", Head: head}
	if len(v.runs) > 1 {
		t.Head = append([]string{"metric", "run"}, head[1:]...)
	}
	if v.compares() {
		t.Caption += "; in parentheses the difference to the first run"
	}
	for _, m := range distributions {
		first := m.of(&v.runs[0].Metrics)
		for i := range v.runs {
			d := m.of(&v.runs[i].Metrics)
			if d.Count == 0 {
				continue
			}
			than := func(of func(*Distribution) Value) string {
				if i == 0 || !v.compares() {
					return ""
				}
				return change(of(d), of(first))
			}
			cells := []page.Cell{text(m.name)}
			if len(v.runs) > 1 {
				cells = append(cells, text(v.runs[i].label))
			}
			cells = append(cells, number(fmt.Sprint(d.Count)))
			cells = append(cells, number(m.unit.Format(float64(d.Mean))+than(func(d *Distribution) Value { return d.Mean })))
			for _, x := range []Value{d.StdDev, d.Min} {
				cells = append(cells, number(m.unit.Format(float64(x))))
			}
			for _, p := range []float64{50, 90, 95, 99, 99.9} {
				s := m.unit.Format(float64(d.P(p)))
				if !carries(d.Count, p) {
					s += "*"
				}
				cells = append(cells, number(s+than(func(d *Distribution) Value { return d.P(p) })))
			}
			t.Rows = append(t.Rows, append(cells, number(m.unit.Format(float64(d.Max)))))
		}
	}
	return tables(t)
}

func (v *view) failureTable() []page.Table {
	t := page.Table{Caption: "Failed and cancelled requests by class, with the first message of each", Head: v.head("class", "phase", "status", "requests", "token events before", "example")}
	for i := range v.runs {
		for _, f := range v.runs[i].Failures {
			status := "-"
			if f.Status != 0 {
				status = fmt.Sprint(f.Status)
			}
			t.Rows = append(t.Rows, v.row(&v.runs[i], text(f.Class), text(f.Phase), number(status), number(fmt.Sprint(f.Count)), number(fmt.Sprint(f.Tokens)), text(f.Example)))
		}
	}
	return tables(t)
}

func (v *view) failureNote() string {
	for _, r := range v.runs {
		if len(r.Failures) > 0 {
			return ""
		}
	}
	return "No request failed."
}

// compares reports whether runs are held against the first one: those of a
// sweep are meant to differ.
func (v *view) compares() bool { return len(v.runs) > 1 && !v.sweep }

// notes are what a reader has to know beside the totals.
func (v *view) notes() string {
	return strings.TrimSpace(v.differenceNote() + " " + v.warnings())
}

func (v *view) warnings() string {
	var all []string
	for _, r := range v.runs {
		for _, w := range r.Warnings {
			if len(v.runs) > 1 {
				w = r.label + ": " + w
			}
			all = append(all, w)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "Warnings: " + strings.Join(all, "; ") + "."
}
