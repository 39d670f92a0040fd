package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// run lets oracle answer every probe.
func run(t *testing.T, cfg SearchConfig, oracle func(Probe) Tried) Found {
	t.Helper()
	s, err := NewSearch(cfg)
	require.NoError(t, err)
	for range 200 {
		p, more := s.Next()
		if !more {
			return s.Found()
		}
		s.Report(oracle(p))
	}
	t.Fatal("the search does not end")
	return Found{}
}

// upTo is a server that holds exactly up to a limit.
func upTo(limit float64) func(Probe) Tried {
	return func(p Probe) Tried {
		if p.Load <= limit {
			return Tried{Outcome: ProbeMet}
		}
		return Tried{Outcome: ProbeMissed}
	}
}

func loads(f Found) []float64 {
	var out []float64
	for _, p := range f.Probes {
		l := p.Load
		if p.Confirm {
			l = -l
		}
		out = append(out, l)
	}
	return out
}

func TestSearchConcurrency(t *testing.T) {
	f := run(t, SearchConfig{Integer: true, Max: 256}, upTo(11))
	// Doubles to 16, bisects, confirms 11 (negative here).
	if diff := cmp.Diff([]float64{1, 2, 4, 8, 16, 11, 13, 12, -11}, loads(f)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	require.Equal(t, 11.0, f.Lo)
	require.Equal(t, 12.0, f.Hi)
	require.True(t, f.Confirmed)
	require.False(t, f.MaxNotReached || f.NonMonotone || f.Cliff)
}

func TestSearchBracketsAnyLimit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		limit := math.Exp(rng.Float64()*8 - 2) // 0.14 to 400
		f := run(t, SearchConfig{Start: 3, Min: 0.01, Max: 1000}, upTo(limit))
		require.True(t, f.Confirmed && f.Lo <= limit && limit < f.Hi && f.Hi/f.Lo <= 1.05, "limit %g: %+v", limit, f)
		whole := math.Floor(limit) + 1
		f = run(t, SearchConfig{Start: 32, Max: 1000, Integer: true}, upTo(whole))
		require.True(t, f.Lo <= whole && whole < f.Hi && (f.Hi-f.Lo == 1 || f.Hi/f.Lo <= 1.05), "limit %g: %+v", whole, f)
	}
}

func TestSearchStepsDownUntilProved(t *testing.T) {
	f := run(t, SearchConfig{Start: 4}, func(p Probe) Tried {
		if p.Confirm && p.Load > 9 {
			return Tried{Outcome: ProbeOpen}
		}
		return upTo(10)(p)
	})
	require.True(t, f.Confirmed)
	require.LessOrEqual(t, f.Lo, 9.0)
	require.InDelta(t, f.Best*math.Pow(0.95, 2), f.Lo, 0.5)
	require.Greater(t, f.Hi, 10.0) // an open confirmation is no upper bound
	require.False(t, f.NonMonotone)

	f = run(t, SearchConfig{Start: 4}, func(p Probe) Tried {
		if p.Confirm {
			return Tried{Outcome: ProbeMissed}
		}
		return upTo(10)(p)
	})
	require.False(t, f.Confirmed)
	require.Zero(t, f.Lo)
	confirms := 0
	for _, p := range f.Probes {
		if p.Confirm {
			confirms++
		}
	}
	require.Equal(t, 7, confirms) // the first and six steps
	require.InDelta(t, f.Best*math.Pow(0.95, 6), f.Hi, 1e-9)
	require.True(t, f.NonMonotone) // the short probe held above the long that did not
}

func TestSearchIrregular(t *testing.T) {
	f := run(t, SearchConfig{Start: 1, Max: 20}, upTo(1e9))
	require.Equal(t, []float64{1, 2, 4, 8, 16, 20, -20}, loads(f))
	require.True(t, f.MaxNotReached && f.Confirmed && math.IsInf(f.Hi, 1))

	f = run(t, SearchConfig{Start: 8, Integer: true}, upTo(0))
	require.Equal(t, []float64{8, 4, 2, 1}, loads(f))
	require.False(t, f.Confirmed)
	require.Zero(t, f.Lo)
	require.Equal(t, 1.0, f.Hi)

	f = run(t, SearchConfig{Start: 1}, func(p Probe) Tried {
		if p.Load >= 8 {
			return Tried{Outcome: ProbeInvalid}
		}
		return Tried{Outcome: ProbeMet}
	})
	require.Equal(t, 8.0, f.ClientLimit)
	require.Equal(t, 4.0, f.Best)
	require.False(t, f.Confirmed)
	require.True(t, math.IsInf(f.Hi, 1))

	// The margin falls from .5 to -2 with errors of .1, then gently.
	edge := func(drop float64) Found {
		return run(t, SearchConfig{Start: 4}, func(p Probe) Tried {
			r := upTo(10)(p)
			r.SD = 0.1
			r.Margin = 0.5
			if r.Outcome == ProbeMissed {
				r.Margin -= drop
			}
			return r
		})
	}
	require.True(t, edge(2.5).Cliff)
	require.False(t, edge(0.4).Cliff)
	require.False(t, edge(math.NaN()).Cliff)

	// A zero outcome is no success.
	f = run(t, SearchConfig{Start: 1, Integer: true}, func(Probe) Tried { return Tried{} })
	require.False(t, f.Confirmed)
}

func TestSearchRefusesNonsense(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, cfg := range []SearchConfig{{Start: nan}, {Start: -1}, {Start: inf}, {Start: 1.5, Integer: true}, {Start: 1, Min: 2}, {Min: nan},
		{Start: 2, Max: 1}, {Max: inf}, {Max: nan}, {Max: 7.5, Integer: true}, {Precision: 1}, {Precision: nan}} {
		_, err := NewSearch(cfg)
		require.ErrorContains(t, err, "search: ", "%+v", cfg)
	}
	s, err := NewSearch(SearchConfig{Integer: true, Max: 1})
	require.NoError(t, err)
	s.Report(Tried{Outcome: ProbeMissed})
	s.Report(Tried{Outcome: ProbeMet}) // after the end
	_, more := s.Next()
	require.False(t, more)
	require.Len(t, s.Found().Probes, 1)
}
