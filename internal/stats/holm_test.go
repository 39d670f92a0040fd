package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestHolm(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		p    []float64
		want []bool
	}{
		{nil, []bool{}},
		{[]float64{0.05}, []bool{true}},
		// Sorted .01 <= .05/4, .015 <= .05/3, .03 > .05/2: .04 is not tried.
		{[]float64{0.03, 0.01, 0.04, 0.015}, []bool{false, true, false, true}},
		{[]float64{0.03, 0.03}, []bool{false, false}},
		{[]float64{0.02, 0.04}, []bool{true, true}},
		{[]float64{nan, 0.04}, []bool{false, true}},
		{[]float64{nan, nan}, []bool{false, false}},
	} {
		if diff := cmp.Diff(c.want, Holm(c.p, 0.05)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.p, diff)
		}
	}
}

func TestDecide(t *testing.T) {
	proved, open := Evidence{Valid: true, Proved: true, FailP: 1}, Evidence{Valid: true, FailP: 0.5}
	weak := Evidence{Valid: true, FailP: 0.03}
	require.Equal(t, []Decision{Pass, Inconclusive, Invalid}, Decide(0.05, proved, open, Evidence{}))
	require.Equal(t, []Decision{Fail}, Decide(0.05, weak))
	// One of two at 3 % is no FAIL, but an invalid one does not weaken it, and
	// a certain one beside it makes the rest a family of one.
	require.Equal(t, []Decision{Inconclusive, Inconclusive}, Decide(0.05, weak, open))
	require.Equal(t, []Decision{Fail, Invalid}, Decide(0.05, weak, Evidence{FailP: 0}))
	require.Equal(t, []Decision{Fail, Fail}, Decide(0.05, weak, Evidence{Valid: true, Refuted: true, Proved: true, FailP: 1}))
	require.Equal(t, "INCONCLUSIVE PASS FAIL INVALID", Inconclusive.String()+" "+Pass.String()+" "+Fail.String()+" "+Invalid.String())
}
