package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

func TestMannKendallByHand(t *testing.T) {
	m := MannKendall([]float64{1, 2, 3, 4, 5}) // var 5*4*15/18
	require.Equal(t, 10, m.S)
	require.InDelta(t, 9/math.Sqrt(300.0/18), m.Z, 1e-12)
	require.InDelta(t, 0.5*math.Erfc(m.Z/math.Sqrt2), m.P, 1e-15)
	m = MannKendall([]float64{1, 1, 2}) // var (3*2*11 - 2*1*9)/18
	require.Equal(t, 2, m.S)
	require.InDelta(t, 1/math.Sqrt(48.0/18), m.Z, 1e-12)
	m = MannKendall([]float64{5, 3, 4, 2, 1})
	require.Equal(t, -8, m.S)
	require.InDelta(t, -7/math.Sqrt(300.0/18), m.Z, 1e-12)
	require.Zero(t, MannKendall([]float64{4, 4, 4, 4}).Z)
	require.Equal(t, 0.5, MannKendall([]float64{4, 4, 4, 4}).P)
	require.True(t, math.IsNaN(MannKendall([]float64{1, 2}).Z))
	require.True(t, math.IsNaN(MannKendall([]float64{1, math.NaN(), 2}).P))
}

func TestMannKendallAgainstGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	x, y := make([]float64, 40), make([]float64, 40)
	for i := range x {
		x[i], y[i] = float64(i), float64(i)/20+rng.NormFloat64()
	}
	require.InDelta(t, stat.Kendall(x, y, nil), float64(MannKendall(y).S)/(40*39/2), 1e-12)
}

func TestTheilSen(t *testing.T) {
	require.InDelta(t, 2, TheilSen([]float64{1, 3, 5, 7, 900}), 1e-12) // an outlier does not move it
	require.InDelta(t, 1.5, TheilSen([]float64{0, 1, 3}), 1e-12)       // 1, 2 and 1.5
	require.True(t, math.IsNaN(TheilSen([]float64{1})))
	require.True(t, math.IsNaN(TheilSen([]float64{1, math.NaN()})))
}

func TestInFlight(t *testing.T) {
	nan := math.NaN()
	spans := []Span{{Start: 0, End: 10}, {Start: 2.5, End: 5}, {Start: 6, End: nan}, {Start: -5, End: 1}, {Start: 12, End: 20}, {Start: -9, End: -1}}
	// Windows of 2.5: 1 + the first second of the fourth; 2; 1 and 1.5 of the third; 2.
	require.InDeltaSlice(t, []float64{1.4, 2, 1.6, 2}, InFlight(spans, 0, 10, 4), 1e-12)
	require.Nil(t, InFlight(spans, 10, 10, 4))
	require.Nil(t, InFlight(spans, 0, nan, 4))
	require.Nil(t, InFlight(spans, 0, 10, 0))
}

// queue serves one at a time, each in 0.1 s, requests that come every gap
// seconds: a straight line when gap is below that.
func queue(n int, gap float64) []Span {
	spans, free := make([]Span, n), 0.0
	for i := range spans {
		start := float64(i) * gap
		free = max(free, start) + 0.1
		spans[i] = Span{Start: start, End: free, TTFT: free - start}
	}
	return spans
}

func TestJudgeLoad(t *testing.T) {
	at := func(n int, gap float64) Load { return JudgeLoad(queue(n, gap), 0, float64(n)*gap) }
	calm := at(600, 0.125)
	require.True(t, calm.Judged)
	require.False(t, calm.Saturated)
	require.False(t, calm.Unsteady())
	require.InDelta(t, 0.8, calm.InFlight[7], 0.02)
	over := at(600, 0.08) // 12.5 arrive, 10 leave: in-flight grows by 2.5 a second, 20 % of the arrivals
	require.True(t, over.Saturated)
	require.True(t, over.Unsteady())
	require.InDelta(t, 0.2, over.Slope, 0.01)
	// From 20 % on: first quarter about the time 30 % of the run, last 90 %.
	require.InDelta(t, 3, over.Growth, 0.1)
	require.InDelta(t, 0.9/0.5, over.TTFTGrowth, 0.1)
	slight := at(600, 0.099) // 1 % too much: beneath 2 % of the arrivals
	require.True(t, slight.Trending)
	require.False(t, slight.Saturated)

	// No first token in the last quarter: that is the worst growth.
	stalled := queue(600, 0.08)
	for i := 480; i < 600; i++ {
		stalled[i].TTFT, stalled[i].End = math.NaN(), math.NaN()
	}
	l := JudgeLoad(stalled, 0, 48)
	require.True(t, math.IsInf(l.TTFTGrowth, 1))
	require.True(t, l.Saturated)

	// A burst in a run that ends calm is unsteady and not saturated.
	bursty := queue(600, 0.125)
	for i := 300; i < 420; i++ {
		bursty[i].End += 12
	}
	l = JudgeLoad(bursty, 0, 75)
	require.False(t, l.Saturated)
	require.Greater(t, l.CV, 0.5)
	require.True(t, l.Unsteady())
}

func TestJudgeLoadEdges(t *testing.T) {
	for _, l := range []Load{JudgeLoad(nil, 0, 0), JudgeLoad(nil, 0, 10), JudgeLoad(queue(90, 0.08), 0, 7.2), JudgeLoad(queue(600, 0.08), 0, math.NaN())} {
		require.False(t, l.Judged || l.Saturated || l.Trending || l.Unsteady())
	}
	// Instantaneous answers: nothing is ever in flight, and nothing saturates.
	spans := make([]Span, 500)
	for i := range spans {
		spans[i] = Span{Start: float64(i), End: float64(i)}
	}
	l := JudgeLoad(spans, 0, 500)
	require.True(t, l.Judged)
	require.False(t, l.Saturated || l.Unsteady())
}
