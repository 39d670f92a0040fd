package perftest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
	"github.com/stretchr/testify/require"
)

// probeOf is the result of a probe of so many requests, of which all fail beyond a
// limit.
func probeOf(p stats.Probe, n int, limit float64) *Result {
	c := newCollector()
	for i := range n {
		var r record.Record
		fillRecord(&r, i, 2)
		if r.Class = ""; p.Load > limit {
			r.Class = record.ClassReset
		}
		c.add(&r)
	}
	r := &Result{Ended: endedComplete, Scenario: ScenarioInfo{Load: LoadInfo{Concurrency: int(p.Load)}}}
	c.finish(r, 0)
	r.Health = unknownHealth(ClientLimits{})
	r.Health.OnlyWarns = true
	return r
}

// What shard 0 tells another one after each step gives it the same steps, with the
// same levels, to the same end as a process of its own has.
func TestTheOthersFollowASearch(t *testing.T) {
	slos := []SLO{{Metric: ErrorRate, Op: AtMost, Limit: 0.05}}
	for name, load := range map[string]Load{
		"a rate":        Open{Rate: 100, Requests: 100},
		"a concurrency": Closed{Concurrency: 3, Requests: 100},
	} {
		for _, limit := range []float64{0.1, 5, 61, 350, 1e9} {
			start := func() *loadSearch {
				s := Scenario{Name: "T", Load: load, Warmup: Warmup{Requests: 5}}
				search, err := newSearch(s, slos)
				require.NoError(t, err)
				c := &Capacity{Name: "T", Unit: string(RequestRate)}
				if name == "a concurrency" {
					c.Unit = "concurrency"
				}
				return &loadSearch{t: t, scenario: s, slos: slos, search: search, capacity: c}
			}
			one, root, other := start(), start(), start()
			one.first()
			root.first()
			other.first()
			steps := 0
			for ; one.next.Probe != nil; steps++ {
				require.Equal(t, *one.next.Probe, *root.next.Probe, "%s up to %v", name, limit)
				require.Equal(t, *one.next.Probe, *other.next.Probe)
				require.Empty(t, cmp.Diff(one.level(*one.next.Probe), other.level(*other.next.Probe)))
				n := 100
				if one.next.Probe.Confirm {
					n *= confirmRequests
				}
				res := probeOf(*one.next.Probe, n, limit)
				one.after(res)
				told := &Result{elsewhere: "there"}
				var err error
				told.then, err = root.then(res)
				require.NoError(t, err)
				decided := len(root.runs)
				root.after(res)
				require.Len(t, root.runs, decided, "each step is decided once")
				other.after(told)
			}
			require.Nil(t, root.next.Probe)
			require.Nil(t, other.next.Probe)
			require.Greater(t, steps, 1)
			require.Equal(t, one.capacity.Lo, other.next.Found.Lo)
			require.Equal(t, one.capacity.Confirmed(), limit > 1)
			require.LessOrEqual(t, float64(one.capacity.Lo), limit)
			c := other.ended()
			require.Equal(t, "there", c.Elsewhere())
			require.Empty(t, one.capacity.Elsewhere())
			require.Len(t, c.Probes, steps)
			require.Equal(t, c.Confirmed(), c.Result != nil)
			require.False(t, math.IsNaN(float64(c.Best)))
		}
	}
}
