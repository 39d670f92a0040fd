package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slogate/slogate/internal/report/figure"
)

// names writes the names of a series' points beside them, each where no other
// one is; one without such a place is left out.
type names struct {
	s figure.Series
	x func(float64) float64
}

// Plot implements plot.Plotter.
func (n *names) Plot(c draw.Canvas, p *plot.Plot) {
	style := p.X.Tick.Label
	style.Font.Size = 8
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	trX, trY := p.Transforms(&c)
	var taken []vg.Rectangle
	for i, name := range n.s.Labels {
		if math.IsNaN(n.s.X[i]) || math.IsNaN(n.s.Y[i]) {
			continue
		}
		text := plain(name)
		at := vg.Point{X: trX(n.x(n.s.X[i])), Y: trY(n.s.Y[i])}
		if box, ok := place(at, style.Width(text), style.Height(text), c.Rectangle, taken); ok {
			taken = append(taken, box)
			c.FillText(style, box.Min, text)
		}
	}
}

// place finds room for a text near a point: above and below it, to the right
// and to the left, and then farther away.
func place(at vg.Point, wide, high vg.Length, in vg.Rectangle, taken []vg.Rectangle) (vg.Rectangle, bool) {
	const near, most = 4, 6
	for step := range most {
		away := near + vg.Length(step)*high
		for _, y := range []vg.Length{at.Y + away, at.Y - away - high} {
			for _, x := range []vg.Length{at.X + near, at.X - near - wide} {
				box := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + wide, Y: y + high}}
				if box.Min.X >= in.Min.X && box.Max.X <= in.Max.X && box.Min.Y >= in.Min.Y && box.Max.Y <= in.Max.Y && free(box, taken) {
					return box, true
				}
			}
		}
	}
	return vg.Rectangle{}, false
}

func free(box vg.Rectangle, taken []vg.Rectangle) bool {
	for _, t := range taken {
		if box.Min.X < t.Max.X && t.Min.X < box.Max.X && box.Min.Y < t.Max.Y && t.Min.Y < box.Max.Y {
			return false
		}
	}
	return true
}
