package simulate

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The whole tables are in ../characteristics.md; this is a sample of them with
// fixed seeds, small enough for every test run.

// The true TTFT p99 at 8 requests a second, and the highest rate with a TTFT p99
// below half a second, from a million requests.
const (
	trueP99  = 0.301
	trueRate = 10.41
)

// Requests that are alone in the engine cost what its constants say.
func TestEngineAlone(t *testing.T) {
	stalled := 0
	for _, r := range (Engine{Slow: 2}).Open(1, 0.001, 0, 200) {
		tokens := (r.TTFT/2 - stepBase) / stepPrefill
		if tokens > chunkBudget || math.Abs(r.TPOT-2*(stepBase+stepSeq)) > 1e-9 {
			stalled++ // in two chunks, or the engine paused in it
			continue
		}
		require.InDelta(t, math.Round(tokens), tokens, 1e-6)
	}
	require.Less(t, stalled, 40)
}

func TestEngineIsTheDesigns(t *testing.T) {
	a, b := Engine{}.Open(3, 8, 10, 500), Engine{}.Open(3, 8, 10, 500)
	require.Equal(t, len(a), 500)
	for i := range a {
		require.Equal(t, a[i].Start, b[i].Start)
		require.Equal(t, a[i].End, b[i].End)
		require.Greater(t, a[i].TTFT, 0.0)
		require.GreaterOrEqual(t, a[i].End, a[i].Start+a[i].TTFT)
	}
	require.InDelta(t, trueP99, Truth(8, TTFT, 99, 40_000), 0.03)
	// 14 a second are more than it bears: 12.7 leave.
	over := Engine{}.Open(4, 14, 0, 4_000)
	require.InDelta(t, 12.7, float64(len(over))/over[len(over)-1].End, 0.5)
}

func TestPercentileCharacteristics(t *testing.T) {
	at := Percentile(8, TTFT, 1_000, 60, trueP99, 0.5, 1, 2)
	require.GreaterOrEqual(t, at[0].Fail, 0.98)
	require.LessOrEqual(t, at[1].Pass, 0.08)
	require.LessOrEqual(t, at[1].Fail, 0.08)
	require.GreaterOrEqual(t, at[1].Binomial, 0.12)
	require.GreaterOrEqual(t, at[1].Naive, 0.3)
	require.GreaterOrEqual(t, at[2].Pass, 0.6)
	require.Zero(t, at[2].Fail)
}

func TestEarlyStopCharacteristics(t *testing.T) {
	for _, multiple := range []float64{0.3, 0.7} {
		c := EarlyStop(8, trueP99, multiple, 1_000, 30)
		require.Zero(t, c.Disagree)
		require.LessOrEqual(t, c.Early, c.FinalFail) // some fail in their last batch only
		require.Greater(t, c.Early, 25)
		require.Less(t, c.MeanStop, 900.0)
	}
}

func TestRegressionCharacteristics(t *testing.T) {
	c := Comparison{Rate: 8, Requests: 1_000, Baseline: 5, Candidate: 3, Noise: 0.02, Slow: 1}
	require.Zero(t, c.Repeat(3)[0].Regressed)
	c.Slow = 1.2
	slower := c.Repeat(3)[0]
	require.Equal(t, 1.0, slower.Regressed)
	require.InDelta(t, 1.34, slower.Effect, 0.1)
}

func TestMaxLoadCharacteristics(t *testing.T) {
	s := MaxLoad(2, trueRate)
	require.Zero(t, s.OverClaims)
	require.Zero(t, s.Unconfirmed)
	require.InDelta(t, 0.95, s.Mean, 0.1)
}

func TestSaturationCharacteristics(t *testing.T) {
	require.LessOrEqual(t, Saturated(0.6*12.7, 60, 8), 0.13)
	require.GreaterOrEqual(t, Saturated(1.3*12.7, 60, 8), 0.87)
}
