package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// every marks each step-th of n flags: as little clustered as can be.
func every(n, step int) []bool {
	flags := make([]bool, n)
	for i := step - 1; i < n; i += step {
		flags[i] = true
	}
	return flags
}

// burst marks the flags from index at.
func burst(n, at, k int) []bool {
	flags := make([]bool, n)
	for i := range k {
		flags[at+i] = true
	}
	return flags
}

func TestDesignEffectByHand(t *testing.T) {
	// 20 batches of 5, the first all over: var = (.95² + 19*.05²)/19 = .05 and
	// D = 5*.05/(.05*.95).
	require.InDelta(t, 5*0.05/(0.05*0.95), DesignEffect(burst(100, 0, 5)), 1e-12)
	require.Zero(t, DesignEffect(every(1000, 10)))
	require.Equal(t, 1.0, DesignEffect(make([]bool, 100)))
	require.Equal(t, 1.0, DesignEffect(burst(100, 0, 100)))
	require.True(t, math.IsNaN(DesignEffect(make([]bool, 19))))
	// Independent flags: 1 on average.
	rng := rand.New(rand.NewPCG(7, 7))
	sum := 0.0
	for range 400 {
		flags := make([]bool, 1010)
		for i := range flags {
			flags[i] = rng.Float64() < 0.1
		}
		sum += DesignEffect(flags)
	}
	require.InDelta(t, 1, sum/400, 0.05)
}

func TestFlagViolations(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	v := FlagViolations([]float64{1, 2, 3, nan, inf, 1.5}, 2, 0.5, true)
	require.Equal(t, []bool{false, true, true, true, true, false}, v.Over)
	require.Equal(t, 5, v.OverTight) // over 1.333
	v = FlagViolations([]float64{1, 2, 3, nan, inf, 1.5}, 2, 0.5, false)
	require.Equal(t, []bool{false, false, true, true, true, false}, v.Over)
	require.Equal(t, []bool{false, false, true, true, true, false}, v.AboveQuantile) // median 2.5
	// All without a value: above every quantile.
	require.Equal(t, []bool{true, true}, FlagViolations([]float64{nan, nan}, 1, 0.99, true).AboveQuantile)
}

// The p-values by their formulas, for D = 1 and n_e = n (t ratio)².
func TestShareByFormula(t *testing.T) {
	r := StudentQuantile(0.95, 999) / StudentQuantile(0.95, 19)
	ne := 1000 * r * r
	s := ShareTest{P: 0.99, Seconds: 100}.Run(CountViolations(every(1000, 25))) // 40 over
	require.Equal(t, 40, s.K)
	require.Equal(t, 1.0, s.EffectFail)
	require.InDelta(t, ne, s.SizeFail, 1e-9)
	require.InDelta(t, ShareLower(0.04*ne, ne, 0.05), s.Lower, 1e-12)
	require.InDelta(t, ShareUpper(0.04*ne, ne, 0.05), s.Upper, 1e-12)
	require.Equal(t, Fail, s.Decision)
	require.Equal(t, RuleShare, s.Rule)

	s = ShareTest{P: 0.99}.Run(CountViolations(every(1000, 334))) // 2 over
	require.Equal(t, Pass, s.Decision)
	require.LessOrEqual(t, PassP(0.002*ne, ne, 0.01), 0.05)
	require.LessOrEqual(t, s.PassP, 0.05)

	// 10 over: exactly the share, nothing would ever decide.
	s = ShareTest{P: 0.99}.Run(CountViolations(every(1000, 100)))
	require.Equal(t, Inconclusive, s.Decision)
	require.Equal(t, RuleOpen, s.Rule)
	require.Zero(t, s.Needed)
}

// The p-values tell the level: a test at that level just decides, below it not.
func TestShareLevels(t *testing.T) {
	over := burst(1000, 300, 35)
	p := ShareTest{P: 0.99}.Run(CountViolations(over)).FailP
	require.Greater(t, p, 1e-4)
	require.Less(t, p, 0.5)
	rule := ShareTest{P: 0.99}.failing(over)
	require.LessOrEqual(t, rule.p(p*1.001), p*1.001)
	require.Greater(t, rule.p(p*0.999), p*0.999)
	require.Equal(t, Fail, ShareTest{P: 0.99, FailAlpha: p * 1.01}.Run(CountViolations(over)).Decision)
	require.Equal(t, Inconclusive, ShareTest{P: 0.99, FailAlpha: p * 0.99}.Run(CountViolations(over)).Decision)
}

