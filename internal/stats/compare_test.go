package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func exps(logs ...float64) []float64 {
	out := make([]float64, len(logs))
	for i, l := range logs {
		out[i] = math.Exp(l)
	}
	return out
}

// student4 is Student's distribution for nu = 4 in closed form.
func student4(t float64) float64 {
	return 0.5 + 0.375*t/math.Sqrt(1+t*t/4)*(1-t*t/(12*(1+t*t/4)))
}

func TestWelchByHand(t *testing.T) {
	// Deviation .02 on both sides of three: se = sqrt(2 * .0004/3), nu = 4.
	base, worse := exps(0, 0.02, 0.04), exps(0.20, 0.22, 0.24)
	se := math.Sqrt(2 * 0.0004 / 3)
	c := Compare{}.Welch(base, worse)
	require.Equal(t, Regressed, c.Outcome)
	require.InDelta(t, 0.2, c.Effect, 1e-12)
	require.InDelta(t, math.Exp(0.2), c.Ratio, 1e-12)
	require.InDelta(t, se, c.SE, 1e-12)
	require.InDelta(t, 4, c.Nu, 1e-9)
	require.InDelta(t, 1-student4((0.2-math.Log(1.05))/se), c.RegressedP, 1e-12)
	require.InDelta(t, student4((0.2-math.Log(1.10))/se), c.UnchangedP, 1e-12)
	require.InDelta(t, math.Exp(0.2-2.131847*se), c.Lower, 1e-6)
	require.InDelta(t, math.Exp(0.2+2.131847*se), c.Upper, 1e-6)

	require.Equal(t, Improved, Compare{}.Welch(worse, base).Outcome)
	require.Equal(t, Unchanged, Compare{}.Welch(base, exps(0.01, 0.03, 0.05)).Outcome)
	require.Equal(t, Unclear, Compare{}.Welch(base, exps(0.07, 0.09, 0.11)).Outcome)

	// Throughput: fewer is worse, and the ratio is still candidate over baseline.
	up := Compare{HigherIsBetter: true}
	require.Equal(t, Improved, up.Welch(base, worse).Outcome)
	c = up.Welch(worse, base)
	require.Equal(t, Regressed, c.Outcome)
	require.InDelta(t, math.Exp(-0.2), c.Ratio, 1e-12)
	require.Less(t, c.Lower, c.Ratio)
	require.Greater(t, c.Upper, c.Ratio)
}

func TestWelchUnequalSides(t *testing.T) {
	b, z := []float64{0, 0.1, 0.2, 0.3, 0.4}, []float64{0.01, 0.03, 0.05} // variances .025, .0004
	c := Compare{}.Welch(exps(b...), exps(z...))
	vb, vc := 0.025/5, 0.0004/3
	require.InDelta(t, math.Sqrt(vb+vc), c.SE, 1e-12)
	require.InDelta(t, (vb+vc)*(vb+vc)/(vb*vb/4+vc*vc/2), c.Nu, 1e-9)
}

func TestWelchFloorsTheSpread(t *testing.T) {
	c := Compare{}.Welch(exps(0, 0, 0), exps(0.051, 0.051, 0.051))
	require.InDelta(t, math.Sqrt(2*0.0001/3), c.SE, 1e-12)
	require.Equal(t, Unchanged, c.Outcome) // and no regression of 5.2 % without any noise
}

func TestCompareEdges(t *testing.T) {
	one, three := []float64{1}, []float64{1, 1.01, 1.02}
	for _, c := range []struct {
		name    string
		got     Change
		outcome Outcome
		reason  Reason
	}{
		{"no baseline", Compare{}.Welch(nil, three), NoCompare, ReasonEmpty},
		{"no candidate", Compare{}.Welch(three, nil), NoCompare, ReasonEmpty},
		{"NaN", Compare{}.Welch(three, []float64{1, math.NaN()}), NoCompare, ReasonInput},
		{"infinite", Compare{}.Welch([]float64{1, math.Inf(1)}, three), NoCompare, ReasonInput},
		{"zero figure", Compare{}.Welch(three, []float64{0, 1}), NoCompare, ReasonInput},
		{"margin below tolerance", Compare{Tolerance: 0.2, Margin: 0.1}.Welch(three, three), NoCompare, ReasonInput},
		{"negative tolerance", Compare{Tolerance: -1}.Welch(three, three), NoCompare, ReasonInput},
		{"level 1", Compare{Alpha: 1}.Welch(three, three), NoCompare, ReasonInput},
		{"one run each", Compare{}.Welch(one, one), Unclear, ReasonFewRuns},
		{"one candidate", Compare{}.Welch(three, one), Unclear, ReasonFewRuns},
		{"history of three", Compare{}.Predict(three, 1), Unclear, ReasonHistory},
		{"no history", Compare{}.Predict(nil, 1), NoCompare, ReasonEmpty},
		{"candidate NaN", Compare{}.Predict(three, math.NaN()), NoCompare, ReasonInput},
		{"bootstrap, few", Compare{}.Bootstrap(make([]float64, 199), make([]float64, 900), 50, func([]float64) float64 { return 1 }), Unclear, ReasonShort},
		{"bootstrap, none", Compare{}.Bootstrap(nil, one, 50, func([]float64) float64 { return 1 }), NoCompare, ReasonEmpty},
		{"bootstrap, zero", Compare{}.Bootstrap(make([]float64, 400), make([]float64, 400), 50, func([]float64) float64 { return 0 }), NoCompare, ReasonInput},
		{"bootstrap, no block", Compare{}.Bootstrap(make([]float64, 400), make([]float64, 400), 0, func([]float64) float64 { return 1 }), Unclear, ReasonShort},
	} {
		require.Equal(t, c.outcome, c.got.Outcome, c.name)
		require.Equal(t, c.reason, c.got.Reason, c.name)
		require.Equal(t, 1.0, c.got.RegressedP, c.name)
		require.Equal(t, c.outcome, DecideChanges(0.05, c.got)[0], c.name)
	}
	require.InDelta(t, 1, Compare{}.Welch(one, one).Ratio, 1e-15) // the point estimate is there
	require.Equal(t, "INCONCLUSIVE OK REGRESSED IMPROVED INVALID",
		Unclear.String()+" "+Unchanged.String()+" "+Regressed.String()+" "+Improved.String()+" "+NoCompare.String())
}

