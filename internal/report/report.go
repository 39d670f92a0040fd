// Package report turns figures into text: the table of verdicts, the summary
// of a run, and the progress line. It takes plain views that the caller fills,
// and decides nothing.
//
// What it gives is read in CI logs and JUnit files, so it is without colours
// and readable in any font of fixed width. Figures are float64 in seconds,
// tokens, per second, or shares from 0 to 1; NaN means absent and shows as "-".
// Text that came from outside goes through [Escape] on its way out.
package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

const absent = "-"

// marks are the two things that a reader must not overlook: the figures are
// not of a real server, or not of a whole run.
func marks(simulated bool, partial string) string {
	var m []string
	if simulated {
		m = append(m, "SIMULATED")
	}
	if partial != "" {
		m = append(m, "PARTIAL: "+Escape(partial))
	}
	return strings.Join(m, ", ")
}

// grid renders rows in aligned columns, two blanks apart, with a rule under
// the header where there is one. Columns named in right are right-aligned.
func grid(header table.Row, rows []table.Row, right ...int) string {
	w := table.NewWriter()
	w.SetStyle(table.Style{
		Box:     table.BoxStyle{MiddleHorizontal: "-", MiddleSeparator: "  ", MiddleVertical: "  ", UnfinishedRow: " "},
		Options: table.Options{SeparateColumns: true, SeparateHeader: true},
	})
	cols := make([]table.ColumnConfig, len(right))
	for i, n := range right {
		cols[i] = table.ColumnConfig{Number: n, Align: text.AlignRight, AlignHeader: text.AlignRight}
	}
	w.SetColumnConfigs(cols)
	if header != nil {
		w.AppendHeader(header)
	}
	w.AppendRows(rows)
	w.SuppressTrailingSpaces()
	return w.Render()
}
