package perftest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// parted is a closed loop of two slots in two parts: each begins with a burst of
// two, has requests of a second, and ends 4 s after its first measured sending.
// Between the parts nothing is measured for 7 s.
func parted() *Result {
	r := &Result{}
	at := func(s float64) int64 { return int64(s * float64(time.Second)) }
	for _, begin := range []float64{0, 12} {
		for slot := range 2 {
			r.samples.start = append(r.samples.start, sample{sent: at(begin), done: at(begin + 1 + float64(slot)/2)})
			for k := range 4 {
				sent := begin + 1 + float64(slot)/2 + float64(k)
				r.samples.all = append(r.samples.all, sample{sent: at(sent), scheduled: at(sent), done: at(sent + 1)})
			}
		}
	}
	return r
}

// From the first measured sending to the last one that is 1 to 4.5 s and 13 to
// 16.5 s: 7 s in all, with two in flight, and two that end in each second. The
// first one that ends does so at its begin.
func TestBusyTimesOfTwoParts(t *testing.T) {
	r := parted()
	b := r.steadyTimes()
	s := int64(time.Second)
	require.Equal(t, busy{{s, 9 * s / 2}, {13 * s, 33 * s / 2}}, b)
	require.Equal(t, 7*s, b.length())
	require.Equal(t, 14*s, b.inFlight(r.samples.start)+b.inFlight(r.samples.all))
	for moment, want := range map[int64]int64{s + 1: 1, 9 * s / 2: 7 * s / 2, 13*s + 1: 7*s/2 + 1, 33 * s / 2: 7 * s} {
		at, in := b.at(moment)
		require.True(t, in)
		require.Equal(t, want, at)
	}
	for _, moment := range []int64{0, s, 9*s/2 + 1, 10 * s, 13 * s, 17 * s} {
		_, in := b.at(moment)
		require.False(t, in, moment)
	}
	r.Counts.Succeeded = len(r.samples.all)
	r.steady(2)
	require.Equal(t, []Value{7, 2, 2}, []Value{r.Steady.Window, r.Steady.Requests, r.Rates.Concurrency})
}

// A request of the burst that is sent late, while measured ones are in flight, is
// no new part.
func TestLateBurstIsNoPart(t *testing.T) {
	r := parted()
	r.samples.start = append(r.samples.start[:2:2], sample{sent: int64(2600 * time.Millisecond), done: int64(3 * time.Second)})
	require.Equal(t, busy{{int64(time.Second), int64(16500 * time.Millisecond)}}, r.steadyTimes())
	require.Empty(t, (&Result{}).steadyTimes())
	require.Empty(t, (&Result{}).busyTimes())
}

// A hundred requests are enough for a rate, however many of them end after the
// last sending.
func TestJudgeRateOfAHundred(t *testing.T) {
	r := resultOf(1, records(100, second)...)
	r.samples.start = append(r.samples.start, sample{sent: 0, done: 1})
	r.measure(1)
	require.Equal(t, Pass, r.Judge(SLO{Metric: RequestRate, Op: AtLeast, Limit: 0.5})[0].Outcome)
	few := resultOf(1, records(99, second)...).Judge(SLO{Metric: RequestRate, Op: AtLeast, Limit: 0.5})[0]
	require.Equal(t, []any{Inconclusive, 100}, []any{few.Outcome, few.Needed})
}