func TestDecideChanges(t *testing.T) {
	slight := Compare{}.Welch(exps(0, 0.02, 0.04), exps(0.085, 0.105, 0.125))
	require.Equal(t, Regressed, slight.Outcome)
	require.Greater(t, slight.RegressedP, 0.025)
	same := Compare{}.Welch(exps(0, 0.02, 0.04), exps(0, 0.02, 0.04))
	require.Equal(t, []Outcome{Unclear, Unchanged}, DecideChanges(0.05, slight, same))
	require.Equal(t, []Outcome{Regressed, NoCompare}, DecideChanges(0.05, slight, Change{Outcome: NoCompare}))
}

func TestPermutation(t *testing.T) {
	for _, c := range []struct {
		b, c int
		want float64
	}{{3, 3, 1.0 / 20}, {5, 3, 1.0 / 56}, {4, 4, 1.0 / 70}, {1, 1, 0.5}} {
		low, high := make([]float64, c.b), make([]float64, c.c)
		for i := range low {
			low[i] = float64(i) / 10
		}
		for i := range high {
			high[i] = 5 + float64(i)/7
		}
		require.Equal(t, c.want, PermutationMinP(c.b, c.c))
		require.Equal(t, c.want, PermutationP(low, high))
		require.Equal(t, 1.0, PermutationP(high, low))
	}
	// {1,2} against {3,1.5}: of the six sums of two, 4.5 and 5 are at least 4.5.
	require.InDelta(t, 2.0/6, PermutationP([]float64{1, 2}, []float64{3, 1.5}), 1e-15)
	// Ties count as at least as large, also when sums round differently.
	require.Equal(t, 1.0, PermutationP([]float64{0.1, 0.1, 0.1}, []float64{0.1, 0.1}))
	nan := math.NaN()
	for _, p := range []float64{PermutationP(nil, []float64{1}), PermutationP([]float64{1}, nil), PermutationP([]float64{nan}, []float64{1}),
		PermutationP([]float64{1}, []float64{math.Inf(1)}), PermutationP(make([]float64, 20), make([]float64, 20)), PermutationMinP(0, 3)} {
		require.True(t, math.IsNaN(p))
	}
}

func TestPredict(t *testing.T) {
	// Ten logs with mean 0 and deviation s = sqrt(10*.0004/9).
	var logs []float64
	for i := range 10 {
		logs = append(logs, 0.02*float64(2*(i%2)-1))
	}
	s := math.Sqrt(10 * 0.0004 / 9)
	c := Compare{}.Predict(exps(logs...), math.Exp(0.12))
	require.InDelta(t, s*math.Sqrt(1.1), c.SE, 1e-12)
	require.Equal(t, 9.0, c.Nu)
	require.Equal(t, Regressed, c.Outcome) // .12 - 1.833*.0221 = .0795 > .0488
	require.Equal(t, Unchanged, Compare{}.Predict(exps(logs...), math.Exp(0.02)).Outcome)

	low, high := PredictionInterval(logs, 0.05)
	require.InDelta(t, 2.262157*s*math.Sqrt(1.1), high, 1e-6)
	require.InDelta(t, -high, low, 1e-12)
	low, high = PredictionInterval(logs[:1], 0.05)
	require.True(t, math.IsNaN(low) && math.IsNaN(high))
	low, _ = PredictionInterval(logs, 0)
	require.True(t, math.IsNaN(low))
}

func median(sample []float64) float64 {
	slices.Sort(sample)
	return Percentile(sample, 50)
}

func TestBootstrap(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	draw := func(scale float64) []float64 {
		out := make([]float64, 400)
		for i := range out {
			out[i] = scale * math.Exp(0.5*rng.NormFloat64())
		}
		return out
	}
	a, same, worse := draw(1), draw(1), draw(1.5)
	before := slices.Clone(a)
	c := Compare{}.Bootstrap(a, worse, 50, median)
	require.Equal(t, before, a)
	require.Equal(t, Regressed, c.Outcome)
	require.True(t, c.Advisory)
	require.Equal(t, c, Compare{}.Bootstrap(a, worse, 50, median)) // one pair, one outcome
	require.NotEqual(t, Regressed, Compare{}.Bootstrap(a, same, 50, median).Outcome)
	// The median of a lognormal with sigma .5 has deviation of log
	// .5 sqrt(pi/2/n) = .0313 for n = 400; a resample's is near it, and the runs' is added.
	want := math.Sqrt(2*0.0313*0.0313 + 2*0.03*0.03)
	require.InEpsilon(t, want, c.SE, 0.2)

	require.Equal(t, 50, BlockLength(1000, 600))
	require.Equal(t, 500, BlockLength(6000, 60))
	require.Equal(t, 50, BlockLength(1000, 0))
	require.Equal(t, 50, BlockLength(1000, math.NaN()))
}
