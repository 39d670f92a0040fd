package load

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestPacersAreExactInBubbles(t *testing.T) {
	for _, pacing := range []Pacing{TimerPacing, PrecisePacing} {
		synctest.Test(t, func(t *testing.T) { requireExact(t, pacing) })
	}
}

func requireExact(t *testing.T, pacing Pacing) {
	epoch := time.Now()
	p := pacing(epoch)
	defer p.Close()
	for _, at := range []int64{1, 2, 1000, second, second, 3600 * second} {
		require.True(t, p.Wait(at, nil))
		require.Equal(t, at, int64(time.Since(epoch)))
	}
	time.Sleep(time.Hour) // late: nothing moves
	require.True(t, p.Wait(5000*second, nil))
	require.Equal(t, 7200*second, int64(time.Since(epoch)))
	require.True(t, p.Wait(7201*second, nil))
	require.Equal(t, 7201*second, int64(time.Since(epoch)))
}

func TestTimerPacerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		p := TimerPacing(epoch)
		defer p.Close()
		stop := make(chan struct{}, 1)
		time.AfterFunc(time.Second, func() { stop <- struct{}{} })
		require.False(t, p.Wait(10*second, stop))
		require.Equal(t, second, int64(time.Since(epoch)))
		require.True(t, p.Wait(10*second, stop), "the wait after it is whole")
		require.Equal(t, 10*second, int64(time.Since(epoch)))
		stop <- struct{}{}
		require.False(t, p.Wait(0, stop), "a stop comes before a moment that has passed")
	})
}

// On a real clock it is never early, and a stop ends a long wait.
func TestPrecisePacer(t *testing.T) {
	epoch := time.Now()
	p := PrecisePacing(epoch)
	defer p.Close()
	for i := range int64(50) {
		require.True(t, p.Wait(i*200_000, nil))
		require.GreaterOrEqual(t, int64(time.Since(epoch)), i*200_000)
	}
	stop := make(chan struct{})
	time.AfterFunc(time.Millisecond, func() { close(stop) })
	require.False(t, p.Wait(int64(time.Hour), stop))
}

func TestLags(t *testing.T) {
	var l lags
	require.Equal(t, Lag{}, l.summary())
	var adders sync.WaitGroup
	for k := range int64(4) {
		adders.Go(func() {
			for d := k; d < 1000; d += 4 {
				l.add(d * 1000)
			}
		})
	}
	adders.Wait()
	l.add(-5) // counts as none
	got := l.summary()
	require.Equal(t, 1001, got.Count)
	require.Equal(t, time.Duration(499_500*1000/1001), got.Mean)
	require.Equal(t, 999*time.Microsecond, got.Max)
	// Rank 501 of 0, 0, 1, 2 ... is 499 us, rank 991 is 989 us.
	require.InEpsilon(t, 499*time.Microsecond, got.P50, 1.0/32)
	require.GreaterOrEqual(t, got.P50, 499*time.Microsecond)
	require.InEpsilon(t, 989*time.Microsecond, got.P99, 1.0/32)
	require.GreaterOrEqual(t, got.P99, 989*time.Microsecond)
}

// Every time lies in its bucket, the buckets leave no hole, and none is wider
// than a thirty-second.
func TestLagBuckets(t *testing.T) {
	last := -1
	for d := range int64(100_000) {
		b := bucket(d)
		if b != last && b != last+1 || top(b) < d || top(b)-d > d/32 {
			t.Fatalf("%d is in bucket %d, which ends at %d", d, b, top(b))
		}
		last = b
	}
	require.Less(t, bucket(1<<63-1), len(lags{}.buckets))
}

// BenchmarkPacer prints how late waits end, at three rates.
func BenchmarkPacer(b *testing.B) {
	for _, pacing := range []struct {
		name string
		make Pacing
	}{{"timer", TimerPacing}, {"precise", PrecisePacing}} {
		for _, rate := range []int64{100, 1000, 5000} {
			b.Run(fmt.Sprintf("%s/rate=%d", pacing.name, rate), func(b *testing.B) {
				epoch := time.Now()
				p := pacing.make(epoch)
				defer p.Close()
				var l lags
				for i := range int64(b.N) {
					at := (i + 1) * second / rate
					p.Wait(at, nil)
					l.add(int64(time.Since(epoch)) - at)
				}
				reportLag(b, "", l.summary())
			})
		}
	}
}

func reportLag(b *testing.B, name string, l Lag) {
	b.ReportMetric(float64(l.P50)/1e3, name+"p50-lag-us")
	b.ReportMetric(float64(l.P99)/1e3, name+"p99-lag-us")
	b.ReportMetric(float64(l.Max)/1e3, name+"max-lag-us")
}