func TestShareBurstsWeighLess(t *testing.T) {
	spread := ShareTest{P: 0.99}.Run(CountViolations(every(1000, 45)))
	burst := ShareTest{P: 0.99}.Run(CountViolations(burst(1000, 500, 22)))
	require.Equal(t, spread.K, burst.K)
	require.Equal(t, Fail, spread.Decision)
	require.Equal(t, Inconclusive, burst.Decision)
	require.Greater(t, burst.EffectFail, 15.0)
}

func TestShareFloorByTheQuantile(t *testing.T) {
	// Nothing is over 2, but the slowest come in one burst: the next may be worse.
	values := make([]float64, 1000)
	for i := range values {
		values[i] = 1 + float64(i%7)/100
	}
	for i := range 11 {
		values[500+i] = 1.9
	}
	s := ShareTest{P: 0.99, Seconds: 100}.Run(FlagViolations(values, 2, 0.99, true))
	require.Equal(t, 1.0, s.EffectFail)
	require.Greater(t, s.EffectPass, 5.0)
	require.Equal(t, Inconclusive, s.Decision)
	require.Greater(t, s.Needed, 1000)
	// Far from the limit the margin rule passes it, given a minute.
	far := FlagViolations(values, 3, 0.99, true)
	require.Zero(t, far.OverTight)
	s = ShareTest{P: 0.99, Seconds: 60}.Run(far)
	require.Equal(t, Pass, s.Decision)
	require.Equal(t, RuleMargin, s.Rule)
	s = ShareTest{P: 0.99, Seconds: 30}.Run(far)
	require.Equal(t, Inconclusive, s.Decision)
	require.Equal(t, 2000, s.Needed) // a minute at this pace
}

