package stats

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestMinRequestsTable(t *testing.T) {
	tolerated := []int{0, 1, 2, 3, 5, 10}
	for _, row := range []struct {
		p, alpha float64
		want     []int
	}{
		{0.5, 0.05, []int{5, 8, 11, 13, 18, 30}},
		{0.9, 0.05, []int{29, 46, 61, 76, 103, 167}},
		{0.9, 0.01, []int{44, 64, 81, 97, 127, 197}},
		{0.95, 0.05, []int{59, 93, 124, 153, 208, 336}},
		{0.95, 0.01, []int{90, 130, 165, 198, 259, 398}},
		{0.99, 0.05, []int{299, 473, 628, 773, 1_049, 1_693}},
		{0.99, 0.01, []int{459, 662, 838, 1_001, 1_307, 2_010}},
		{0.999, 0.05, []int{2_995, 4_742, 6_294, 7_752, 10_511, 16_959}},
		{0.999, 0.01, []int{4_603, 6_636, 8_403, 10_042, 13_105, 20_140}},
	} {
		var got []int
		for _, k := range tolerated {
			got = append(got, MinRequests(row.p, row.alpha, k))
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("p=%g alpha=%g (-want +got):\n%s", row.p, row.alpha, diff)
		}
		require.Equal(t, int(math.Ceil(math.Log(row.alpha)/math.Log(row.p))), got[0])
	}
}

func TestBandsTable(t *testing.T) {
	for n, want := range map[int][2]int{
		200: {-1, 6}, 300: {0, 7}, 500: {1, 10}, 1_000: {4, 16}, 2_000: {12, 29}, 5_000: {38, 63}, 10_000: {83, 118},
	} {
		pass, fail := Bands(n, 0.99, 0.05)
		require.Equal(t, want, [2]int{pass, fail}, "n=%d", n)
	}
}

// Requests with which a service that violates a share f of what it may is
// passed with probability 0.9 ("n for 90 % power"): the first number that does. The design's table has the p95
// row so, and the p99 row 1 to 4 requests higher.
func TestPowerTable(t *testing.T) {
	for p, row := range map[float64]map[float64]int{
		0.99: {0.1: 473, 0.2: 773, 0.33: 1_312, 0.5: 2_546, 0.67: 6_545, 0.75: 11_907},
		0.95: {0.1: 93, 0.2: 153, 0.33: 234, 0.5: 506, 0.67: 1_260, 0.75: 2_310},
	} {
		for f, want := range row {
			power := func(n int) float64 {
				pass, _ := Bands(n, p, 0.05)
				if pass < 0 {
					return 0
				}
				return PassP(float64(pass), float64(n), f*(1-p))
			}
			first := MinRequests(p, 0.05, 0)
			for power(first) < 0.9 {
				first++
			}
			if first != want {
				t.Errorf("p=%g f=%g: %d requests, want %d (power %.5f)", p, f, first, want, power(want))
			}
		}
	}
}

func TestMLPerf(t *testing.T) {
	h := func(t int, p float64) int { return MLPerfMinUnder(t, p, MLPerfTolerance, MLPerfConfidence) }
	require.Equal(t, 459, h(0, 0.99))
	require.Equal(t, 662, h(1, 0.99)+1)
	require.Equal(t, 44, h(0, 0.9))
	require.Equal(t, 64, h(1, 0.9)+1)
	// The floors of MLCommons Endpoints, one over the limit discarded.
	for p, want := range map[float64]int{0.5: 11, 0.75: 24, 0.8: 31, 0.9: 64, 0.95: 130, 0.97: 219, 0.99: 662, 0.999: 6_636} {
		require.Equal(t, want, h(1, p)+1, "p=%g", p)
		require.Zero(t, MLPerfDiscard(want-1, p, 0, 0.99))
		require.Equal(t, 1, MLPerfDiscard(want, p, 0, 0.99))
	}
	require.Equal(t, 77, MLPerfDiscard(10_000, 0.99, 0, 0.99))
	for n, want := range map[int]string{1_000: "99.80", 10_000: "99.23", 24_576: "99.15", 270_336: "99.04"} {
		discard := MLPerfDiscard(n, 0.99, 0, 0.99)
		require.LessOrEqual(t, h(discard, 0.99)+discard, n)
		require.Greater(t, h(discard+1, 0.99)+discard+1, n)
		require.Equal(t, want, fmt.Sprintf("%.2f", 100*(1-float64(discard)/float64(n))))
	}
}

func TestSharesAgainstGonumBinomial(t *testing.T) {
	for _, c := range []struct{ k, n, q float64 }{{0, 10, 0.1}, {3, 10, 0.1}, {10, 10, 0.5}, {4, 1000, 0.01}, {16, 1000, 0.01}} {
		b := distuv.Binomial{N: c.n, P: c.q}
		below := 0.0
		for i := 0.0; i <= c.k; i++ {
			below += b.Prob(i)
		}
		require.InDelta(t, below, PassP(c.k, c.n, c.q), 1e-12)
		require.InDelta(t, 1-below+b.Prob(c.k), FailP(c.k, c.n, c.q), 1e-12)
	}
}

