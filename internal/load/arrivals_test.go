package load

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// plan is the first arrivals of a schedule.
func plan(s Schedule, n int) []time.Duration {
	var out []time.Duration
	for range n {
		a, ok := s.Next()
		if !ok {
			break
		}
		out = append(out, a.At)
	}
	return out
}

// The first outputs of SplitMix64 with seed 0, as published with it.
func TestMix(t *testing.T) {
	const step = 0x9e3779b97f4a7c15
	require.EqualValues(t, uint64(0xe220a8397b1dcdaf), mix(0))
	require.EqualValues(t, uint64(0x6e789e6aa1b965f4), mix(step))
	require.EqualValues(t, uint64(0x06c45d188009454f), mix(step*2&(1<<64-1)))
}

// What is drawn for an index does not depend on what was drawn before, and does
// on the seed and the use.
func TestStreamIsAddressed(t *testing.T) {
	a, b := newStream(7, forGaps), newStream(7, forGaps)
	for range 100 {
		a.at(3).NormFloat64()
	}
	for _, i := range []uint64{0, 5, 1 << 40} {
		require.Equal(t, a.at(i).Uint64(), b.at(i).Uint64())
		require.NotEqual(t, a.at(i).Uint64(), newStream(8, forGaps).at(i).Uint64())
		require.NotEqual(t, a.at(i).Uint64(), newStream(7, forThinks).at(i).Uint64())
	}
}

func TestConstantArrivals(t *testing.T) {
	ms := time.Millisecond
	require.Equal(t, []time.Duration{0, 125 * ms, 250 * ms, 375 * ms}, plan(Arrivals(Constant{}, Level(8), 1), 4))
	// 3/s: the nearest nanosecond, and no drift.
	got := plan(Arrivals(Constant{}, Level(3), 1), 300_001)
	require.Equal(t, []time.Duration{0, 333_333_333, 666_666_667, time.Second}, got[:4])
	require.Equal(t, 100_000*time.Second, got[300_000])
	// 10/s for one second is 10 arrivals, the first at 0 and none at the end.
	require.Equal(t, []time.Duration{0, 100 * ms, 200 * ms, 300 * ms, 400 * ms, 500 * ms, 600 * ms, 700 * ms, 800 * ms, 900 * ms},
		plan(Arrivals(Constant{}, Stages{{time.Second, 10, 10}}, 1), 100))
	// 0 to 10/s over 10 s: 50 arrivals, the n-th where t*t/2 = n.
	got = plan(Arrivals(Constant{}, Ramp(0, 10, 10*time.Second), 1), 100)
	require.Len(t, got, 50)
	require.Equal(t, 2*time.Second, got[2])
	require.Equal(t, 4*time.Second, got[8])
	require.Equal(t, 8*time.Second, got[32])
	require.Empty(t, plan(Arrivals(Constant{}, Level(0), 1), 1))
}

// Each Poisson gap is -ln(1-u) of its own u, from a PCG that is seeded as
// documented.
func TestPoissonArrivals(t *testing.T) {
	got := plan(Arrivals(Poisson{}, Level(4), 42), 1000)
	key := mix(mix(42) + forGaps)
	var sum float64
	for i, at := range got {
		u := rand.New(rand.NewPCG(key, mix(key^mix(uint64(i))))).Float64()
		sum -= math.Log1p(-u)
		require.Equal(t, time.Duration(math.Round(sum/4*1e9)), at)
	}
	require.Empty(t, cmp.Diff(got, plan(Arrivals(Poisson{}, Level(4), 42), 1000)), "the same again")
	require.NotEqual(t, got, plan(Arrivals(Poisson{}, Level(4), 43), 1000))
	// Twice the rate is the same plan in half the time.
	for i, at := range plan(Arrivals(Poisson{}, Level(8), 42), 1000) {
		require.InDelta(t, float64(got[i])/2, float64(at), 1)
	}
}

// moments are the mean, variance and skewness, and the correlation of each
// value with the next.
func moments(x []float64) (mean, variance, skew, next float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	var third, lag float64
	for i, v := range x {
		d := v - mean
		variance += d * d / n
		third += d * d * d / n
		if i > 0 {
			lag += d * (x[i-1] - mean) / n
		}
	}
	return mean, variance, third / math.Pow(variance, 1.5), lag / variance
}

func gaps(p Process, seed uint64, n int) []float64 {
	s := newStream(seed, forGaps)
	out := make([]float64, n)
	for i := range out {
		out[i] = p.gap(s, uint64(i))
	}
	return out
}

// 100,000 arrivals at 10/s: counts a second have the variance of their mean,
// seconds and gaps do not depend on their neighbours, and gaps are exponential.
func TestPoissonIsPoisson(t *testing.T) {
	for _, seed := range []uint64{0, 1, 2, 1 << 63} {
		const n = 100_000
		arrivals := plan(Arrivals(Poisson{}, Level(10), seed), n)
		counts := make([]float64, int(arrivals[n-1].Seconds()))
		for _, at := range arrivals {
			if i := int(at.Seconds()); i < len(counts) {
				counts[i]++
			}
		}
		mean, variance, _, next := moments(counts)
		require.InDelta(t, 10, mean, 0.15)
		require.InDelta(t, 1, variance/mean, 0.05)
		require.InDelta(t, 0, next, 0.04)
		g := gaps(Poisson{}, seed, n)
		mean, variance, skew, next := moments(g)
		require.InDelta(t, 1, mean, 0.015)
		require.InDelta(t, 1, variance, 0.03)
		require.InDelta(t, 2, skew, 0.15)
		require.InDelta(t, 0, next, 0.02)
		// The share of gaps above x is exp(-x).
		for _, x := range []float64{0.01, 0.1, 1, 3, 6} {
			above := 0.0
			for _, v := range g {
				if v > x {
					above++
				}
			}
			require.InDelta(t, math.Exp(-x), above/n, 0.007)
		}
	}
}

