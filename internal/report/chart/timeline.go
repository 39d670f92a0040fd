package chart

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report/figure"
)

// mostBars is how many requests a picture shows, which cannot be zoomed into:
// of more it shows every k-th, and says so.
const mostBars = 300

var (
	waiting = rgb(0x8c959f)
	prefill = rgb(0xc2570c)
	decode  = rgb(0x0072b2)
	beside  = rgb(0xd0d7de) // of the parts of the run that are in no figure
)

// WriteTimeline is [Write] for a timeline.
func WriteTimeline(dir string, formats []string, mark string, t figure.Timeline) error {
	if len(t.Bars) == 0 {
		return nil
	}
	return write(dir, formats, t.ID, func() (*plot.Plot, error) { return timeline(t, mark), nil })
}

// timeline is a timeline as a plot: a bar a request, the first at the top.
func timeline(t figure.Timeline, mark string) *plot.Plot {
	p := titled(t.Title, mark)
	b := bars{tick: t.Tick, classes: t.Classes}
	stride := (len(t.Bars) + mostBars - 1) / mostBars
	for i := 0; i < len(t.Bars); i += stride {
		b.of = append(b.of, t.Bars[i])
	}
	p.X.Label.Text, p.Y.Label.Text = "time since the start of the run", "requests, by start"
	if stride > 1 {
		p.Y.Label.Text += fmt.Sprintf(" (one of %d)", stride)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = units{figure.Seconds}, plot.ConstantTicks{}
	p.Add(b)
	for _, k := range []struct {
		name  string
		color color.Color
	}{{"wait", waiting}, {"to the first token", prefill}, {"from there to the end", decode}, {"failed", failed}, {"in no figure, or cancelled", beside}} {
		p.Legend.Add(k.name, swatch{k.color})
	}
	p.Legend.Top = false
	return p
}

// bars draws requests.
type bars struct {
	of      []figure.Bar
	tick    float64
	classes []string
}

// DataRange implements plot.DataRanger.
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, r := range b.of {
		xmax = max(xmax, float64(r.Start+r.Queue+r.Length)*b.tick)
	}
	return 0, max(xmax, b.tick), 0, float64(len(b.of))
}

// Plot implements plot.Plotter.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range b.of {
		top, bottom := y(float64(len(b.of)-i)-0.1), y(float64(len(b.of)-i)-0.9)
		fill := func(from, to uint32, with color.Color) {
			left, right := x(float64(from)*b.tick), x(float64(to)*b.tick)
			c.FillPolygon(with, c.ClipPolygonXY([]vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}}))
		}
		sent, end := r.Start+r.Queue, r.Start+r.Queue+r.Length
		fill(r.Start, sent, waiting)
		switch {
		case r.Part != 0, r.Class != 0 && b.classes[r.Class-1] == record.ClassCancelled:
			fill(sent, end, beside)
		case r.Class != 0:
			fill(sent, end, failed)
		case r.First == figure.NoToken:
			fill(sent, end, prefill)
		default:
			fill(sent, sent+r.First, prefill)
			fill(sent+r.First, end, decode)
		}
	}
}

// swatch is a colour in the legend.
type swatch struct{ color color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	c.FillPolygon(s.color, []vg.Point{{X: c.Min.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Min.Y}, {X: c.Max.X, Y: c.Max.Y}, {X: c.Min.X, Y: c.Max.Y}})
}
