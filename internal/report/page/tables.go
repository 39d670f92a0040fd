package page

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/report/figure"
)

// numbers reports whether a column holds numbers, so that its head stands
// above them.
func numbers(rows [][]Cell, column int) bool {
	return len(rows) > 0 && column < len(rows[0]) && rows[0][column].Number
}

// mostRows bounds the tables beside charts: evenly spread points of them.
const mostRows = 25

// figureTable is a chart's numbers as a table: its x in the first column, a
// column a series. Marks without a value of their own are only counted.
func figureTable(f figure.Figure) Table {
	t := Table{Caption: f.Title + ", as numbers", Head: []string{f.X.Label}}
	type row map[int]string
	rows := map[float64]row{}
	for i, s := range f.Series {
		if s.Points && !f.Curve {
			t.Caption += fmt.Sprintf("; %s: %d", s.Name, len(s.X))
			continue
		}
		t.Head = append(t.Head, s.Name)
		column := len(t.Head) - 1
		for k, x := range s.X {
			if rows[x] == nil {
				rows[x] = row{}
			}
			rows[x][column] = f.Y.Unit.Format(s.Y[k])
			if s.Labels != nil {
				rows[x][column] += " (" + f.Series[i].Labels[k] + ")"
			}
		}
	}
	var xs []float64
	for x := range rows {
		xs = append(xs, x)
	}
	slices.Sort(xs)
	for i, x := range xs {
		if f.X.Tail && !slices.Contains(shownTails, x) || !f.X.Tail && !spread(i, len(xs)) {
			continue
		}
		cells := []Cell{{Text: f.X.Unit.Format(x)}}
		for column := 1; column < len(t.Head); column++ {
			cells = append(cells, Cell{Text: cmp.Or(rows[x][column], "-"), Number: true})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

var shownTails = []float64{0, 10, 25, 50, 75, 90, 95, 98, 99, 99.5, 99.9}

// spread picks mostRows of n rows, the first and the last among them.
func spread(i, n int) bool {
	if n <= mostRows {
		return true
	}
	step := float64(n-1) / (mostRows - 1)
	k := math.Round(float64(i) / step)
	return int(math.Round(k*step)) == i
}

// heatTable is a heat map as a table: what the gaps were in each twentieth of
// the time.
func heatTable(h figure.Heat) Table {
	const parts = 20
	t := Table{Caption: h.Title + ", as numbers", Head: []string{"time", "gaps", "half are up to", "99 % are up to", "the largest is up to"}}
	for part := range parts {
		from, to := part*h.Columns/parts, (part+1)*h.Columns/parts
		rows, n := make([]uint64, h.Rows), uint64(0)
		for c := from; c < to; c++ {
			for r, count := range h.Column(c) {
				rows[r] += uint64(count)
				n += uint64(count)
			}
		}
		at := func(i int) string { return figure.Seconds.Format(h.End * float64(i) / float64(h.Columns)) }
		cells := []Cell{{Text: at(from) + " to " + at(to)}, {Text: report.Number(float64(n)), Number: true}}
		for _, share := range [...]float64{0.5, 0.99, 1} {
			cells = append(cells, Cell{Text: upTo(&h, rows, uint64(math.Ceil(share*float64(n)))), Number: true})
		}
		t.Rows = append(t.Rows, cells)
	}
	return t
}

// upTo is the upper edge of the row that holds the n-th smallest gap.
func upTo(h *figure.Heat, rows []uint64, n uint64) string {
	var seen uint64
	for r, count := range rows {
		if seen += count; n > 0 && seen >= n {
			return figure.Seconds.Format(h.Edge(r + 1))
		}
	}
	return "-"
}