// Gamma with shape k and mean 1: variance 1/k, skewness 2/sqrt(k).
func TestGammaMoments(t *testing.T) {
	for _, k := range []float64{0.25, 0.5, 0.999, 1, 2, 4, 16, 100} {
		const n = 200_000
		mean, variance, skew, next := moments(gaps(Gamma{Shape: k}, 5, n))
		require.InDelta(t, 1, mean, 4/math.Sqrt(n*k), "shape %v", k)
		require.InEpsilon(t, 1/k, variance, 0.05, "shape %v", k)
		require.InEpsilon(t, 2/math.Sqrt(k), skew, 0.13, "shape %v", k)
		require.InDelta(t, 0, next, 0.02, "shape %v", k)
	}
}

// A Poisson process whose rate goes from 0 to 20/s in 1,000 s: a quarter of its
// 10,000 arrivals are expected in the first half.
func TestPoissonOfAChangingRate(t *testing.T) {
	got := plan(Arrivals(Poisson{}, Ramp(0, 20, 1000*time.Second), 3), 1<<20)
	require.InDelta(t, 10_000, len(got), 400) // four standard deviations
	first := 0
	for _, at := range got {
		if at < 500*time.Second {
			first++
		}
	}
	require.InDelta(t, 2500, first, 200)
}

// Whatever the load, the shards together have its arrivals, each once.
func TestShardsArePartsOfOnePlan(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n, total, seed := 1+r.IntN(9), r.IntN(500), r.Uint64()
		p := []Process{Constant{}, Poisson{}, Gamma{Shape: 0.1 + 5*r.Float64()}}[r.IntN(3)]
		rate := randomProfile(r)
		want := plan(Arrivals(p, rate, seed), total)
		got, parts := map[int]time.Duration{}, 0
		for i := range n {
			shard := Shard{Index: i, Count: n}
			parts += shard.Of(total)
			s, mine := Arrivals(p, rate, seed), 0
			for range total {
				a, ok := s.Next()
				if !ok {
					break
				}
				if shard.takes(a.Index) {
					if _, twice := got[a.Index]; twice || a.Index != shard.global(mine) {
						t.Fatalf("arrival %d is the shard's number %d, and it is seen twice: %v", a.Index, mine, twice)
					}
					got[a.Index] = a.At
					mine++
				}
			}
			require.Equal(t, shard.Of(len(want)), mine)
		}
		require.Equal(t, total, parts)
		require.Len(t, got, len(want))
		for i, at := range want {
			if got[i] != at || i > 0 && want[i-1] > at {
				t.Fatalf("arrival %d: %v, want %v", i, got[i], at)
			}
		}
	}
}

func TestReplay(t *testing.T) {
	trace := func(offsets ...time.Duration) func() (time.Duration, any, bool) {
		i := -1
		return func() (time.Duration, any, bool) {
			if i++; i >= len(offsets) {
				return 0, nil, false
			}
			return offsets[i], fmt.Sprint(i), true
		}
	}
	all := func(r *Replay) (out []Arrival) {
		for a, ok := r.Next(); ok; a, ok = r.Next() {
			out = append(out, a)
		}
		return out
	}
	offsets := []time.Duration{100, 300, 200, 350, 700, 900, 1000, 1200}
	require.Equal(t, []Arrival{
		{0, 100, "0"}, {1, 300, "1"}, {2, 300, "2"}, {3, 350, "3"}, {4, 700, "4"}, {5, 900, "5"}, {6, 1000, "6"}, {7, 1200, "7"},
	}, all(&Replay{Read: trace(offsets...)}), "times do not go back")
	require.Equal(t, []Arrival{{0, 0, "1"}, {1, 25, "3"}, {2, 200, "4"}, {3, 300, "5"}},
		all(&Replay{Read: trace(offsets...), Speed: 2, From: 300, To: 1000}))
	require.Equal(t, []Arrival{{0, 398, "5"}, {1, 598, "6"}, {2, 998, "7"}},
		all(&Replay{Read: trace(offsets...), Speed: 0.5, From: 701}))
	require.Empty(t, all(&Replay{Read: trace()}))
}

// BenchmarkArrivals is the cost of a time.
func BenchmarkArrivals(b *testing.B) {
	for _, p := range []Process{Constant{}, Poisson{}, Gamma{Shape: 0.5}} {
		for _, rate := range []Profile{Level(100), Ramp(100, 200, time.Hour<<10), Sine{100, 50, time.Minute, time.Hour << 10}} {
			b.Run(fmt.Sprintf("%T/%T", p, rate), func(b *testing.B) {
				b.ReportAllocs()
				s := Arrivals(p, rate, 1)
				for b.Loop() {
					s.Next()
				}
			})
		}
	}
}
