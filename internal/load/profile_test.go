package load

import (
	"iter"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

type step struct {
	at time.Duration
	n  int
}

func steps(s iter.Seq2[time.Duration, int]) (out []step) {
	for at, n := range s {
		out = append(out, step{at, n})
	}
	return out
}

func requireSteps(t *testing.T, p Profile, want ...step) {
	t.Helper()
	if diff := cmp.Diff(want, steps(p.steps()), cmp.AllowUnexported(step{})); diff != "" {
		t.Fatalf("steps (-want +got):\n%s", diff)
	}
}

const sec = time.Second

func TestRamp(t *testing.T) {
	up := Ramp(0, 4, 8*sec) // t/2 a second
	require.Equal(t, 8*sec, up.Length())
	require.Equal(t, 1.5, up.At(3*sec))
	require.Zero(t, up.At(-1))
	require.Zero(t, up.At(8*sec))
	require.Equal(t, 4.0, up.Integral(4*sec)) // t*t/4
	require.Equal(t, 16.0, up.Integral(100*sec))
	at, ok := up.Inverse(9)
	require.True(t, ok)
	require.Equal(t, 6*sec, at)
	_, ok = up.Inverse(16)
	require.False(t, ok)
	requireSteps(t, up, step{0, 0}, step{1 * sec, 1}, step{3 * sec, 2}, step{5 * sec, 3}, step{7 * sec, 4}, step{8 * sec, 0})

	down := Ramp(3, 1, 4*sec) // 3 - t/2
	requireSteps(t, down, step{0, 3}, step{1 * sec, 2}, step{3 * sec, 1}, step{4 * sec, 0})
	at, ok = down.Inverse(5) // 3t - t*t/4 = 5
	require.True(t, ok)
	require.Equal(t, 2*sec, at)
}

func TestSteps(t *testing.T) {
	s := Steps(2, 8, 3, 10*sec)
	require.Equal(t, Stages{{3_333_333_333, 2, 2}, {3_333_333_333, 5, 5}, {3_333_333_334, 8, 8}}, s)
	require.Equal(t, 10*sec, s.Length())
	requireSteps(t, s, step{0, 2}, step{3_333_333_333, 5}, step{6_666_666_666, 8}, step{10 * sec, 0})
	require.Equal(t, Stages{{10 * sec, 8, 8}}, Steps(2, 8, 1, 10*sec))
}

func TestSpike(t *testing.T) {
	s := Spike(2, 50, 10*sec, 3*sec, 30*sec)
	require.Equal(t, Stages{{10 * sec, 2, 2}, {3 * sec, 50, 50}, {17 * sec, 2, 2}}, s)
	require.Equal(t, 20.0+150+34, s.Integral(30*sec))
	require.Equal(t, Stages{{3 * sec, 50, 50}, {27 * sec, 2, 2}}, Spike(2, 50, 0, 3*sec, 30*sec))
	require.Equal(t, Stages{{28 * sec, 2, 2}, {2 * sec, 50, 50}}, Spike(2, 50, 28*sec, 3*sec, 30*sec))
}

// A stretch of rate 0 has no arrival, and those after it begin at its end.
func TestStagesWithAPause(t *testing.T) {
	s := Stages{{1 * sec, 2, 2}, {5 * sec, 0, 0}, {1 * sec, 2, 2}}
	require.Equal(t, []time.Duration{0, 500 * time.Millisecond, 6 * sec, 6*sec + 500*time.Millisecond}, plan(Arrivals(Constant{}, s, 0), 100))
	requireSteps(t, s, step{0, 2}, step{1 * sec, 0}, step{6 * sec, 2}, step{7 * sec, 0})
}

func TestSine(t *testing.T) {
	s := Sine{Mean: 2, Amplitude: 1, Period: 12 * sec, Duration: 24 * sec}
	require.InDelta(t, 3, s.At(3*sec), 1e-9)
	require.InDelta(t, 2.5, s.At(1*sec), 1e-9) // sin 30° = 1/2
	require.InDelta(t, 1, s.At(21*sec), 1e-9)
	require.InDelta(t, 24, s.Integral(12*sec), 1e-9)
	require.InDelta(t, 12+2*6/math.Pi, s.Integral(6*sec), 1e-9) // the swing's half wave: A*P/pi
	// 2.5 at 1, 5, 13 and 17 s, 1.5 at 7, 11, 19 and 23 s.
	requireSteps(t, s, step{0, 2}, step{1 * sec, 3}, step{5 * sec, 2}, step{7 * sec, 1}, step{11 * sec, 2},
		step{13 * sec, 3}, step{17 * sec, 2}, step{19 * sec, 1}, step{23 * sec, 2}, step{24 * sec, 0})
	// Who has seen enough may leave.
	for at := range s.steps() {
		if at == 13*sec {
			break
		}
	}
	requireSteps(t, Sine{Mean: 3, Period: sec, Duration: 5 * sec}, step{0, 3}, step{5 * sec, 0})
}

func TestLevel(t *testing.T) {
	require.Zero(t, Level(5).Length())
	require.Equal(t, 10.0, Level(5).Integral(2*sec))
	requireSteps(t, Level(4.5), step{0, 5})
}

func randomProfile(r *rand.Rand) Profile {
	d := func() time.Duration { return 1 + time.Duration(r.Int64N(int64(100*sec))) }
	switch r.IntN(3) {
	case 0:
		return Level(0.1 + 20*r.Float64())
	case 1:
		m := 0.1 + 10*r.Float64()
		return Sine{Mean: m, Amplitude: m * r.Float64(), Period: d() + sec, Duration: d()}
	}
	var s Stages
	for range 1 + r.IntN(6) {
		x := Stage{d(), 20 * r.Float64(), 20 * r.Float64()}
		if r.IntN(4) == 0 {
			x.To = 0
		}
		if r.IntN(4) == 0 {
			x.From = float64(r.IntN(5))
		}
		s = append(s, x)
	}
	return s
}

// length is that of a profile, or some.
func length(p Profile) time.Duration {
	if p.Length() > 0 {
		return p.Length()
	}
	return 100 * sec
}

// The integral is the sum of the values, and the inverse leads back.
func TestProfilesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		p := randomProfile(r)
		end := length(p)
		const parts = 20_000
		var sum float64
		for i := range parts {
			sum += p.At(share(end, 2*i+1, 2*parts)) * end.Seconds() / parts
		}
		require.InDelta(t, sum, p.Integral(end), 1e-2+1e-3*sum, "%#v", p)
		for range 20 {
			at := time.Duration(r.Int64N(int64(end)))
			back, ok := p.Inverse(p.Integral(at))
			if !ok {
				require.InDelta(t, p.Integral(end), p.Integral(at), 1e-9*sum+1e-9)
				continue
			}
			require.InDelta(t, p.Integral(at), p.Integral(back), 3e-8+1e-9*sum, "%#v at %v", p, at)
		}
	}
}

// Between two steps the value rounds to the number of the first.
func TestStepsFollowTheProfile(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		p := randomProfile(r)
		all := steps(p.steps())
		require.Zero(t, all[0].at)
		for i, s := range all {
			next := length(p)
			if i+1 < len(all) {
				require.NotEqual(t, s.n, all[i+1].n)
				next = all[i+1].at
			} else if p.Length() > 0 {
				require.Zero(t, s.n)
				require.LessOrEqual(t, s.at, p.Length())
			}
			require.GreaterOrEqual(t, next, s.at)
			for range 5 {
				if next-s.at < 10 {
					break
				}
				at := s.at + 2 + time.Duration(r.Int64N(int64(next-s.at-4)))
				require.Equal(t, s.n, whole(p.At(at)), "%#v at %d, from %d to %d", p, at, s.at, next)
			}
		}
	}
}
