package gather

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report/figure"
	"github.com/stretchr/testify/require"
)

const ms = int64(1e6)

// answer is a success: sent at a moment, a first token after 100 ms, tokens
// every 50 ms, all in milliseconds.
func answer(index int, sent int64, tokens int) *record.Record {
	var r record.Record
	r.Reset()
	r.Index, r.Scheduled, r.Sent = index, (sent-10)*ms, sent*ms
	for i := range tokens {
		at := (sent + 100 + 50*int64(i)) * ms
		r.Events = append(r.Events, record.Event{At: at, Kind: record.KindAnswer | record.KindChoices})
		r.LastToken = at
	}
	r.FirstToken, r.Done = r.Events[0].At, r.LastToken
	r.TokenEvents, r.OutputTokens = tokens, int64(tokens)
	return &r
}

func failed(index int, sent, done int64) *record.Record {
	var r record.Record
	r.Reset()
	r.Index, r.Scheduled, r.Sent, r.Done, r.Class = index, sent*ms, sent*ms, done*ms, record.ClassReset
	return &r
}

func TestOverTime(t *testing.T) {
	g := New(Options{End: 1000 * ms, Requests: 4, Bars: 10}) // slices of 100 ms
	warmup := answer(0, 10, 2)                               // tokens at 110 and 160 ms
	warmup.Part = record.Warmup
	g.Add(warmup)
	g.Add(answer(0, 200, 3)) // tokens at 300, 350, 400 ms
	g.Add(answer(1, 450, 2)) // 550 and 600 ms
	g.Add(failed(2, 700, 930))
	o := g.OverTime()
	nan := math.NaN()
	none := [2]figure.Values{
		{0.1, nan, 0.1, nan, 0.1, nan, nan, nan, nan, nan},
		{0.1, nan, 0.1, nan, 0.1, nan, nan, nan, nan, nan},
	}
	tpot := figure.Values{0.05, nan, 0.05, nan, 0.05, nan, nan, nan, nan, nan}
	want := OverTime{
		Width: 0.1, Warmup: 0.16, Failure: figure.Values{0.93},
		Mid:    figure.Values{.05, .15, .25, .35, .45, .55, .65, .75, .85, .95},
		Sent:   figure.Values{10, 0, 10, 0, 10, 0, 0, 10, 0, 0},
		Done:   figure.Values{0, 10, 0, 0, 10, 0, 10, 0, 0, 0},
		Failed: figure.Values{0, 0, 0, 0, 0, 0, 0, 0, 0, 10},
		Output: figure.Values{0, 20, 0, 20, 10, 10, 10, 0, 0, 0},
		Flight: figure.Values{.9, .6, 1, 1, .5, 1, 0, 1, 1, .3},
		TTFT:   none, TPOT: [2]figure.Values{tpot, tpot},
	}
	if d := cmp.Diff(want, o, cmpopts.EquateNaNs(), cmpopts.EquateApprox(0, 1e-6)); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

func TestTimeline(t *testing.T) {
	g := New(Options{End: 1000 * ms, Requests: 3, Bars: 10})
	g.Add(answer(0, 200, 3))
	g.Add(failed(1, 50, 930))
	warmup := answer(0, 10, 2)
	warmup.Part = record.Warmup
	g.Add(warmup)
	tl, leftOut := g.Timeline()
	require.Zero(t, leftOut)
	want := figure.Timeline{Tick: 1e-6, Classes: []string{record.ClassReset}, Parts: []string{"measured", "warmup", "start", "padding"}, Bars: []figure.Bar{
		{Start: 0, Queue: 10_000, First: 100_000, Length: 150_000, Tokens: 2, Part: 1},
		{Start: 50_000, First: figure.NoToken, Length: 880_000, Index: 1, Class: 1},
		{Start: 190_000, Queue: 10_000, First: 100_000, Length: 200_000, Tokens: 3},
	}}
	if d := cmp.Diff(want, tl); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
}

// A timeline with too little room has evenly chosen requests, and failures
// between them.
func TestTimelineIsThinned(t *testing.T) {
	const n, room = 1003, 100
	g := New(Options{End: 10_000 * ms, Requests: n, Bars: room})
	for i := range n {
		if i%100 == 7 {
			g.Add(failed(i, int64(i), int64(i)+1))
			continue
		}
		g.Add(answer(i, int64(i), 2))
	}
	tl, leftOut := g.Timeline()
	require.LessOrEqual(t, len(tl.Bars), room)
	require.Equal(t, n, len(tl.Bars)+leftOut)
	failures := 0
	for _, b := range tl.Bars {
		if b.Class != 0 {
			failures++
		}
	}
	require.GreaterOrEqual(t, failures, 10)
	require.EqualValues(t, 0, tl.Bars[0].Index)
}

// Stamps of a run of a day do not overflow the columns.
func TestTimelineOfADay(t *testing.T) {
	const day = 24 * 3600 * 1000
	g := New(Options{End: day * ms, Requests: 1, Bars: 10})
	g.Add(answer(0, day-1000, 2))
	tl, _ := g.Timeline()
	b := tl.Bars[0]
	require.InDelta(t, (day-1010)/1e3, float64(b.Start)*tl.Tick, 1e-3)
	require.InDelta(t, 0.15, float64(b.Length)*tl.Tick, 1e-4)
}

func TestHeat(t *testing.T) {
	g := New(Options{End: 1600 * ms, Requests: 1}) // 160 columns of 10 ms
	g.Add(answer(0, 0, 3))                         // gaps of 50 ms that end at 150 and 200 ms
	h, ok := g.Heat()
	require.True(t, ok)
	require.Equal(t, 1, h.Rows)
	require.InDelta(t, 0.05, math.Sqrt(h.Low*h.High), 0.006)
	for c := range h.Columns {
		want := uint32(0)
		if c == 15 || c == 20 {
			want = 1
		}
		require.Equal(t, []uint32{want}, h.Column(c), "column %d", c)
	}
	_, ok = New(Options{End: 1}).Heat()
	require.False(t, ok)
}

// Curves end where the count carries no percentile: of 100 values, p99 is the
// last, and the linear rule of 0.1, 0.2, … 10 gives it at 0.1 + 99 % of 9.9.
func TestCurves(t *testing.T) {
	g := New(Options{End: 1e12, Requests: 100})
	for i := range 100 {
		var r record.Record
		r.Reset()
		r.Sent, r.FirstToken, r.Done = 0, int64(i+1)*100*ms, int64(i+1)*200*ms
		g.Add(&r)
	}
	ttft, tpot, itl, latency := g.Curves()
	for i, p := range figure.Tails() {
		if p > 99 {
			require.True(t, math.IsNaN(ttft[i]), "p%v", p)
		} else {
			require.InDelta(t, 0.1+p/100*9.9, ttft[i], 1e-9)
			require.InDelta(t, 2*(0.1+p/100*9.9), latency[i], 1e-9)
		}
		require.True(t, math.IsNaN(tpot[i]))
		require.True(t, math.IsNaN(itl[i]))
	}
}

func TestNiceWidth(t *testing.T) {
	require.EqualValues(t, 5*ms, niceWidth(1000*ms, 240))
	require.EqualValues(t, 1, niceWidth(1, 240))
	require.EqualValues(t, 20e9, niceWidth(3600e9, 200))
}