func TestClopperPearson(t *testing.T) {
	// No failure in n: 1 - alpha^(1/n); all failed: alpha^(1/n).
	require.InDelta(t, 1-math.Pow(0.05, 1.0/20), ShareUpper(0, 20, 0.05), 1e-12)
	require.InDelta(t, math.Pow(0.05, 1.0/20), ShareLower(20, 20, 0.05), 1e-12)
	require.Zero(t, ShareLower(0, 20, 0.05))
	require.Equal(t, 1.0, ShareUpper(20, 20, 0.05))
	// 23 of 1000: "95% lower 1.5%".
	require.InDelta(t, 0.0157, ShareLower(23, 1000, 0.05), 1e-4)
	for _, k := range []float64{0.3, 4, 77.5} {
		require.InDelta(t, 0.05, PassP(k, 1000, ShareUpper(k, 1000, 0.05)), 1e-10)
		require.InDelta(t, 0.05, FailP(k, 1000, ShareLower(k, 1000, 0.05)), 1e-10)
	}
}

func TestBinomialEdges(t *testing.T) {
	nan := math.NaN()
	for _, f := range []func(k, n, q float64) float64{PassP, FailP, ShareUpper, ShareLower} {
		for _, c := range [][3]float64{{nan, 10, .1}, {1, nan, .1}, {1, 10, nan}, {0, 0, .1}, {-1, 10, .1}, {11, 10, .1}, {1, math.Inf(1), .1}, {1, 10, -0.1}, {1, 10, 1.1}} {
			require.True(t, math.IsNaN(f(c[0], c[1], c[2])), "%v", c)
		}
	}
	require.Equal(t, 1.0, PassP(10, 10, 0.1))
	require.Equal(t, 1.0, FailP(0, 10, 0.1))
	for _, bad := range [][2]float64{{0, .05}, {1, .05}, {nan, .05}, {.9, 0}, {.9, 1}, {.9, nan}} {
		require.Zero(t, MinRequests(bad[0], bad[1], 0))
		pass, fail := Bands(100, bad[0], bad[1])
		require.Equal(t, [2]int{-1, 101}, [2]int{pass, fail})
		require.Equal(t, 101, UpperRank(100, bad[0], bad[1]))
		require.Zero(t, LowerRank(100, bad[0], bad[1]))
	}
	require.Zero(t, MinRequests(0.9, 0.05, -1))
	require.Zero(t, MLPerfMinUnder(-1, 0.9, 0, 0.99))
	require.Zero(t, MLPerfMinUnder(1, 0.9, 0.9, 0.99))
	require.Zero(t, MLPerfDiscard(0, 0.9, 0, 0.99))
	pass, fail := Bands(0, 0.9, 0.05)
	require.Equal(t, [2]int{-1, 1}, [2]int{pass, fail})
}

func TestOrderStatisticRanks(t *testing.T) {
	require.Equal(t, 996, UpperRank(1_000, 0.99, 0.05))
	// The bound exists from the same n on that can prove the SLO without a violation.
	require.Equal(t, 299, UpperRank(298, 0.99, 0.05))
	require.Equal(t, 299, UpperRank(299, 0.99, 0.05))
	// The median of 10 at 5 %: P(Bin(10, 1/2) <= 1) = 11/1024 and <= 2 is 56/1024.
	require.Equal(t, 2, LowerRank(10, 0.5, 0.05))
	require.Equal(t, 9, UpperRank(10, 0.5, 0.05))
	require.Zero(t, LowerRank(4, 0.5, 0.05))
	// At most 5 % on each side, by the definition; one rank nearer is more.
	for _, n := range []int{20, 100, 1_000} {
		up, low := UpperRank(n, 0.9, 0.05), LowerRank(n, 0.9, 0.05)
		if up <= n {
			require.LessOrEqual(t, 1-binomialCDF(up-1, n, 0.9), 0.05)
			require.Greater(t, 1-binomialCDF(up-2, n, 0.9), 0.05)
		}
		require.LessOrEqual(t, binomialCDF(low-1, n, 0.9), 0.05)
		require.Greater(t, binomialCDF(low, n, 0.9), 0.05)
	}
}

func TestPercentileBounds(t *testing.T) {
	sorted := make([]float64, 1_000)
	for i := range sorted {
		sorted[i] = float64(i + 1)
	}
	lower, upper := PercentileBounds(sorted, 99, 0.05)
	require.Equal(t, 996.0, upper)
	require.Equal(t, float64(LowerRank(1_000, 0.99, 0.05)), lower)
	_, upper = PercentileBounds(sorted[:200], 99, 0.05)
	require.True(t, math.IsInf(upper, 1))
	lower, _ = PercentileBounds(sorted[:2], 50, 0.05)
	require.True(t, math.IsInf(lower, -1))
	for _, c := range []struct {
		s []float64
		p float64
	}{{nil, 99}, {[]float64{math.NaN(), 1}, 50}, {sorted, 0}, {sorted, 100}, {sorted, math.NaN()}} {
		lower, upper = PercentileBounds(c.s, c.p, 0.05)
		require.True(t, math.IsNaN(lower) && math.IsNaN(upper))
	}
}