func TestShareEdges(t *testing.T) {
	none := func(n int) []bool { return make([]bool, n) }
	all := func(n int) []bool { return burst(n, 0, n) }
	for _, c := range []struct {
		name     string
		test     ShareTest
		v        Violations
		decision Decision
		rule     Rule
	}{
		{"no requests", ShareTest{P: 0.99}, CountViolations(nil), Invalid, RuleEmpty},
		{"P 0", ShareTest{}, CountViolations(none(10)), Invalid, RuleInput},
		{"P NaN", ShareTest{P: math.NaN()}, CountViolations(none(10)), Invalid, RuleInput},
		{"P 1.1", ShareTest{P: 1.1}, CountViolations(none(10)), Invalid, RuleInput},
		{"alpha 1", ShareTest{P: 0.9, Alpha: 1}, CountViolations(none(10)), Invalid, RuleInput},
		{"seconds NaN", ShareTest{P: 0.9, Seconds: math.NaN()}, CountViolations(none(10)), Invalid, RuleInput},
		{"lengths differ", ShareTest{P: 0.9}, Violations{Over: none(10), AboveQuantile: none(9)}, Invalid, RuleInput},
		{"limit 0", ShareTest{P: 0.9}, FlagViolations([]float64{1, 2}, 0, 0.9, true), Invalid, RuleInput},
		{"limit NaN", ShareTest{P: 0.9}, FlagViolations([]float64{1, 2}, math.NaN(), 0.9, true), Invalid, RuleInput},
		{"limit infinite", ShareTest{P: 0.9}, FlagViolations([]float64{1, 2}, math.Inf(1), 0.9, true), Invalid, RuleInput},
		{"all NaN", ShareTest{P: 0.9}, FlagViolations([]float64{math.NaN(), math.NaN()}, 1, 0.9, true), Fail, RuleAllOver},
		{"all equal, at the limit", ShareTest{P: 0.9}, FlagViolations([]float64{1, 1, 1}, 1, 0.9, true), Fail, RuleAllOver},
		{"all equal, at most the limit", ShareTest{P: 0.9}, FlagViolations([]float64{1, 1, 1}, 1, 0.9, false), Inconclusive, RuleTooFew},
		{"one of one over", ShareTest{P: 0.99}, CountViolations(all(1)), Fail, RuleAllOver},
		{"all of 1,000 over", ShareTest{P: 0.99}, CountViolations(all(1000)), Fail, RuleAllOver},
		{"12 fine", ShareTest{P: 0.5}, CountViolations(none(12)), Inconclusive, RuleTooFew},
		{"19 fine, by margin", ShareTest{P: 0.5, Seconds: 60}, Violations{Over: none(19)}, Inconclusive, RuleTooFew},
		{"20 fine, by margin", ShareTest{P: 0.5, Seconds: 60}, Violations{Over: none(20)}, Pass, RuleMargin},
		{"half of 18 over", ShareTest{P: 0.99}, CountViolations(every(18, 2)), Fail, RuleShare},
		{"1 of 99 over", ShareTest{P: 0.99}, CountViolations(every(99, 99)), Inconclusive, RuleTooFew},
		{"none of 99 over", ShareTest{P: 0.9}, CountViolations(none(99)), Inconclusive, RuleTooFew},
		{"none of 100 over", ShareTest{P: 0.9}, CountViolations(none(100)), Pass, RuleShare},
		{"none of 200 over", ShareTest{P: 0.99, Seconds: 90}, Violations{Over: none(200)}, Inconclusive, RuleOpen},
		{"none of 299 over, short", ShareTest{P: 0.99, Seconds: 59}, Violations{Over: none(299)}, Inconclusive, RuleOpen},
		{"none of 299 over, by margin", ShareTest{P: 0.99, Seconds: 60}, Violations{Over: none(299)}, Pass, RuleMargin},
		{"none of 299 over, no limit", ShareTest{P: 0.99, Seconds: 60}, CountViolations(none(299)), Inconclusive, RuleOpen},
		{"error rate 0, none", ShareTest{P: 1}, CountViolations(none(20)), Pass, RuleNoneOver},
		{"error rate 0, none of 19", ShareTest{P: 1}, CountViolations(none(19)), Inconclusive, RuleTooFew},
		{"error rate 0, one", ShareTest{P: 1}, CountViolations(every(30, 30)), Fail, RuleAnyOver},
	} {
		s := c.test.Run(c.v)
		require.Equal(t, c.decision, s.Decision, c.name)
		require.Equal(t, c.rule, s.Rule, c.name)
		require.Equal(t, c.decision != Invalid, s.Valid, c.name)
		require.Equal(t, c.decision, Decide(0.05, s.Evidence)[0], c.name)
	}
	// "0 of 200 over, 299 needed": by the margin rule, at this pace 299 take over a minute.
	s := ShareTest{P: 0.99, Seconds: 90}.Run(Violations{Over: none(200)})
	require.Equal(t, 299, s.Needed)
	// Without it the penalty for estimating D from 20 batches asks for more.
	s = ShareTest{P: 0.99}.Run(CountViolations(none(200)))
	r := StudentQuantile(0.95, float64(s.Needed-1)) / StudentQuantile(0.95, 19)
	require.Equal(t, int(math.Ceil(math.Log(0.05)/math.Log(0.99)/(r*r))), s.Needed)
}

func TestNeededDecides(t *testing.T) {
	s := ShareTest{P: 0.99}.Run(CountViolations(every(1000, 200))) // 5 over, spread
	require.Equal(t, Inconclusive, s.Decision)
	again := ShareTest{P: 0.99}.Run(CountViolations(every((s.Needed/200+1)*200, 200)))
	require.Equal(t, Pass, again.Decision)
	s = ShareTest{P: 0.99}.Run(CountViolations(every(1000, 67))) // 14 over
	require.Equal(t, Inconclusive, s.Decision)
	again = ShareTest{P: 0.99}.Run(CountViolations(every((s.Needed/67+1)*67, 67)))
	require.Equal(t, Fail, again.Decision)
}

