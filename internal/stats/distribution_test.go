package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBucketsCoverEveryValue(t *testing.T) {
	next := 0
	check := func(v int64) {
		b := bucketOf(v)
		require.GreaterOrEqual(t, b, next-1, "value %d", v)
		require.Less(t, b, histogramBuckets, "value %d", v)
		next = b + 1
		require.LessOrEqual(t, math.Abs(middleOf(b)-float64(v)), histogramError*float64(v), "value %d in bucket %d", v, b)
	}
	for v := range int64(10000) {
		check(v)
	}
	for shift := 14; shift < 63; shift++ {
		for _, v := range []int64{1<<shift - 1, 1 << shift, 1<<shift + 1} {
			check(v)
		}
	}
	check(math.MaxInt64)
	require.Equal(t, histogramBuckets-1, bucketOf(math.MaxInt64))
	// Neighbours across a change of width.
	require.Equal(t, bucketOf(2047)+1, bucketOf(2048))
	require.Equal(t, bucketOf(4095)+1, bucketOf(4096))
}

func TestDistributionByHand(t *testing.T) {
	var d Distribution
	require.True(t, math.IsNaN(d.Percentile(50)))
	require.True(t, math.IsNaN(d.Summary().Mean))
	for _, v := range []int64{50, 15, 40, 20, 35} {
		d.Add(v)
	}
	require.Equal(t, 23.0, d.Percentile(30))
	require.False(t, d.Approximate())
	require.Zero(t, d.Resolution())
	// Mean 32; squared deviations 324 289 64 144 9 = 830; 830/4.
	require.Equal(t, Summary{N: 5, Mean: 32, StdDev: math.Sqrt(207.5), Min: 15, Max: 50}, d.Summary())
	d.Add(-3)
	require.Equal(t, 0.0, d.Percentile(0))
	require.Equal(t, 6, d.N())
}

func TestDistributionEqualHugeValues(t *testing.T) {
	d := Distribution{limit: 10}
	for range 100 {
		d.Add(math.MaxInt64)
	}
	require.Equal(t, Summary{N: 100, Mean: math.MaxInt64, StdDev: 0, Min: math.MaxInt64, Max: math.MaxInt64}, d.Summary())
	require.Equal(t, float64(math.MaxInt64), d.Percentile(50))
}

func TestDistributionBecomesApproximateWithinItsResolution(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 40 {
		d := Distribution{limit: 100}
		n := 101 + r.IntN(5000)
		values := make([]int64, n)
		for i := range values {
			values[i] = int64(math.Exp(r.NormFloat64()*3 + 15))
			if r.IntN(5) == 0 {
				values[i] = int64(r.IntN(3))
			}
			d.Add(values[i])
			require.Equal(t, i >= 100, d.Approximate())
		}
		slices.Sort(values)
		for _, p := range []float64{0, 1, 5, 25, 50, 75, 90, 99, 99.9, 99.99, 100, r.Float64() * 100} {
			want, got := Percentile(values, p), d.Percentile(p)
			require.InDelta(t, want, got, want*d.Resolution(), "round %d n %d p%v", round, n, p)
		}
		require.Equal(t, float64(values[0]), d.Percentile(0))
		require.Equal(t, float64(values[n-1]), d.Percentile(100))
		require.True(t, math.IsNaN(d.Percentile(math.NaN())))
		require.True(t, math.IsNaN(d.Percentile(101)))

		floats := make([]float64, n)
		for i, v := range values {
			floats[i] = float64(v)
		}
		want := Summarize(floats)
		got := d.Summary()
		require.Equal(t, want.N, got.N)
		require.InEpsilon(t, want.Mean, got.Mean, 1e-12)
		require.InEpsilon(t, want.StdDev, got.StdDev, 1e-12)
	}
}

// However the samples are dealt out and merged, the figures are the same.
func TestMergeDependsOnTheSamplesAlone(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		n := r.IntN(400)
		whole := Distribution{limit: 100}
		parts := make([]Distribution, 1+r.IntN(4))
		for i := range parts {
			parts[i].limit = 100
		}
		for range n {
			v := r.Int64N(1 << (1 + r.IntN(50)))
			whole.Add(v)
			parts[r.IntN(len(parts))].Add(v)
		}
		merged := Distribution{limit: 100}
		for _, i := range r.Perm(len(parts)) {
			before := parts[i].N()
			merged.Merge(&parts[i])
			require.Equal(t, before, parts[i].N())
		}
		require.Equal(t, whole.Approximate(), merged.Approximate())
		require.Equal(t, whole.N(), merged.N())
		if n == 0 {
			continue
		}
		for _, p := range []float64{0, 10, 50, 90, 99, 100} {
			require.Equal(t, whole.Percentile(p), merged.Percentile(p))
		}
		if n > 1 {
			require.Equal(t, whole.Summary(), merged.Summary())
		}
	}
}

func TestDistributionKeepsEightMiBOfSamples(t *testing.T) {
	var d Distribution
	for i := range int64(exactSamples) {
		d.Add(i)
	}
	require.False(t, d.Approximate())
	require.Equal(t, float64(exactSamples-1)/2, d.Percentile(50))
	d.Add(exactSamples)
	require.True(t, d.Approximate())
	require.Nil(t, d.samples)
	require.LessOrEqual(t, d.Resolution(), 1.0/1024)
	require.InEpsilon(t, float64(exactSamples)/2, d.Percentile(50), d.Resolution())
}

func TestCountAtLeastWithinABucket(t *testing.T) {
	var exact Distribution
	coarse := Distribution{limit: 1}
	require.Zero(t, exact.CountAtLeast(1))
	for v := range int64(10_001) { // 0 … 10,000; buckets from 8192 are 8 wide
		exact.Add(v)
		coarse.Add(v)
	}
	for _, c := range []struct {
		v             int64
		exact, coarse int
	}{
		{-5, 10_001, 10_001}, {0, 10_001, 10_001}, {1, 10_000, 10_000}, {2047, 7954, 7954},
		{9000, 1001, 1001}, // the first value of its bucket
		{9005, 996, 1001},
		{10_000, 1, 1}, // the first value of its bucket
		{10_001, 0, 0}, // in the same bucket, but above the maximum
		{1 << 40, 0, 0},
	} {
		require.Equal(t, c.exact, exact.CountAtLeast(c.v), "exact, %d", c.v)
		require.Equal(t, c.coarse, coarse.CountAtLeast(c.v), "histogram, %d", c.v)
	}
}

func BenchmarkDistributionAdd(b *testing.B) {
	d := Distribution{limit: 1}
	v := int64(1)
	b.ReportAllocs()
	for b.Loop() {
		d.Add(v)
		v = (v*6364136223846793005 + 1442695040888963407) & math.MaxInt32
	}
}

func BenchmarkDistributionPercentile(b *testing.B) {
	d := Distribution{limit: 1}
	for i := range int64(1 << 20) {
		d.Add(i * 997)
	}
	for b.Loop() {
		d.Percentile(99)
	}
}
