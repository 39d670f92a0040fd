// Package page writes a report as one HTML file that needs nothing else: no
// network, no server, no other file. Its tables are plain HTML, which a screen
// reader, a printer and a browser without scripts can use; its charts are drawn
// by uPlot (MIT, see uplot/LICENSE) and a little code of our own.
//
// All text is escaped here, by [report.Escape] and html/template. Should a text
// get through all the same, the page's content security policy lets no script
// run but the one whose hash it names, and nothing be loaded or sent.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/report/figure"
)

// Page is the whole report.
type Page struct {
	Title    string
	Subtitle string   // what and when, in a line
	Marks    []string // what must not be overlooked: SIMULATED, PARTIAL; shown first
	Sections []Section
}

// Section is a part of the page, with a link to it at the top. One without
// anything in it is left out.
type Section struct {
	ID        string // lower case letters, digits and "-"; unique in the page
	Title     string
	Note      string
	Tables    []Table
	Figures   []figure.Figure // those without a point to draw are left out
	Heats     []figure.Heat
	Timelines []figure.Timeline
	Texts     []Text
}

// Table is a table with a header row. The first cell of each row is its header.
type Table struct {
	Caption string
	Head    []string
	Rows    [][]Cell
}

// Cell is one field of a table.
type Cell struct {
	Text   string
	Number bool // right-aligned, not wrapped
	Mark   Mark
}

// Mark sets a cell off, beside what its text says.
type Mark string

// The marks.
const (
	Good Mark = "good"
	Bad  Mark = "bad"
	Warn Mark = "warn"
)

// Text is a longer text, such as a configuration, that opens on demand.
type Text struct{ Title, Body string }

//go:embed assets/page.html
var pageHTML string

//go:embed assets/page.css
var pageCSS string

//go:embed assets/units.js
var unitsJS string

//go:embed assets/chart.js
var chartJS string

//go:embed assets/canvas.js
var canvasJS string

//go:embed assets/timeline.js
var timelineJS string

//go:embed assets/heat.js
var heatJS string

//go:embed assets/main.js
var mainJS string

//go:embed uplot/uPlot.iife.min.js
var uplotJS string

//go:embed uplot/uPlot.min.css
var uplotCSS string

//go:embed uplot/LICENSE
var uplotLicense string

var layout = template.Must(template.New("page").Funcs(template.FuncMap{
	"text": report.Escape, "lines": escapeLines, "figureTable": figureTable, "heatTable": heatTable, "numbers": numbers,
}).Parse(pageHTML))

// Write writes p to w.
func Write(w io.Writer, p Page) error {
	var drawn []Section
	for _, s := range p.Sections {
		s.Figures = drawable(s.Figures)
		if len(s.Tables)+len(s.Figures)+len(s.Heats)+len(s.Timelines)+len(s.Texts) > 0 || s.Note != "" {
			drawn = append(drawn, s)
		}
	}
	p.Sections = drawn
	data, err := chartData(p)
	if err != nil {
		return err
	}
	script := "/*!\n" + uplotLicense + "*/\n" + uplotJS + "\n(function () {\n'use strict';\n" +
		unitsJS + chartJS + canvasJS + timelineJS + heatJS + mainJS + "}());\n"
	style := uplotCSS + "\n" + pageCSS
	return layout.Execute(w, struct {
		Page
		Policy string
		Script template.JS
		Style  template.CSS
		Data   template.JS
	}{p, policy(script, style), template.JS(script), template.CSS(style), template.JS(data)})
}

// policy allows the page's own script and style, by their hashes, and nothing
// else: no connection, no image, no frame, no other script.
func policy(script, style string) string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) + "; base-uri 'none'; form-action 'none'"
}

func drawable(figures []figure.Figure) (out []figure.Figure) {
	for _, f := range figures {
		if f.Drawable() {
			out = append(out, f)
		}
	}
	return out
}

// chartData is what the script draws, as JSON that cannot end its element:
// encoding/json writes <, > and & as escapes.
func chartData(p Page) ([]byte, error) {
	type heat struct {
		figure.Heat
		Data string `json:"data"`
	}
	type timeline struct {
		figure.Timeline
		Bars int    `json:"bars"`
		Data string `json:"data"`
	}
	data := struct {
		Figures   map[string]figure.Figure `json:"figures"`
		Heats     map[string]heat          `json:"heats"`
		Timelines map[string]timeline      `json:"timelines"`
	}{map[string]figure.Figure{}, map[string]heat{}, map[string]timeline{}}
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			data.Figures[f.ID] = escaped(f)
		}
		for _, h := range s.Heats {
			data.Heats[h.ID] = heat{h, pack(h.Counts)}
		}
		for _, t := range s.Timelines {
			t.Classes = append([]string{}, t.Classes...) // not null
			for i := range t.Classes {
				t.Classes[i] = report.Escape(t.Classes[i])
			}
			data.Timelines[t.ID] = timeline{t, len(t.Bars), packBars(t.Bars)}
		}
	}
	return json.Marshal(data)
}

// escaped is f with its texts escaped, as far as the script shows them.
func escaped(f figure.Figure) figure.Figure {
	f.Series = append([]figure.Series(nil), f.Series...)
	for i := range f.Series {
		s := &f.Series[i]
		s.Name = report.Escape(s.Name)
		s.Labels = append([]string(nil), s.Labels...)
		for k := range s.Labels {
			s.Labels[k] = report.Escape(s.Labels[k])
		}
	}
	f.Limits = append([]figure.Limit(nil), f.Limits...)
	for i := range f.Limits {
		f.Limits[i].Name = report.Escape(f.Limits[i].Name)
	}
	return f
}

// pack is little-endian base64, which a browser reads as a Uint32Array.
func pack(columns ...[]uint32) string {
	var b []byte
	for _, c := range columns {
		for _, v := range c {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}

// packBars writes the bars column by column: six of 32 bits, and one of 8
// with the part in its two highest bits and the class in the others.
func packBars(bars []figure.Bar) string {
	b := make([]byte, 0, 25*len(bars))
	for _, column := range []func(*figure.Bar) uint32{
		func(b *figure.Bar) uint32 { return b.Start },
		func(b *figure.Bar) uint32 { return b.Queue },
		func(b *figure.Bar) uint32 { return b.First },
		func(b *figure.Bar) uint32 { return b.Length },
		func(b *figure.Bar) uint32 { return b.Tokens },
		func(b *figure.Bar) uint32 { return b.Index },
	} {
		for i := range bars {
			b = binary.LittleEndian.AppendUint32(b, column(&bars[i]))
		}
	}
	for _, bar := range bars {
		b = append(b, bar.Part<<6|bar.Class)
	}
	return base64.StdEncoding.EncodeToString(b)
}

// escapeLines escapes a text of several lines.
func escapeLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = report.Escape(line)
	}
	return strings.Join(lines, "\n")
}

// Style is the page's, for other pages that are to look like it.
func Style() string { return pageCSS }
