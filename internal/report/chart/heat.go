package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/slogate/slogate/internal/report/figure"
)

// cells is a heat map as plot reads it: x in seconds, y as the logarithm of the
// gap, and the logarithm of the count. NaN stays white.
type cells struct{ figure.Heat }

func (c cells) Dims() (columns, rows int) { return c.Columns, c.Rows }
func (c cells) X(i int) float64           { return c.End * (float64(i) + 0.5) / float64(c.Columns) }
func (c cells) Y(r int) float64           { return math.Log10(c.Edge(r)*c.Edge(r+1)) / 2 }
func (c cells) Z(i, r int) float64 {
	n := c.Column(i)[r]
	if n == 0 {
		return math.NaN()
	}
	return math.Log(float64(n))
}

// heat is a heat map as a plot.
func heat(h figure.Heat, mark string) *plot.Plot {
	p := titled(h.Title, mark)
	p.X.Label.Text, p.Y.Label.Text = "time since the start of the run", "gap between tokens"
	p.X.Tick.Marker, p.Y.Tick.Marker = units{figure.Seconds}, decades{}
	m := plotter.NewHeatMap(cells{h}, blues{})
	if m.Max == m.Min {
		m.Max = m.Min + 1
	}
	p.Add(m)
	return p
}

// decades are ticks at 1, 2 and 5 times each power of ten seconds, on an axis
// of logarithms.
type decades struct{}

// Ticks implements plot.Ticker.
func (decades) Ticks(low, high float64) (ticks []plot.Tick) {
	for power := math.Floor(low); power <= high; power++ {
		for _, m := range [...]float64{1, 2, 5} {
			if x := power + math.Log10(m); x >= low && x <= high {
				ticks = append(ticks, plot.Tick{Value: x, Label: short(figure.Seconds, m*math.Pow(10, power))})
			}
		}
	}
	return ticks
}

// blues is the page's palette: the darker, the more. Its light end is far
// enough from paper for a single gap to be seen.
type blues struct{}

// Colors implements palette.Palette.
func (blues) Colors() []color.Color {
	const n = 64
	low, high := [3]float64{0xb4, 0xd4, 0xee}, [3]float64{0x08, 0x30, 0x6b}
	all := make([]color.Color, n)
	for i := range all {
		share := float64(i) / (n - 1)
		part := func(k int) uint8 { return uint8(low[k] + (high[k]-low[k])*share + 0.5) }
		all[i] = color.RGBA{R: part(0), G: part(1), B: part(2), A: 255}
	}
	return all
}
