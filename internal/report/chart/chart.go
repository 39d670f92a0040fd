// Package chart draws figures into SVG and PNG files, for documents and pull
// requests, without a browser. gonum.org/v1/plot does the drawing: it has both
// formats from one description and brings its own fonts, so that a file looks
// the same on each machine.
package chart

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/report/figure"
)

// Formats are the file formats that can be asked for.
var Formats = []string{"svg", "png"}

// The size of a chart, in points of 1/72 inch.
const (
	width  = 8 * vg.Inch
	height = 4.5 * vg.Inch
)

// palette is that of the page on white: colours that the colour-blind can tell
// apart (Okabe and Ito), darkened to stand out on paper.
var palette = []color.Color{
	rgb(0x0072b2), rgb(0xc2570c), rgb(0x007a5a), rgb(0x8d4b8f), rgb(0x7a6a00), rgb(0x4b5bd0), rgb(0x9a3412), rgb(0x3f6212),
}

var (
	failed = rgb(0xc8102e)
	shade  = color.RGBA{R: 230, G: 232, B: 235, A: 255}
	grid   = rgb(0xd0d7de)
)

func rgb(hex uint32) color.Color {
	return color.RGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 255}
}

func colorOf(i int) color.Color {
	if i < 0 {
		return failed
	}
	return palette[i%len(palette)]
}

// Write writes a chart into dir, a file in each of the formats, named after the
// figure's ID. mark, such as SIMULATED, goes into the title. A figure without a
// point to draw gives no file.
func Write(dir string, formats []string, mark string, f figure.Figure) error {
	if !f.Drawable() {
		return nil
	}
	return write(dir, formats, f.ID, func() (*plot.Plot, error) { return lines(f, mark) })
}

// WriteHeat is [Write] for a heat map.
func WriteHeat(dir string, formats []string, mark string, h figure.Heat) error {
	return write(dir, formats, h.ID, func() (*plot.Plot, error) { return heat(h, mark), nil })
}

func write(dir string, formats []string, name string, make func() (*plot.Plot, error)) error {
	for _, format := range formats {
		p, err := make()
		if err != nil {
			return fmt.Errorf("chart %s: %w", name, err)
		}
		if err := save(filepath.Join(dir, name+"."+format), p, format); err != nil {
			return fmt.Errorf("chart %s: %w", name, err)
		}
	}
	return nil
}

func save(name string, p *plot.Plot, format string) (err error) {
	w, err := p.WriterTo(width, height, format)
	if err != nil {
		return err
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	_, err = io.WriterTo(w).WriteTo(f)
	return err
}

// titled is an empty plot in the common style.
func titled(title, mark string) *plot.Plot {
	p := plot.New()
	p.Title.Text = plain(title)
	if mark != "" {
		p.Title.Text += " (" + plain(mark) + ")"
	}
	p.Title.TextStyle.Font.Size = 12
	p.Title.TextStyle.Handler = text.Plain{Fonts: p.Title.TextStyle.Handler.Cache()}
	p.Title.Padding = 6
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.TextStyle.Font.Size = 9
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Label.TextStyle.Font.Size = 10
		a.Tick.Label.Font.Size = 9
	}
	p.BackgroundColor = color.White
	return p
}

// plain is a text from outside for a picture.
func plain(s string) string { return report.Escape(s) }

