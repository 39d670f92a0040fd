package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	montanaflynn "github.com/montanaflynn/stats"
	"github.com/stretchr/testify/require"
)

func TestPercentileByHand(t *testing.T) {
	five := []float64{15, 20, 35, 40, 50}
	for _, c := range []struct {
		in            []float64
		p             float64
		linear, ranks float64
	}{
		{five, 0, 15, 15},
		{five, 5, 16, 15},    // rank 0.2: 15 + 0.2*5
		{five, 30, 23, 20},   // rank 1.2: 20 + 0.2*15
		{five, 40, 29, 20},   // rank 1.6: 20 + 0.6*15
		{five, 50, 35, 35},   // rank 2
		{five, 99, 49.6, 50}, // rank 3.96: 40 + 0.96*10
		{five, 100, 50, 50},
		{[]float64{7}, 0, 7, 7},
		{[]float64{7}, 50, 7, 7},
		{[]float64{7}, 100, 7, 7},
		{[]float64{1, 3}, 0, 1, 1},
		{[]float64{1, 3}, 25, 1.5, 1},
		{[]float64{1, 3}, 50, 2, 1},
		{[]float64{1, 3}, 75, 2.5, 3},
		{[]float64{1, 3}, 100, 3, 3},
		{[]float64{0.1, 0.1, 0.1}, 37, 0.1, 0.1},
	} {
		require.InDelta(t, c.linear, Percentile(c.in, c.p), 1e-12, "linear %v p%v", c.in, c.p)
		require.Equal(t, c.ranks, NearestRank(c.in, c.p), "nearest rank %v p%v", c.in, c.p)
	}
	require.Equal(t, 1.5, Percentile([]int64{1, 2}, 50))
}

func TestPercentileRefuses(t *testing.T) {
	withNaN := []float64{2, math.NaN(), 1}
	slices.Sort(withNaN)
	for name, f := range map[string]func([]float64, float64) float64{"linear": Percentile[float64], "nearest": NearestRank[float64]} {
		require.True(t, math.IsNaN(f(nil, 50)), name)
		for _, p := range []float64{math.NaN(), -0.001, 100.001, math.Inf(1)} {
			require.True(t, math.IsNaN(f([]float64{1, 2}, p)), "%s p%v", name, p)
		}
		require.True(t, math.IsNaN(f(withNaN, 50)), name)
	}
}

// The two libraries compute the same definition; they may round differently.
func TestAgainstMontanaflynn(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		values := make([]float64, 1+r.IntN(300))
		for i := range values {
			values[i] = math.Exp(r.NormFloat64()) * 1e6
			if r.IntN(4) == 0 && i > 0 {
				values[i] = values[i-1] // ties
			}
		}
		sorted := slices.Sorted(slices.Values(values))
		for range 10 {
			p := math.Max(r.Float64()*100, 1e-9)
			if r.IntN(2) == 0 {
				p = float64(1 + r.IntN(100))
			}
			want, err := montanaflynn.Percentile(values, p)
			require.NoError(t, err)
			require.InEpsilon(t, want, Percentile(sorted, p), 1e-13, "n=%d p=%v", len(values), p)
			want, err = montanaflynn.PercentileNearestRank(values, p)
			require.NoError(t, err)
			require.Equal(t, want, NearestRank(sorted, p), "n=%d p=%v", len(values), p)
		}
		got := Summarize(values)
		mean, _ := montanaflynn.Mean(values)
		require.InEpsilon(t, mean, got.Mean, 1e-12)
		if len(values) > 1 {
			sd, _ := montanaflynn.StandardDeviationSample(values)
			require.InDelta(t, sd, got.StdDev, 1e-9*sd+1e-9)
		}
		require.Equal(t, sorted[0], got.Min)
		require.Equal(t, sorted[len(sorted)-1], got.Max)
	}
}

func TestPercentileIsMonotone(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, 57)
	for i := range values {
		values[i] = r.Float64()
	}
	slices.Sort(values)
	last := values[0]
	for p := 0.0; p <= 100; p += 0.01 {
		v := Percentile(values, p)
		require.GreaterOrEqual(t, v, last, "p%v", p)
		last = v
	}
}

func TestSummarizeByHand(t *testing.T) {
	// 2 4 4 4 5 5 7 9: mean 5, squared deviations 9 1 1 1 0 0 4 16 = 32, 32/7.
	got := Summarize([]float64{2, 4, 4, 4, 5, 5, 7, 9})
	require.Equal(t, Summary{N: 8, Mean: 5, StdDev: math.Sqrt(32.0 / 7), Min: 2, Max: 9}, got)

	// A small spread on a large mean, which the naive formula loses.
	got = Summarize([]float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16})
	require.Equal(t, 1e9+10, got.Mean)
	require.InDelta(t, math.Sqrt(30), got.StdDev, 1e-9)

	equal := slices.Repeat([]float64{0.1}, 1001)
	got = Summarize(equal)
	require.Equal(t, Summary{N: 1001, Mean: 0.1, StdDev: 0, Min: 0.1, Max: 0.1}, got)
}

func TestSummarizeEdges(t *testing.T) {
	got := Summarize(nil)
	require.Zero(t, got.N)
	for _, f := range []float64{got.Mean, got.StdDev, got.Min, got.Max} {
		require.True(t, math.IsNaN(f))
	}
	got = Summarize([]float64{3})
	require.Equal(t, 3.0, got.Mean)
	require.True(t, math.IsNaN(got.StdDev))
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		got = Summarize([]float64{1, bad, 2})
		require.Equal(t, 3, got.N)
		for _, f := range []float64{got.Mean, got.StdDev, got.Min, got.Max} {
			require.True(t, math.IsNaN(f))
		}
	}
}
