package perftest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// eightSlots serves eight requests at once, each of which takes 100 ms to the
// first token and 90 ms for the other one: 42.1 requests a second at most.
var eightSlots = simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 90 * time.Millisecond, Slots: 8}

func searched(t *testing.T, p simserver.Profile, load perftest.Load) perftest.Scenario {
	return perftest.Scenario{
		Target: simserver.StartPipe(t, p).Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 2},
		Load: load, Warmup: perftest.Warmup{Requests: 8},
	}
}

// loads are those of the probes, confirming ones negative.
func loads(c *perftest.Capacity) (all []float64) {
	for _, p := range c.Probes {
		l := float64(p.Load)
		if p.Confirm {
			l = -l
		}
		all = append(all, l)
	}
	return all
}

// The ninth request at once has to wait. By hand: 3, 6 and then 12 double;
// sqrt(6·12) is 8.5, which rounds to 8, and sqrt(8·12) 9.8; 9 is left.
func TestMaxLoadFindsAConcurrency(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		c := perftest.MaxLoad(t, searched(t, eightSlots, perftest.Closed{Concurrency: 3, Requests: 100}),
			assert.TTFT(assert.P99).Below(110*time.Millisecond), assert.ErrorRate().AtMost(0.01))
		require.Equal(t, []float64{3, 6, 12, 8, 10, 9, -8}, loads(c))
		require.Equal(t, []perftest.Value{8, 9, 8}, []perftest.Value{c.Lo, c.Hi, c.Best})
		require.Equal(t, "TTFT p99 < 110ms", c.Binding)
		require.InDelta(t, 8/0.19, float64(c.Goodput), 0.5)
		require.Equal(t, []bool{false, false, true}, []bool{c.MaxNotReached, c.NonMonotone, c.Cliff}, "the wait comes at once: %s", c.Table())
		require.Equal(t, 400, c.Result.Counts.Sent)
		require.Equal(t, "it was stopped, since it had to fail", c.Probes[2].Reason)
		require.Less(t, c.Probes[2].Requests, 120)
		require.Contains(t, c.Table(), "concurrency 8 is confirmed, concurrency 9 is too much")

		data, err := os.ReadFile(c.File)
		require.NoError(t, err)
		var stored perftest.Capacity
		require.NoError(t, json.Unmarshal(data, &stored))
		require.Equal(t, c.Lo, stored.Lo)
		require.Len(t, stored.Probes, 7)
		require.Equal(t, filepath.Dir(filepath.Dir(c.Probes[0].Dir)), filepath.Dir(c.File))
	})
}

// An open loop beyond 42 requests a second is never met, and what is confirmed
// is not far below it.
func TestMaxLoadFindsARate(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		c := perftest.MaxLoad(t, searched(t, eightSlots, perftest.Open{Rate: 10, Requests: 400}), assert.Latency(assert.P95).Below(time.Second))
		require.True(t, c.Confirmed(), c.Table())
		require.Less(t, float64(c.Lo), 42.1, c.Table())
		require.Greater(t, float64(c.Lo), 28.0, c.Table())
		require.Greater(t, c.Hi, c.Lo)
		for _, p := range c.Probes {
			if p.Load > 55 {
				require.Equal(t, perftest.Fail, p.Outcome, "a load that the server falls behind")
			}
		}
	})
}

// The search ends where the client is the bottleneck, and where nothing is met.
func TestMaxLoadFindsNothing(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := searched(t, eightSlots, perftest.Closed{Concurrency: 2, Requests: 100})
		c := perftest.MaxLoad(t, s, assert.TTFT(assert.P99).Below(time.Millisecond))
		require.Equal(t, []float64{2, 1}, loads(c))
		require.False(t, c.Confirmed())
		require.Equal(t, perftest.Value(0), c.Best)
		require.Contains(t, c.Table(), "none is met")
	})
	// A slot that takes more than a nanosecond from answer to request is enough
	// to be the bottleneck here.
	target := simserver.Start(t, simserver.Profile{TTFT: time.Millisecond}).Target()
	target.Simulated = false
	c := perftest.MaxLoad(t, perftest.Scenario{
		Target: target, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 2}, Load: perftest.Closed{Concurrency: 2, Requests: 100},
		Warmup: perftest.Warmup{Requests: 2}, ClientLimits: perftest.ClientLimits{SlotGap: 1},
	}, assert.TTFT(assert.P99).Below(time.Minute))
	require.Equal(t, []float64{2}, loads(c))
	require.Equal(t, []perftest.Value{0, 2}, []perftest.Value{c.Lo, c.ClientLimit})
	require.Equal(t, perftest.Invalid, c.Probes[0].Outcome)
	require.Contains(t, c.Table(), "client limit: at concurrency 2")
}

func TestMaxLoadRefuses(t *testing.T) {
	good := func() perftest.Scenario {
		return perftest.Scenario{Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: fixtures.Builtin{Output: 4}, Load: perftest.Closed{Concurrency: 1}}
	}
	slo := assert.TTFT(assert.P99).Below(time.Second)
	for want, search := range map[string]func(t testing.TB, s perftest.Scenario){
		"SLOs is empty: name the objectives":       func(t testing.TB, s perftest.Scenario) { perftest.MaxLoad(t, s) },
		"SLOs[0]: SLO.Limit is 0":                  func(t testing.TB, s perftest.Scenario) { perftest.MaxLoad(t, s, assert.TTFT(assert.P99).Below(0)) },
		"Load is a perftest.Stages: give a Closed": func(t testing.TB, s perftest.Scenario) { s.Load = perftest.Stages{}; perftest.MaxLoad(t, s, slo) },
		"Load is {Concurrency:-1": func(t testing.TB, s perftest.Scenario) {
			s.Load = perftest.Closed{Concurrency: -1}
			perftest.MaxLoad(t, s, slo)
		},
		"Load.Requests is 50: a confirming run of 4 times as many cannot prove TTFT p99 < 1s: set it to 75 or more": func(t testing.TB, s perftest.Scenario) {
			s.Load = perftest.Open{Rate: 1, Requests: 50}
			perftest.MaxLoad(t, s, slo)
		},
	} {
		require.Contains(t, fatalIn(t, func(t testing.TB) { search(t, good()) }), want)
	}
}
