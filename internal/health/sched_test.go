package health

import (
	"math"
	"math/rand/v2"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/montanaflynn/stats"
	"github.com/stretchr/testify/require"
)

// 100 times: 50 in (1, 2], 49 in (2, 4] and one above 4 s; before them, 7 and 3.
func TestHistogramByHand(t *testing.T) {
	edges := []float64{math.Inf(-1), 0, 1, 2, 4, math.Inf(1)}
	a := &metrics.Float64Histogram{Counts: []uint64{0, 7, 3, 0, 0}, Buckets: edges}
	b := &metrics.Float64Histogram{Counts: []uint64{0, 7, 53, 49, 1}, Buckets: edges}
	h := difference(a, b)
	require.Equal(t, []uint64{0, 0, 50, 49, 1}, h.counts)
	for p, want := range map[uint64]time.Duration{0: 2, 1: 2, 50: 2, 51: 4, 99: 4, 100: 4} {
		require.Equal(t, want*time.Second, h.percentile(p), "p%d", p)
	}
	require.Equal(t, uint64(100), h.total())
	h.counts = []uint64{2, 0, 0, 0, 0}
	require.Zero(t, h.percentile(50), "below 0")
	require.Zero(t, difference(a, a).percentile(50), "no times")
	require.Zero(t, difference(nil, b).total())
	require.Zero(t, difference(a, nil).total())
	require.Equal(t, []uint64{0, 0, 0, 0, 0}, difference(b, a).counts, "counters that run back")
}

// The bucket of the nearest rank is that in which the sample itself lies, for
// the runtime's own edges.
func TestHistogramAgainstSamples(t *testing.T) {
	s := []metrics.Sample{{Name: schedDelay}}
	metrics.Read(s)
	edges := s[0].Value.Float64Histogram().Buckets
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		n++
		var samples []float64
		a := &metrics.Float64Histogram{Buckets: edges, Counts: make([]uint64, len(edges)-1)}
		b := &metrics.Float64Histogram{Buckets: edges, Counts: make([]uint64, len(edges)-1)}
		bucket := func(v float64) (i int) {
			for i = 0; v >= edges[i+1]; i++ {
			}
			return i
		}
		for range 2 * n { // what came before is not counted
			i := bucket(rng.ExpFloat64() * 1e-4)
			a.Counts[i]++
			b.Counts[i]++
		}
		for range n {
			v := math.Exp(rng.NormFloat64()*3 - 10) // 45 us, and far around it
			samples = append(samples, v)
			b.Counts[bucket(v)]++
		}
		h := difference(a, b)
		for _, p := range []uint64{1, 50, 90, 99, 100} {
			exact, err := stats.PercentileNearestRank(samples, float64(p))
			require.NoError(t, err)
			got := h.percentile(p)
			top := edges[bucket(exact)+1]
			require.Equal(t, time.Duration(math.Round(top*1e9)), got, "p%d of %d", p, n)
		}
	}
}

// The metrics exist in this runtime.
func TestRuntimeMetrics(t *testing.T) {
	s := readSched()
	require.NotNil(t, s.pauses)
	require.NotNil(t, s.waits)
	gc, waits := s.since(s)
	require.Zero(t, gc)
	require.Zero(t, waits)
}
