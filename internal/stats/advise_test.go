package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// One run against one is what the bootstrap of both says.
func TestAdviseIsTheBootstrapOfTwoRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	sample := func(scale float64) []float64 {
		v := make([]float64, 600)
		for i := range v {
			v[i] = scale * math.Exp(0.3*rng.NormFloat64())
		}
		return v
	}
	median := func(v []float64) float64 { slices.Sort(v); return Percentile(v, 50) }
	for _, scale := range []float64{1, 1.3} {
		a, b := sample(1), sample(scale)
		want := Compare{}.Bootstrap(a, b, 50, median)
		got := Compare{}.Advise([]float64{median(slices.Clone(a))}, []float64{median(slices.Clone(b))}, BlockSE(a, 50, median), BlockSE(b, 50, median))
		require.True(t, got.Advisory)
		require.Equal(t, want.Outcome, got.Outcome)
		require.InDelta(t, want.Ratio, got.Ratio, 1e-12)
		require.InDelta(t, want.SE, got.SE, 0.003)
	}
	require.True(t, math.IsNaN(BlockSE(sample(1), 151, median)), "fewer than four blocks")
	require.True(t, math.IsNaN(BlockSE(nil, 50, median)))
}

// By hand: se² = .04² + .03² of the one, and .03²/4 of the four that differ by
// less than .03: se = .0522; log 1.2 is 2.56 of them above log 1.05.
func TestAdviseByHand(t *testing.T) {
	c := Compare{}.Advise([]float64{1, 1, 1, 1}, []float64{1.2}, math.NaN(), 0.04)
	require.InDelta(t, math.Sqrt(0.04*0.04+0.03*0.03+0.03*0.03/4), c.SE, 1e-12)
	require.Equal(t, Regressed, c.Outcome)
	require.InDelta(t, 0.5*math.Erfc((math.Log(1.2)-math.Log(1.05))/c.SE/math.Sqrt2), c.RegressedP, 1e-9)
	c = Compare{}.Advise([]float64{1}, []float64{1.2}, math.NaN(), 0.04)
	require.Equal(t, []any{Unclear, ReasonShort}, []any{c.Outcome, c.Reason})
	require.Equal(t, NoCompare, Compare{}.Advise([]float64{0}, []float64{1}, 0.1, 0.1).Outcome)
	require.Equal(t, NoCompare, Compare{}.Advise(nil, []float64{1}, 0.1, 0.1).Outcome)
}
