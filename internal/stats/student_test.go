package stats

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat/distuv"
)

func TestStudentAgainstGonum(t *testing.T) {
	for _, nu := range []float64{1, 2, 3.7, 6, 19, 99, 999, 299_999} {
		g := distuv.StudentsT{Sigma: 1, Nu: nu}
		for _, p := range []float64{1e-4, 0.001, 0.01, 0.05, 0.2, 0.4} {
			q := StudentQuantile(p, nu)
			require.InEpsilon(t, g.Quantile(p), q, 1e-8, "nu=%g p=%g", nu, p)
			require.InEpsilon(t, p, StudentCDF(q, nu), 1e-9)
			require.InDelta(t, 1-p, StudentCDF(-q, nu), 1e-10)
			require.InEpsilon(t, -q, StudentQuantile(1-p, nu), 1e-9) // 1-p rounds
		}
		require.InDelta(t, 0.5, StudentCDF(0, nu), 1e-15)
		require.InDelta(t, StudentQuantile(0.0999999, nu), StudentQuantile(0.1000001, nu), 1e-4) // the two forms meet
		require.InDelta(t, StudentCDF(0.70710, nu), StudentCDF(0.70711, nu), 1e-5)
	}
}

// Values of printed tables, and closed forms for 1 and 2 degrees of freedom.
func TestStudentKnownValues(t *testing.T) {
	require.InDelta(t, 1.729133, StudentQuantile(0.95, 19), 1e-6)
	require.InDelta(t, 1.943180, StudentQuantile(0.95, 6), 1e-6)
	require.InDelta(t, 2.262157, StudentQuantile(0.975, 9), 1e-6)
	require.InDelta(t, math.Tan(math.Pi*0.499), StudentQuantile(0.999, 1), 1e-7)
	require.InDelta(t, 0.5+1.5/(2*math.Sqrt(2+1.5*1.5)), StudentCDF(1.5, 2), 1e-14)
	require.InDelta(t, 1.6448536, StudentQuantile(0.95, math.Inf(1)), 1e-7)
	require.InDelta(t, 0.95, StudentCDF(1.6448536269514722, math.Inf(1)), 1e-12)
}

func TestStudentEdges(t *testing.T) {
	nan := math.NaN()
	for _, v := range []float64{StudentCDF(nan, 1), StudentCDF(0, 0), StudentCDF(0, nan), StudentQuantile(nan, 1), StudentQuantile(1.1, 1), StudentQuantile(0.9, -1)} {
		require.True(t, math.IsNaN(v))
	}
	require.Equal(t, 1.0, StudentCDF(math.Inf(1), 3))
	require.Zero(t, StudentCDF(math.Inf(-1), 3))
	require.True(t, math.IsInf(StudentQuantile(1, 3), 1))
	require.True(t, math.IsInf(StudentQuantile(0, 3), -1))
	require.Zero(t, StudentQuantile(0.5, 3))
}
