package stats

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mathext"
)

// binomialSum is P(Bin(n, p) <= k) term by term in 200-bit arithmetic, so that
// it shares no rounding with the function under test.
func binomialSum(k, n int64, p float64) float64 {
	const bits = 200
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(bits).SetFloat64(v) }
	q := new(big.Float).Sub(f(1), f(p))
	// term(0) = q^n by repeated squaring.
	term, base := f(1), new(big.Float).Copy(q)
	for e := n; e > 0; e >>= 1 {
		if e&1 == 1 {
			term.Mul(term, base)
		}
		base.Mul(base, base)
	}
	ratio := new(big.Float).Quo(f(p), q)
	sum := f(0)
	for i := int64(0); ; i++ {
		sum.Add(sum, term)
		if i == k {
			break
		}
		term.Mul(term, ratio).Mul(term, f(float64(n-i))).Quo(term, f(float64(i+1)))
	}
	out, _ := sum.Float64()
	return out
}

func TestRegIncBetaAgainstExactSums(t *testing.T) {
	for _, c := range []struct {
		k, n int64
		q    float64
	}{
		{0, 299, 0.01}, {4, 1000, 0.01}, {15, 1000, 0.01}, {83, 10_000, 0.01}, {117, 10_000, 0.01},
		{2_703, 270_336, 0.01}, {2_600, 270_336, 0.01}, {2_900, 270_336, 0.01},
		{300, 300_000, 0.001}, {3_000, 300_000, 0.01}, {30_000, 300_000, 0.1}, {29_700, 300_000, 0.1},
		{150_000, 300_000, 0.5}, {149_500, 300_000, 0.5}, {5, 10, 0.5},
	} {
		want := binomialSum(c.k, c.n, c.q)
		got := PassP(float64(c.k), float64(c.n), c.q)
		require.InEpsilon(t, want, got, 1e-11, "k=%d n=%d q=%g", c.k, c.n, c.q)
	}
}

func TestRegIncBetaAgainstGonum(t *testing.T) {
	worst := 0.0
	for _, n := range []float64{0.5, 1, 3, 17.25, 300, 1_000.5, 10_000, 100_000, 300_000} {
		for _, at := range []float64{0.001, 0.01, 0.05, 0.3, 0.5, 0.9, 0.999} {
			a, b := n*at, n*(1-at)
			sd := math.Sqrt(at * (1 - at) / (n + 1))
			for _, z := range []float64{-6, -2.3, -1.6, -0.5, 0, 0.7, 1.6, 4} {
				x := at + z*sd
				if x <= 0 || x >= 1 {
					continue
				}
				// gonum stops its fraction after 300 steps; where that is
				// too few, its value is no witness.
				if math.Max(a, b)*min(at, 1-at) > 20_000 {
					continue
				}
				diff := math.Abs(RegIncBeta(a, b, x) - mathext.RegIncBeta(a, b, x))
				worst = max(worst, diff)
				// From n = 300,000 the rounding of gonum's logarithms is above
				// 1e-10; the exact sums above are the witness there.
				allowed := 1e-10
				if n >= 300_000 {
					allowed = 5e-10
				}
				if diff > allowed {
					t.Errorf("I_%g(%g, %g) is off gonum's by %g", x, a, b, diff)
				}
			}
		}
	}
	t.Logf("largest difference from gonum: %.2g", worst)
}

func TestRegIncBetaSymmetryAndKnownValues(t *testing.T) {
	require.InDelta(t, 0.5, RegIncBeta(3.5, 3.5, 0.5), 1e-14)
	require.InDelta(t, 0.3, RegIncBeta(1, 1, 0.3), 1e-15)
	require.InDelta(t, 1-math.Pow(0.7, 4), RegIncBeta(1, 4, 0.3), 1e-15)
	require.InDelta(t, math.Pow(0.3, 2.5), RegIncBeta(2.5, 1, 0.3), 1e-15)
	require.InDelta(t, 2/math.Pi*math.Asin(math.Sqrt(0.3)), RegIncBeta(0.5, 0.5, 0.3), 1e-14) // arcsine law
	require.InDelta(t, 1, RegIncBeta(2.2, 900.7, 0.004)+RegIncBeta(900.7, 2.2, 0.996), 1e-13)
}

func TestRegIncBetaEdges(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range [][3]float64{{nan, 1, .5}, {1, nan, .5}, {1, 1, nan}, {-1, 1, .5}, {1, -1, .5}, {inf, 1, .5}, {1, inf, .5}, {0, 0, .5}} {
		require.True(t, math.IsNaN(RegIncBeta(c[0], c[1], c[2])), "%v", c)
		require.True(t, math.IsNaN(InvRegIncBeta(c[0], c[1], c[2])), "%v", c)
	}
	require.Zero(t, RegIncBeta(2, 3, -1))
	require.Equal(t, 1.0, RegIncBeta(2, 3, 7))
	require.Equal(t, 1.0, RegIncBeta(0, 3, 0.1))
	require.Zero(t, RegIncBeta(3, 0, 0.9))
	require.Zero(t, InvRegIncBeta(0, 3, 0.1))
	require.Equal(t, 1.0, InvRegIncBeta(3, 0, 0.1))
	require.True(t, math.IsNaN(InvRegIncBeta(2, 3, 1.1)))
}

func TestInvRegIncBeta(t *testing.T) {
	for _, ab := range [][2]float64{{1, 299}, {0.5, 0.5}, {4.7, 83.1}, {1, 1e6}, {83, 9_917}, {2_703, 267_633}, {150_000, 150_000}, {9.5, 0.5}, {0.01, 20}} {
		for _, p := range []float64{1e-12, 1e-4, 0.01, 0.05, 0.5, 0.95, 0.99, 1 - 1e-9} {
			x := InvRegIncBeta(ab[0], ab[1], p)
			if x == 0 || x == 1 || x > 1-1e-14 || x < 1e-300 {
				continue // the quantile lies closer to an end than a float64
			}
			require.InDelta(t, p, RegIncBeta(ab[0], ab[1], x), 1e-11, "a=%g b=%g p=%g x=%g", ab[0], ab[1], p, x)
		}
	}
	require.InEpsilon(t, 1-math.Pow(0.05, 1.0/1e6), InvRegIncBeta(1, 1e6, 0.95), 1e-9)
}

func BenchmarkRegIncBeta(b *testing.B) {
	for b.Loop() {
		RegIncBeta(267_500, 2_600, 0.99)
	}
}
