package gather

import (
	"math"

	"github.com/slogate/slogate/internal/report/figure"
)

// The heat map's grid: 10 rows for each power of ten from 10 µs to 100 s, of
// which those without a gap at either end are cut off.
const (
	heatColumns = 160
	heatDecade  = 10
	heatLow     = 1e-5
	heatRows    = 7 * heatDecade
)

type heat struct {
	end    int64
	counts []uint32
}

func (h *heat) init(end int64) {
	h.end, h.counts = end, make([]uint32, heatColumns*heatRows)
}

// add counts a gap that ended at a moment, both in nanoseconds.
func (h *heat) add(at, gap int64) {
	column := min(max(int(float64(at)/float64(h.end)*heatColumns), 0), heatColumns-1)
	row := 0
	if s := float64(gap) / 1e9; s > heatLow {
		row = min(int(math.Log10(s/heatLow)*heatDecade+1e-9), heatRows-1)
	}
	h.counts[column*heatRows+row]++
}

// Heat gives the gaps between tokens by time and size, or false without any.
func (g *Run) Heat() (figure.Heat, bool) {
	h := &g.heat
	first, last := heatRows, -1
	for i, n := range h.counts {
		if n > 0 {
			first, last = min(first, i%heatRows), max(last, i%heatRows)
		}
	}
	if last < 0 {
		return figure.Heat{}, false
	}
	edge := func(row int) float64 { return heatLow * math.Pow(10, float64(row)/heatDecade) }
	out := figure.Heat{End: float64(h.end) / 1e9, Columns: heatColumns, Rows: last - first + 1, Low: edge(first), High: edge(last + 1)}
	for c := range heatColumns {
		out.Counts = append(out.Counts, h.counts[c*heatRows+first:c*heatRows+last+1]...)
	}
	return out, true
}