func TestMustFail(t *testing.T) {
	c := ShareTest{P: 0.99}
	over := burst(1000, 0, 400)
	first := 0
	for n := 50; n <= 1000; n += 50 {
		if c.MustFail(over[:n], 1000) {
			first = n
			break
		}
	}
	// D = 50*(2*.81+18*.01)/19/.09 = 52.6, so that 100 over are 1.7 of 17 and
	// not 16 over, which could be one burst, decide.
	require.Equal(t, 100, first)
	// Judged as it was stopped, it is the same FAIL.
	c.Planned = 1000
	s := c.Run(CountViolations(over[:first]))
	require.Equal(t, Fail, s.Decision)
	require.Equal(t, 100, s.N)
	require.False(t, c.MustFail(nil, 1000))
	require.False(t, c.MustFail(over, 0))
	require.False(t, ShareTest{}.MustFail(over, 1000))
	require.False(t, c.MustFail(make([]bool, 500), 1000))
	require.True(t, ShareTest{P: 1}.MustFail(over[:1], 1000))
	require.True(t, ShareTest{P: 0.9}.MustFail(over[:50], 50))
}

// That an early FAIL is a FAIL at the end holds for runs of a server, not for
// every sequence: 17 over in the first half decide, but a last batch that is
// wholly over makes all of them look like bursts. A run that was stopped is
// judged as it was stopped.
func TestMustFailIsNoTheorem(t *testing.T) {
	c := ShareTest{P: 0.99}
	over := make([]bool, 1000)
	for i := range 17 {
		over[i*500/17] = true
	}
	require.True(t, c.MustFail(over[:500], 1000))
	copy(over[950:], burst(50, 0, 50))
	require.Equal(t, Inconclusive, c.Run(CountViolations(over)).Decision)
	c.Planned = 1000
	require.Equal(t, Fail, c.Run(CountViolations(over[:500])).Decision)
}

// The least number of requests decides, and one less does not.
func TestLeastRequests(t *testing.T) {
	for _, c := range []struct {
		p, alpha float64
		margin   bool
		want     int
	}{
		{0.99, 0.05, true, 299}, // ceil(ln 0.05/ln 0.99)
		{0.5, 0.05, true, 20},   // 5 by that, which are no run
		{1, 0.05, true, 20},
		{1, 0.05, false, 20},
		{0.9, 0.05, false, 100},  // no design effect below
		{0.99, 0.05, false, 328}, // of which 328 (1.6495/1.7291)^2 = 298.5 count
		{0.99, 0, false, 328},
		{0, 0.05, false, 0},
		{0.5, 1, false, 0},
	} {
		test := ShareTest{P: c.p, Alpha: c.alpha, Seconds: 60}
		require.Equal(t, c.want, test.LeastRequests(c.margin), c)
		if c.want == 0 {
			continue
		}
		for n, want := range map[int]Decision{c.want - 1: Inconclusive, c.want: Pass} {
			v := CountViolations(make([]bool, n))
			if c.margin {
				v.OverTight = 0
			}
			require.Equal(t, want, test.Run(v).Decision, "%+v of %d", c, n)
		}
	}
}

// What a test asks for decides it: at the same share, evenly spread, and at the
// same pace.
func TestNeededDecidesAFamily(t *testing.T) {
	evenly := func(n, of, every int) []bool {
		flags := make([]bool, n)
		for i := range flags {
			flags[i] = i%every < of
		}
		return flags
	}
	for _, c := range []struct {
		test      ShareTest
		of, every int
		want      Decision
	}{
		{ShareTest{P: 0.9}, 1, 12, Pass},
		{ShareTest{P: 0.9}, 1, 9, Fail},
		{ShareTest{P: 0.9, FailAlpha: 0.05 / 6}, 1, 9, Fail},
		{ShareTest{P: 0.5, Alpha: 0.01}, 10, 21, Pass},
	} {
		s := c.test.Run(CountViolations(evenly(50*c.every, c.of, c.every)))
		require.Equal(t, Inconclusive, s.Decision, c)
		require.Greater(t, s.Needed, 50*c.every, c)
		// Whole periods, so that the share is the same.
		n := (s.Needed + 20*c.every - 1) / (20 * c.every) * 20 * c.every
		require.Equal(t, c.want, c.test.Run(CountViolations(evenly(n, c.of, c.every))).Decision, "%+v with %d", c, n)
	}
}
