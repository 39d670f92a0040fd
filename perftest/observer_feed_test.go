package perftest

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/internal/export"
	"github.com/stretchr/testify/require"
)

// An exporter gives a hung endpoint up before the run gives up the exporter, which
// can then say what was not taken.
func TestExportersHaveLessPatienceThanRuns(t *testing.T) {
	require.Less(t, export.Patience, grace)
}

// Of 10,000 requests at once, an observer that does not return gets the half of
// its buffer that woke it, and after its return the buffer that has filled since.
func TestFeedKeepsItsBound(t *testing.T) {
	for name, c := range map[string]struct {
		returns time.Duration // of the first call
		got     []int
		warning string
	}{
		"late": {time.Minute, []int{2048, 4096},
			"observer perftest.ObserverFunc was slower than the run: it missed 3856 of 10000 requests"},
		"never": {time.Hour, []int{2048},
			"observer perftest.ObserverFunc had not returned 2s after the end of the run, and was left alone: it missed 7952 of 10000 requests"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []int
				last := Snapshot{}
				all := observe([]Observer{ObserverFunc(func(s Snapshot) {
					if last = s; len(s.Finished) > 0 {
						got = append(got, len(s.Finished))
					}
					if len(got) == 1 {
						time.Sleep(c.returns)
					}
				})}, func() Snapshot { return Snapshot{} })
				begun := time.Now()
				r := answer(0, time.Millisecond, 5)
				for r.Index = range 10_000 {
					all.put(&r)
					if r.Index+1 == ObserverBuffer/2 {
						synctest.Wait()
					}
				}
				require.Zero(t, time.Since(begun), "nobody waited")
				time.Sleep(time.Minute + time.Second)
				warnings, stacks := all.stop(2 * time.Second)
				require.Equal(t, []string{c.warning}, warnings)
				require.Empty(t, stacks)
				time.Sleep(time.Hour)
				require.Equal(t, c.got, got)
				require.Equal(t, len(c.got) == 2, last.Last)
				require.Equal(t, 3856*(len(c.got)-1), last.Missed)
			})
		})
	}
}

// Handing over is cheap enough for every request: it allocates nothing but the
// buffer's growth.
func BenchmarkFeed(b *testing.B) {
	all := observe([]Observer{ObserverFunc(func(Snapshot) {})}, func() Snapshot { return Snapshot{} })
	r := answer(0, time.Millisecond, 5)
	b.ReportAllocs()
	for b.Loop() {
		all.put(&r)
	}
	all.stop(time.Second)
}

// The live page gets lists also where there is nothing in them, and a cancelled
// request is neither success nor failure on it.
func TestLiveState(t *testing.T) {
	l := liveRun{recent: recent{}}
	none, err := l.state(Snapshot{}).MarshalJSON()
	require.NoError(t, err)
	require.Regexp(t, `"points":\[\],"recent":0,"percentiles":\[\],"failures":\[\]}$`, string(none), "of null the page can make nothing")
	l.point(Snapshot{At: 1, Finished: []FinishedRequest{
		{Part: "measured", Class: "cancelled"}, {Part: "measured", Index: 7, Class: "reset", Message: "gone"}, {Part: "measured"}, {Part: "padding", Class: "cancelled"},
	}})
	require.Equal(t, []string{"7: reset gone"}, l.failures)
	require.Equal(t, 1, l.recent.count())
	require.Equal(t, Value(1), l.points[0].Requests)
}
