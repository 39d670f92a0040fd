package perftest

import (
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// Events that were written 1, 3 and 10 ms before their stamps; one that has no
// output has no time of writing.
func TestCanaryTakesTheTimesOfWriting(t *testing.T) {
	var rec record.Record
	rec.Reset()
	ms := int64(time.Millisecond)
	rec.Sent, rec.FirstToken = 4*ms, 6*ms
	rec.Events = []record.Event{
		{At: 5 * ms, Kind: record.KindChoices}, {At: 6 * ms, Kind: record.KindAnswer},
		{At: 20 * ms, Kind: record.KindAnswer}, {At: 30 * ms, Kind: record.KindAnswer}, {At: 31 * ms, Kind: record.KindFinish},
	}
	c := &canary{}
	c.take(&rec, "0000000000005000000"+"0000000000017000000"+"0000000000020000000")
	require.Equal(t, []int64{ms, 3 * ms, 10 * ms}, c.lags)
	require.Equal(t, []int64{2 * ms}, c.ttfts)
}

// It asks its own server until it is told to end, and what it found is the
// health's. (How large it is, is the machine's affair.)
func TestCanary(t *testing.T) {
	var c *canary
	var lag, ttft Lag
	var n int
	var began time.Time
	for wait := 3 * canaryEvery; n == 0 && wait < time.Minute; wait *= 2 { // on a machine that does nothing for so long
		var err error
		began = time.Now()
		c, err = startCanary()
		require.NoError(t, err)
		time.Sleep(wait)
		lag, ttft, n = c.readings()
	}
	require.NotZero(t, n)
	require.GreaterOrEqual(t, len(c.lags), n*canaryEvents)
	require.Zero(t, len(c.lags)%canaryEvents)
	require.Positive(t, float64(ttft.P50))
	require.LessOrEqual(t, float64(lag.P50), float64(lag.Max))
	require.LessOrEqual(t, n, 1+int(time.Since(began)/canaryEvery), "no more than two a second")

	r := resultOf(1, answer(0, time.Millisecond, 2))
	r.Health.Canaries, r.Health.CanaryLag, r.Health.CanaryTTFT = n, lag, Lag{0.001, 0.020, 0.020}
	r.Target.URL = "http://127.0.0.1:1"
	ttftBelow := func(limit float64) Verdict {
		return r.Judge(SLO{Metric: TTFT, Stat: Max, Op: AtMost, Limit: limit})[0]
	}
	require.Equal(t, Invalid, ttftBelow(0.3).Outcome)
	require.Contains(t, ttftBelow(0.3).Reason, "canary TTFT p99 20.0ms (at most 15ms)")
	require.NotEqual(t, Invalid, ttftBelow(0.5).Outcome)
	r.Health.Limits.Canary = -1
	require.NotEqual(t, Invalid, ttftBelow(0.3).Outcome, "the check is off")
	require.False(t, strings.Contains(ttftBelow(0.3).Reason, "canary"))
}
