package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMeanByHand(t *testing.T) {
	// 40 values: batch i holds i and i+2, so that batch means are 1 to 20 with
	// variance 35, and SE = sqrt(35/20); t_{.95,19} = 1.729133.
	var values []float64
	for i := range 20 {
		values = append(values, float64(i), float64(i)+2)
	}
	m := MeanTest{Limit: 14}.Run(values)
	se := math.Sqrt(35.0 / 20)
	require.InDelta(t, 10.5, m.Mean, 1e-12)
	require.InDelta(t, se, m.SE, 1e-12)
	require.InDelta(t, 10.5-1.729133*se, m.Lower, 1e-6)
	require.InDelta(t, 10.5+1.729133*se, m.Upper, 1e-6) // 12.79
	require.Equal(t, Pass, m.Decision)
	require.Equal(t, Inconclusive, MeanTest{Limit: 12}.Run(values).Decision)
	require.Equal(t, Fail, MeanTest{Limit: 8}.Run(values).Decision)
	require.Equal(t, Fail, MeanTest{Limit: 14, AtLeast: true}.Run(values).Decision)
	require.Equal(t, Pass, MeanTest{Limit: 8, AtLeast: true}.Run(values).Decision)
	// 40 (1.729 se / 1.5)² requests at a distance of 1.5.
	require.Equal(t, int(math.Ceil(40*math.Pow(1.729133*se/1.5, 2))), MeanTest{Limit: 12}.Run(values).Needed)
}

func TestMeanBatchesBearDependence(t *testing.T) {
	// An AR(1) of 0.9 has 19 times the variance of the mean of independent values.
	rng := rand.New(rand.NewPCG(3, 1))
	pass := 0
	const runs = 400
	for range runs {
		x, values := rng.NormFloat64()/math.Sqrt(1-0.81), make([]float64, 2000)
		for i := range values {
			x = 0.9*x + rng.NormFloat64()
			values[i] = x
		}
		if (MeanTest{Limit: 0}).Run(values).Decision == Pass {
			pass++
		}
	}
	require.InDelta(t, 0.05, float64(pass)/runs, 0.035)
}

func TestMeanEdges(t *testing.T) {
	flat := make([]float64, 20)
	for _, c := range []struct {
		name     string
		test     MeanTest
		values   []float64
		decision Decision
		rule     Rule
	}{
		{"none", MeanTest{Limit: 1}, nil, Invalid, RuleEmpty},
		{"NaN value", MeanTest{Limit: 1}, append([]float64{math.NaN()}, flat...), Invalid, RuleInput},
		{"infinite value", MeanTest{Limit: 1}, append([]float64{math.Inf(1)}, flat...), Invalid, RuleInput},
		{"NaN limit", MeanTest{Limit: math.NaN()}, flat, Invalid, RuleInput},
		{"level 2", MeanTest{Limit: 1, Alpha: 2}, flat, Invalid, RuleInput},
		{"19 values", MeanTest{Limit: 1}, flat[:19], Inconclusive, RuleTooFew},
		{"no spread, below", MeanTest{Limit: 1}, flat, Pass, RuleMean},
		{"no spread, above", MeanTest{Limit: -1}, flat, Fail, RuleMean},
		{"no spread, at the limit", MeanTest{}, flat, Inconclusive, RuleOpen},
	} {
		m := c.test.Run(c.values)
		require.Equal(t, c.decision, m.Decision, c.name)
		require.Equal(t, c.rule, m.Rule, c.name)
		require.Equal(t, c.decision, Decide(0.05, m.Evidence)[0], c.name)
	}
	require.Zero(t, MeanTest{}.Run(flat).Needed)
}
