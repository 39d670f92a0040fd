package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// ChangesView is what [Changes] shows: runs against those of a baseline.
type ChangesView struct {
	Scenario            string
	Simulated           bool
	Outcome             string
	Reason              string // one line
	Advisory            bool
	Baseline, Candidate int // runs
	Changes             []Change
	Differs             string   // a diff, of several lines; empty for none
	Source              string   // where the baseline is from; empty for none
	Remedies            []string // what to do, a line each
}

// Change is one figure. NaN is absent.
type Change struct {
	Outcome             string
	Metric, Stat        string
	Unit                Unit
	Gates               bool // it decides; else it is advice
	Baseline, Candidate float64
	Ratio, Lower, Upper float64 // candidate over baseline, with its bounds
	Reason              string
}

// Changes shows how runs compare: the outcome with its reason, a figure in each
// row, and what to do.
func Changes(v ChangesView) string {
	var b strings.Builder
	b.WriteString(v.headline())
	b.WriteByte('\n')
	if len(v.Changes) > 0 {
		rows := make([]table.Row, len(v.Changes))
		for i, c := range v.Changes {
			for _, cell := range c.cells() {
				rows[i] = append(rows[i], cell)
			}
		}
		b.WriteString(grid(table.Row{"outcome", "figure", "baseline", "now", "change", "bounds"}, rows, 3, 4, 5))
		b.WriteByte('\n')
	}
	for _, c := range v.Changes {
		if c.Reason != "" {
			fmt.Fprintf(&b, "%s %s: %s\n", Escape(c.Outcome), strings.TrimSpace(Escape(c.Metric)+" "+c.Stat), Escape(c.Reason))
		}
	}
	if v.Differs != "" {
		b.WriteString("fingerprints (-baseline +now):\n")
		for line := range strings.Lines(v.Differs) {
			b.WriteString(Escape(plainDiff.Replace(line)) + "\n")
		}
	}
	for _, line := range v.Remedies {
		b.WriteString(Escape(line) + "\n")
	}
	if v.Source != "" {
		b.WriteString("baseline: " + Escape(v.Source) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// headline is the outcome with its reason.
func (v ChangesView) headline() string {
	s := v.Outcome
	if v.Advisory {
		s += " (advisory)"
	}
	if v.Scenario != "" {
		s += " " + Escape(v.Scenario)
	}
	s += ": " + Escape(v.Reason)
	if v.Baseline > 0 {
		s += fmt.Sprintf(" (%s against %d of the baseline)", count(v.Candidate, "run"), v.Baseline)
	}
	if m := marks(v.Simulated, ""); m != "" {
		s += " " + m
	}
	return s
}

// cells are those of a figure's row.
func (c Change) cells() [6]string {
	name := strings.TrimSpace(Escape(c.Metric) + " " + c.Stat)
	if !c.Gates {
		name += " (advice)"
	}
	bounds := absent
	if finite(c.Lower) && finite(c.Upper) {
		bounds = change(c.Lower) + " to " + change(c.Upper)
	}
	return [6]string{Escape(c.Outcome), name, c.Unit.Format(c.Baseline), c.Unit.Format(c.Candidate), change(c.Ratio), bounds}
}

// Line is the comparison in one line.
func (v ChangesView) Line() string { return v.headline() }

// plainDiff makes a line of go-cmp's one of plain spaces.
var plainDiff = strings.NewReplacer("\u00a0", " ", "\t", "    ", "\n", "")

// change shows a ratio as what it is more or less: 1.123 as +12.3%.
func change(ratio float64) string {
	if !finite(ratio) {
		return absent
	}
	s := percent(math.Abs(ratio-1), 3)
	switch {
	case ratio > 1:
		return "+" + s
	case ratio < 1:
		return "-" + s
	}
	return s
}
