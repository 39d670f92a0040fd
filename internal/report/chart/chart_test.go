package chart

import (
	"encoding/xml"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"

	"github.com/slogate/slogate/internal/report/figure"
)

const evil = `</text><script>alert(1)</script>` + "\x1b[31m"

var example = figure.Figure{
	ID: "curve", Title: "TTFT " + evil, X: figure.Axis{Label: "percentile", Unit: figure.Percentile, Tail: true}, Y: figure.Axis{Label: "TTFT", Unit: figure.Seconds},
	Series: []figure.Series{
		{Name: evil, X: figure.Values{0, 50, 90, 99}, Y: figure.Values{0.1, math.NaN(), 0.3, 0.8}},
		{Name: "one point", X: figure.Values{50}, Y: figure.Values{0.2}, Color: 9},
		{Name: "failures", X: figure.Values{10}, Y: figure.Values{0}, Points: true, Color: figure.Bad},
		{Name: "levels", X: figure.Values{50, 20}, Y: figure.Values{0.2, 0.3}, Labels: []string{evil, "c=4"}},
	},
	Limits: []figure.Limit{{Y: 1, Name: "p99 < 1s"}, {Y: 1000, Name: "far off"}},
	Shades: []figure.Shade{{From: 0, To: 0.1, Name: "warm-up"}},
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, Formats, "SIMULATED", example))
	svg, err := os.ReadFile(filepath.Join(dir, "curve.svg"))
	require.NoError(t, err)
	for d := xml.NewDecoder(strings.NewReader(string(svg))); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		if e, ok := token.(xml.StartElement); ok {
			require.NotEqual(t, "script", e.Name.Local)
		}
	}
	for _, text := range []string{"SIMULATED", "p99", "warm-up", "one point", `\x1b`} {
		require.True(t, strings.Contains(string(svg), text), text)
	}
	colors := colorsOf(t, filepath.Join(dir, "curve.png"))
	require.Positive(t, colors[[3]uint32{0xc8, 0x10, 0x2e}], "the limit's line is drawn")
	require.Positive(t, colors[[3]uint32{0x00, 0x72, 0xb2}], "the series is drawn")
}

func TestNothingToDraw(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, Write(dir, Formats, "", figure.Figure{ID: "empty", Series: []figure.Series{{X: figure.Values{1}, Y: figure.Values{math.NaN()}}}}))
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, files)
	require.ErrorContains(t, Write(filepath.Join(dir, "absent"), Formats, "", example), "chart curve:")
}

func TestWriteHeat(t *testing.T) {
	dir := t.TempDir()
	h := figure.Heat{ID: "heat-0", Title: "ITL", End: 4, Columns: 4, Rows: 2, Low: 0.01, High: 0.1, Counts: []uint32{0, 1, 5, 0, 100, 1, 0, 0}}
	require.NoError(t, WriteHeat(dir, Formats, "", h))
	one := h
	one.ID, one.Counts = "heat-1", []uint32{1, 0, 0, 0, 0, 0, 0, 0}
	require.NoError(t, WriteHeat(dir, Formats, "", one))
	for _, name := range []string{"heat-0.svg", "heat-0.png", "heat-1.svg", "heat-1.png"} {
		require.FileExists(t, filepath.Join(dir, name))
	}
}

// Each text has a place of its own, inside; where there is none, it has none.
func TestPlace(t *testing.T) {
	in := vg.Rectangle{Max: vg.Point{X: 100, Y: 100}}
	var taken []vg.Rectangle
	for range 4 {
		box, ok := place(vg.Point{X: 90, Y: 50}, 30, 10, in, taken)
		require.True(t, ok)
		require.True(t, free(box, taken))
		require.True(t, box.Min.X >= 0 && box.Max.X <= 100)
		taken = append(taken, box)
	}
	_, ok := place(vg.Point{X: 50, Y: 50}, 200, 10, in, nil)
	require.False(t, ok)
}

// A single gap is seen on paper, and what an axis counts is said.
func TestSingleGapAndUnit(t *testing.T) {
	r, g, b, _ := blues{}.Colors()[0].RGBA()
	require.Less(t, max(r, g)>>8, uint32(0xe0))
	require.Greater(t, b>>8, uint32(0xe0))
	p, err := lines(figure.Figure{
		Y: figure.Axis{Label: "Request rate", Unit: figure.Requests}, X: figure.Axis{Unit: figure.Seconds},
		Series: []figure.Series{{X: figure.Values{5, 6}, Y: figure.Values{-1, 2}}},
	}, "")
	require.NoError(t, err)
	require.Equal(t, "Request rate, req/s", p.Y.Label.Text)
	require.Equal(t, []float64{0, 6, -1}, []float64{p.X.Min, p.X.Max, p.Y.Min})
}

// Three requests of 10 s in ticks of a second: one waits 2 s and has its first
// token after 3, one failed, one was sent before the load. Each has its colour,
// and of a thousand every fourth is shown.
func TestWriteTimeline(t *testing.T) {
	dir := t.TempDir()
	line := figure.Timeline{ID: "line", Title: "Requests", Tick: 1, Classes: []string{evil}, Bars: []figure.Bar{
		{Start: 0, Queue: 2, First: 3, Length: 8}, {Start: 1, First: figure.NoToken, Length: 9, Class: 1}, {Start: 0, First: 1, Length: 2, Part: 1},
	}}
	require.NoError(t, WriteTimeline(dir, Formats, "SIMULATED", line))
	colors := colorsOf(t, filepath.Join(dir, "line.png"))
	first, rest := colors[[3]uint32{0xc2, 0x57, 0x0c}], colors[[3]uint32{0x00, 0x72, 0xb2}]
	require.InDelta(t, 3.0/5, float64(first)/float64(rest), 0.1) // 3 s to the first token, 5 s from there
	for _, c := range [][3]uint32{{0x8c, 0x95, 0x9f}, {0xc8, 0x10, 0x2e}, {0xd0, 0xd7, 0xde}} {
		require.Positive(t, colors[c], c)
	}
	many := line
	many.ID, many.Bars = "many", make([]figure.Bar, 1000)
	require.NoError(t, WriteTimeline(dir, []string{"svg"}, "", many))
	svg, err := os.ReadFile(filepath.Join(dir, "many.svg"))
	require.NoError(t, err)
	require.Contains(t, string(svg), "one of 4")
	require.NoError(t, WriteTimeline(dir, Formats, "", figure.Timeline{ID: "none"}))
	require.NoFileExists(t, filepath.Join(dir, "none.svg"))
}

// colorsOf counts the pixels of each color in a PNG file.
func colorsOf(t *testing.T, name string) map[[3]uint32]int {
	t.Helper()
	f, err := os.Open(name)
	require.NoError(t, err)
	defer f.Close()
	image, err := png.Decode(f)
	require.NoError(t, err)
	colors := map[[3]uint32]int{}
	for x := range image.Bounds().Dx() {
		for y := range image.Bounds().Dy() {
			r, g, b, _ := image.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	return colors
}
