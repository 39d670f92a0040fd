// Package figure holds charts as plain data: what is drawn, not how. Package
// page draws them in a browser, package chart into SVG and PNG files, and both
// write the same numbers as tables.
//
// Numbers are float64 in the axis' unit; NaN is a gap. Text that came from
// outside is escaped by who draws it.
package figure

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/slogate/slogate/internal/report"
)

// Figure is a chart of lines over a common x axis.
type Figure struct {
	ID      string   `json:"id"` // lower case letters, digits and "-"; names the files
	Title   string   `json:"-"`
	Caption string   `json:"-"` // what it shows and how it was counted, in a sentence or two
	X       Axis     `json:"x"`
	Y       Axis     `json:"y"`
	Series  []Series `json:"series"`
	Limits  []Limit  `json:"limits,omitempty"`
	Shades  []Shade  `json:"shades,omitempty"`
	// Curve joins the points of a series in their own order, which need not be
	// that of x; else x ascends.
	Curve bool `json:"curve,omitempty"`
}

// Axis is one of the two.
type Axis struct {
	Label string `json:"label"`
	Unit  Unit   `json:"unit"`
	Tail  bool   `json:"tail,omitempty"` // a percentile p at -log10(1 - p/100), see [TailPosition]
}

// Unit is what an axis counts.
type Unit string

// The units.
const (
	Seconds    Unit = "s"
	Requests   Unit = "req/s"
	Tokens     Unit = "tok/s"
	Count      Unit = ""
	Percentile Unit = "p"
)

// Format shows a value of the unit, "-" for NaN.
func (u Unit) Format(v float64) string {
	switch u {
	case Seconds:
		return report.Seconds.Format(v)
	case Requests:
		return report.RequestRate.Format(v)
	case Tokens:
		return report.TokenRate.Format(v)
	case Percentile:
		return "p" + strconv.FormatFloat(v, 'f', -1, 64)
	}
	return report.Number(v)
}

// Series is one line.
type Series struct {
	Name string `json:"name"`
	X    Values `json:"xs"`
	Y    Values `json:"ys"`
	// Labels name the points; empty, or one each.
	Labels []string `json:"labels,omitempty"`
	Dash   bool     `json:"dash,omitempty"` // drawn dashed: the second of a pair of one colour
	Color  int      `json:"color"`          // place in the palette, from 0; [Bad] is for failures
	Points bool     `json:"points,omitempty"`
}

// Bad is the colour of what went wrong.
const Bad = -1

// Limit is a horizontal line: what an objective allows.
type Limit struct {
	Y    float64 `json:"y"`
	Name string  `json:"name"`
}

// Shade marks a part of the x axis.
type Shade struct {
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Name string  `json:"name"`
}

// Values are numbers that JSON writes with six significant digits, more than
// an eye can see, and null for NaN.
type Values []float64

// MarshalJSON implements json.Marshaler.
func (v Values) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, f := range v {
		if i > 0 {
			b = append(b, ',')
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			b = append(b, "null"...)
			continue
		}
		b = strconv.AppendFloat(b, f, 'g', 6, 64)
	}
	return append(b, ']'), nil
}

var _ json.Marshaler = Values(nil)

// TailPosition is where percentile p lies on an axis that gives each further
// nine as much room: p0 at 0, p90 at 1, p99 at 2, p99.9 at 3.
func TailPosition(p float64) float64 { return -math.Log10(1 - p/100) }

// Tails are the percentiles that a curve is drawn through.
func Tails() []float64 {
	var ps []float64
	for p := 0; p < 90; p += 5 {
		ps = append(ps, float64(p))
	}
	for p := 90; p < 99; p++ {
		ps = append(ps, float64(p))
	}
	for tenth := range 10 {
		ps = append(ps, float64(990+tenth)/10)
	}
	return ps
}

// Drawable reports whether f has a point to draw.
func (f *Figure) Drawable() bool {
	for _, s := range f.Series {
		for _, y := range s.Y {
			if !math.IsNaN(y) {
				return true
			}
		}
	}
	return false
}