// lines is a figure as a plot.
func lines(f figure.Figure, mark string) (*plot.Plot, error) {
	p := titled(f.Title, mark)
	p.X.Label.Text, p.Y.Label.Text = plain(f.X.Label), plain(f.Y.Label)
	if u := f.Y.Unit; u == figure.Requests || u == figure.Tokens { // the ticks do not say it
		p.Y.Label.Text += ", " + string(u)
	}
	x := func(v float64) float64 { return v }
	if f.X.Tail {
		x = figure.TailPosition
		p.X.Tick.Marker = tails{}
	} else {
		p.X.Tick.Marker = units{f.X.Unit}
	}
	p.Y.Tick.Marker = units{f.Y.Unit}
	lowX, highX, lowY, highY := math.Inf(1), math.Inf(-1), 0.0, 0.0
	for _, s := range f.Series {
		for i := range s.X {
			if !math.IsNaN(s.Y[i]) && !math.IsNaN(s.X[i]) {
				lowX, highX = min(lowX, x(s.X[i])), max(highX, x(s.X[i]))
				lowY, highY = min(lowY, s.Y[i]), max(highY, s.Y[i])
			}
		}
	}
	if f.X.Unit == figure.Seconds || f.Curve && lowX < highX/3 {
		lowX = min(0, lowX)
	}
	top := highY
	for _, l := range f.Limits {
		if l.Y < 2.5*highY {
			top = max(top, l.Y)
		}
	}
	if top == lowY {
		top = lowY + 1
	}
	top *= 1.25 // room for the legend
	for _, s := range f.Shades {
		area, err := plotter.NewPolygon(plotter.XYs{{X: s.From, Y: 0}, {X: s.To, Y: 0}, {X: s.To, Y: top}, {X: s.From, Y: top}})
		if err != nil {
			return nil, err
		}
		area.Color, area.LineStyle.Width = shade, 0
		p.Add(area)
		p.Legend.Add(plain(s.Name), area)
		lowX, highX = min(lowX, s.From), max(highX, s.To)
	}
	g := plotter.NewGrid()
	g.Horizontal.Color, g.Vertical.Color = grid, grid
	p.Add(g)
	for _, s := range f.Series {
		if err := add(p, s, x); err != nil {
			return nil, err
		}
	}
	for _, l := range f.Limits {
		if l.Y > top {
			continue
		}
		line, err := plotter.NewLine(plotter.XYs{{X: lowX, Y: l.Y}, {X: highX, Y: l.Y}})
		if err != nil {
			return nil, err
		}
		line.Color, line.Dashes = failed, []vg.Length{6, 3}
		p.Add(line)
		p.Legend.Add(plain(l.Name), line)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = lowX, highX, lowY, top
	if highX == lowX {
		p.X.Min, p.X.Max = lowX-0.5, highX+0.5
	}
	return p, nil
}

// add draws a series: a line that NaN interrupts, or points.
func add(p *plot.Plot, s figure.Series, x func(float64) float64) error {
	var runs []plotter.XYs
	open := false
	for i := range s.X {
		if math.IsNaN(s.Y[i]) || math.IsNaN(s.X[i]) {
			open = false
			continue
		}
		if !open {
			runs, open = append(runs, nil), true
		}
		last := len(runs) - 1
		runs[last] = append(runs[last], plotter.XY{X: x(s.X[i]), Y: s.Y[i]})
	}
	for i, run := range runs {
		line, points, err := plotter.NewLinePoints(run)
		if err != nil {
			return err
		}
		line.Color, line.Width = colorOf(s.Color), vg.Points(1.5)
		if s.Dash {
			line.Dashes = []vg.Length{4, 3}
		}
		points.Color, points.Shape, points.Radius = colorOf(s.Color), draw.CircleGlyph{}, vg.Points(2)
		if s.Points {
			points.Radius = vg.Points(3)
		}
		switch {
		case s.Points:
			p.Add(points)
		case len(s.Labels) > 0:
			p.Add(line, points)
		case len(run) == 1: // a line of one point is not to be seen
			p.Add(points)
		default:
			p.Add(line)
		}
		if i > 0 {
			continue
		}
		if s.Points {
			p.Legend.Add(plain(s.Name), points)
		} else {
			p.Legend.Add(plain(s.Name), line)
		}
	}
	if len(s.Labels) == 0 || s.Dash || s.Points {
		return nil
	}
	p.Add(&names{s: s, x: x})
	return nil
}

// units are plot's own ticks with labels in a unit.
type units struct{ unit figure.Unit }

// Ticks implements plot.Ticker.
func (u units) Ticks(low, high float64) []plot.Tick {
	ticks := plot.DefaultTicks{}.Ticks(low, high)
	for i := range ticks {
		if ticks[i].Label != "" {
			ticks[i].Label = strings.TrimSpace(short(u.unit, ticks[i].Value))
		}
	}
	return ticks
}

// short is a tick's label: no digit that the others do not have.
func short(u figure.Unit, v float64) string {
	if u != figure.Seconds {
		return report.Number(math.Round(v*1e6) / 1e6)
	}
	return report.Seconds.Limit(v)
}

// tails are the ticks of an axis of percentiles.
type tails struct{}

// Ticks implements plot.Ticker.
func (tails) Ticks(low, high float64) (ticks []plot.Tick) {
	for _, p := range []float64{0, 50, 75, 90, 95, 99, 99.5, 99.9} {
		if x := figure.TailPosition(p); x >= low && x <= high {
			ticks = append(ticks, plot.Tick{Value: x, Label: figure.Percentile.Format(p)})
		}
	}
	return ticks
}
