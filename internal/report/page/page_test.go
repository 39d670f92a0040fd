package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"html"
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/report/figure"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, p Page) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, Write(&b, p))
	return b.String()
}

const evil = "</script><img src=x onerror=alert(1)>\x1b[31m\u202e\x00"

// A text is shown as text wherever it stands.
func TestTextIsEscaped(t *testing.T) {
	out := write(t, Page{Title: evil, Subtitle: evil, Marks: []string{evil}, Sections: []Section{{
		ID: "a", Title: evil, Note: evil,
		Tables: []Table{{Caption: evil, Head: []string{evil}, Rows: [][]Cell{{{Text: evil}, {Text: evil, Mark: Bad}}}}},
		Figures: []figure.Figure{{
			ID: "f", Title: evil, Caption: evil, Series: []figure.Series{{Name: evil, X: figure.Values{1}, Y: figure.Values{1}, Labels: []string{evil}}},
			Limits: []figure.Limit{{Name: evil}}, Shades: []figure.Shade{{Name: "warm-up"}},
		}},
		Heats:     []figure.Heat{{ID: "h", Title: evil, Caption: evil, Columns: 20, Rows: 1, Counts: make([]uint32, 20), Low: 1, High: 2}},
		Timelines: []figure.Timeline{{ID: "t", Title: evil, Caption: evil, Classes: []string{evil}}},
		Texts:     []Text{{evil, "one\n" + evil}},
	}}})
	for _, bad := range []string{"<img", "\x1b", "\u202e", "\x00"} {
		require.False(t, strings.Contains(out, bad), "%q", bad) // NotContains would print the page
	}
	require.Equal(t, 2, strings.Count(out, "</script"))
	require.True(t, strings.Contains(out, `<td class="bad">&lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;\x1b[31m\u202e\x00</td>`))
	var data any
	require.NoError(t, json.Unmarshal([]byte(element(t, out, `<script type="application/json" id="data">`, "</script>")), &data))
}

func element(t *testing.T, out, from, to string) string {
	t.Helper()
	_, rest, ok := strings.Cut(out, from)
	require.True(t, ok, from)
	inner, _, ok := strings.Cut(rest, to)
	require.True(t, ok, to)
	return inner
}

// The policy lets exactly the page's script and style through.
func TestPolicy(t *testing.T) {
	out := write(t, Page{Title: "T"})
	policy := html.UnescapeString(regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(out)[1])
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	script, style := element(t, out, "<script>", "</script>"), element(t, out, "<style>", "</style>")
	require.Equal(t, "default-src 'none'; script-src "+hash(script)+"; style-src "+hash(style)+"; base-uri 'none'; form-action 'none'", policy)
	require.True(t, strings.Contains(script, "The MIT License"), "the charting library's licence goes with it")
	require.Empty(t, regexp.MustCompile(`(src|href)="?(https?:)?//`).FindAllString(out, -1))
}

// 50,000 requests stay below 3 MiB, and the bars come back as they were.
func TestSizeAndBars(t *testing.T) {
	bars := make([]figure.Bar, 50_000)
	for i := range bars {
		bars[i] = figure.Bar{Start: uint32(i), Queue: 7, First: figure.NoToken, Length: uint32(3 * i), Tokens: 5, Index: uint32(i), Class: uint8(i % 3), Part: uint8(i % 4)}
	}
	out := write(t, Page{Title: "T", Sections: []Section{{ID: "a", Title: "A", Timelines: []figure.Timeline{{ID: "t", Tick: 1e-6, Bars: bars}}}}})
	require.Less(t, len(out), 3<<20)
	var data struct {
		Timelines map[string]struct {
			Bars int
			Data []byte
		}
	}
	require.NoError(t, json.Unmarshal([]byte(element(t, out, `<script type="application/json" id="data">`, "</script>")), &data))
	got, raw, n := data.Timelines["t"], data.Timelines["t"].Data, len(bars)
	require.Equal(t, n, got.Bars)
	require.Len(t, raw, 25*n)
	at := func(column, i int) uint32 { return binary.LittleEndian.Uint32(raw[4*(column*n+i):]) }
	for _, i := range []int{0, 99, 100, 49_999} {
		flags := raw[24*n+i]
		require.Equal(t, bars[i], figure.Bar{Start: at(0, i), Queue: at(1, i), First: at(2, i), Length: at(3, i), Tokens: at(4, i), Index: at(5, i), Class: flags & 0x3f, Part: flags >> 6})
	}
}

func TestFigureTable(t *testing.T) {
	nan := math.NaN()
	got := figureTable(figure.Figure{
		Title: "TTFT", X: figure.Axis{Label: "time", Unit: figure.Seconds}, Y: figure.Axis{Unit: figure.Seconds},
		Series: []figure.Series{
			{Name: "a", X: figure.Values{1, 2}, Y: figure.Values{0.1, nan}},
			{Name: "b", X: figure.Values{2, 3}, Y: figure.Values{0.25, 0.5}},
			{Name: "failures", X: figure.Values{1, 1.5}, Y: figure.Values{0, 0}, Points: true},
		},
	})
	cell := func(s string) Cell { return Cell{Text: s, Number: true} }
	want := Table{Caption: "TTFT, as numbers; failures: 2", Head: []string{"time", "a", "b"}, Rows: [][]Cell{
		{{Text: "1.00s"}, cell("100ms"), cell("-")},
		{{Text: "2.00s"}, cell("-"), cell("250ms")},
		{{Text: "3.00s"}, cell("-"), cell("500ms")},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	long := figure.Figure{Series: []figure.Series{{Name: "a"}}}
	for i := range 1000 {
		long.Series[0].X, long.Series[0].Y = append(long.Series[0].X, float64(i)), append(long.Series[0].Y, 1)
	}
	rows := figureTable(long).Rows
	require.Len(t, rows, mostRows)
	require.Equal(t, "999", rows[len(rows)-1][0].Text)
}

// Two columns a twentieth: 3 gaps of 10 to 20 and one of 20 to 40 ms in the
// first, none after it.
func TestHeatTable(t *testing.T) {
	h := figure.Heat{Title: "ITL", End: 40, Columns: 40, Rows: 2, Low: 0.01, High: 0.04, Counts: make([]uint32, 80)}
	h.Counts[0], h.Counts[2], h.Counts[3] = 2, 1, 1
	rows := heatTable(h).Rows
	require.Len(t, rows, 20)
	text := func(row []Cell) (s []string) {
		for _, c := range row {
			s = append(s, c.Text)
		}
		return s
	}
	require.Equal(t, []string{"0s to 2.00s", "4", "20.0ms", "40.0ms", "40.0ms"}, text(rows[0]))
	require.Equal(t, []string{"38.0s to 40.0s", "0", "-", "-", "-"}, text(rows[19]))
}

func TestEmptySectionsAreLeftOut(t *testing.T) {
	out := write(t, Page{Title: "T", Sections: []Section{
		{ID: "none", Title: "None", Figures: []figure.Figure{{ID: "f", Series: []figure.Series{{X: figure.Values{1}, Y: figure.Values{math.NaN()}}}}}},
		{ID: "some", Title: "Some", Note: "a note"},
	}})
	require.False(t, strings.Contains(out, `id="none"`))
	require.True(t, strings.Contains(out, `id="some"`))
}
