package perftest

import (
	"fmt"

	"github.com/slogate/slogate/internal/report"
	fig "github.com/slogate/slogate/internal/report/figure"
	"github.com/slogate/slogate/internal/report/page"
)

// The bounds of the server's charts: gauges in the order in which the server
// names them, and the series of each, such as one an engine.
const (
	mostServerCharts = 12
	mostServerLines  = 16
)

// serverFigures are the server's gauges that are known by name, over time.
func (v *view) serverFigures() []fig.Figure {
	var figures []fig.Figure
	place := map[string]int{}
	for i := range v.runs {
		r := &v.runs[i]
		for _, s := range r.ServerSeries() {
			if s.Counter || s.Quantity == "" {
				continue
			}
			at, ok := place[s.Name]
			if !ok {
				if len(figures) == mostServerCharts {
					continue
				}
				at = len(figures)
				place[s.Name] = at
				figures = append(figures, fig.Figure{
					ID: fmt.Sprintf("server-%d", at), Title: s.Quantity, Caption: s.Name + ", as the server says.",
					X: fig.Axis{Label: "time since the start of the run", Unit: fig.Seconds}, Y: fig.Axis{Label: s.Quantity, Unit: fig.Count},
				})
			}
			f := &figures[at]
			if len(f.Series) == mostServerLines {
				continue
			}
			line := fig.Series{Name: v.of(r, s.Series), Color: len(f.Series)}
			for _, p := range s.Points {
				line.X, line.Y = append(line.X, float64(p.At)), append(line.Y, float64(p.Value))
			}
			f.Series = append(f.Series, line)
		}
	}
	return figures
}

// serverTable sums up all of the server's metrics.
func (v *view) serverTable() []page.Table {
	t := page.Table{Caption: "The server's metrics during the load, in its own units; of counters, the increase in all and a second", Head: v.head("metric", "quantity", "scrapes", "mean", "min", "max", "last", "a second")}
	for i := range v.runs {
		r := &v.runs[i]
		for _, m := range r.Server.Metrics {
			cells := []page.Cell{text(m.Name), text(m.Quantity), number(fmt.Sprint(m.Scrapes))}
			if m.Counter { // means of what only grows say nothing
				m.Mean, m.Min, m.Max = Absent, Absent, Absent
			}
			for _, x := range []Value{m.Mean, m.Min, m.Max, m.Last, m.PerSecond} {
				cells = append(cells, number(report.Number(float64(x))))
			}
			t.Rows = append(t.Rows, v.row(r, cells...))
		}
	}
	return tables(t)
}
