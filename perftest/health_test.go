package perftest

import (
	"testing"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/health"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// lagging is a closed loop of 200 answers of one slot, each sent lag after it
// might have been.
func lagging(lag time.Duration, change func(*load.Report, *health.Readings)) *Result {
	c := newCollector()
	at := time.Duration(0)
	for i := range 200 {
		r := answer(at+lag, 100*time.Millisecond, 5)
		r.Index, r.Scheduled, r.Ready = i, int64(at), int64(at)
		c.add(&r)
		at = time.Duration(r.Done)
	}
	res := &Result{Scenario: ScenarioInfo{Load: LoadInfo{Concurrency: 1}}}
	c.finish(res, 1)
	ran, watch := load.Report{Offered: 200, Started: 200}, health.Readings{Window: time.Minute, CPUs: 2}
	if change != nil {
		change(&ran, &watch)
	}
	res.setHealth(ran, client.Lag{}, watch, ClientLimits{}, false)
	return res
}

func TestBottleneckIsInvalid(t *testing.T) {
	ttft := SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 1}
	tight := SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 0.2}
	for name, c := range map[string]struct {
		r      *Result
		slo    SLO
		want   Outcome
		reason string
	}{
		"no lag":                    {lagging(0, nil), ttft, Pass, ""},
		"50 ms of lag":              {lagging(50*time.Millisecond, nil), ttft, Invalid, "the client was the bottleneck: send lag p99 50"},
		"a missed SLO is no better": {lagging(50*time.Millisecond, nil), SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 0.01}, Invalid, "so this run cannot tell"},
		"1 ms of 145 is below 1 %":  {lagging(time.Millisecond, nil), tight, Pass, ""},
		"6 ms are too much at p99":  {lagging(6*time.Millisecond, nil), ttft, Invalid, "slot gap p99"},
		"4 ms of 149 cost rates":    {lagging(4*time.Millisecond, nil), SLO{Metric: RequestRate, Op: AtLeast, Limit: 1}, Invalid, "slot gaps together"},
		"but no request any time":   {lagging(4*time.Millisecond, nil), ttft, Pass, ""},
		"a stall of 150 ms": {lagging(0, func(_ *load.Report, w *health.Readings) {
			w.Jitter = &health.Jitter{Wakes: 6000, Max: 150 * time.Millisecond, Share: 0.002}
		}), ttft, Invalid, "longest stall of the client 150ms"},
		"all CPU": {lagging(0, func(_ *load.Report, w *health.Readings) { w.CPU = &health.CPU{Share: 0.95, Peak: 0.95} }), ttft, Invalid, "client CPU"},
		"throttled": {lagging(0, func(_ *load.Report, w *health.Readings) {
			w.Throttle = &health.Throttle{Throttled: 3, Time: time.Second}
		}), ttft, Invalid, "throttled"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.r.Judge(c.slo)[0]
			require.Equal(t, c.want, got.Point, got.Reason)
			require.Contains(t, got.Reason, c.reason)
			c.r.Simulated = true
			require.NotEqual(t, Invalid, c.r.Judge(c.slo)[0].Point, "on a simulated server it is a warning")
		})
	}
}

// Where the kernel stamps, stalls are a limit's only when it is set.
func TestStallsBesideKernelStamps(t *testing.T) {
	r := lagging(0, func(_ *load.Report, w *health.Readings) {
		w.Jitter = &health.Jitter{Wakes: 6000, Max: 150 * time.Millisecond, Share: 0.1}
	})
	r.Health.KernelStamps = true
	slo := SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 1}
	require.Equal(t, Pass, r.Judge(slo)[0].Point)
	r.Health.Limits.Jitter = 100 * time.Millisecond
	require.Equal(t, Invalid, r.Judge(slo)[0].Point)
	r.Health.OnlyWarns = true
	require.Equal(t, Pass, r.Judge(slo)[0].Point)
}

// In an open loop it is the plan that has to be offered.
func TestDroppedLoadIsInvalid(t *testing.T) {
	r := lagging(0, func(ran *load.Report, _ *health.Readings) { ran.Offered, ran.Dropped = 250, 50 })
	r.Scenario.Load.Concurrency = 0
	require.Contains(t, r.Judge(SLO{Metric: ErrorRate, Op: AtMost})[0].Reason, "offered load 80% of the plan")
	r.Health.Limits.Offered = -1
	require.Equal(t, Pass, r.Judge(SLO{Metric: ErrorRate, Op: AtMost})[0].Point, "the check is off")
}

// The time to think is no gap, and neither is the wait for a bound of the plan.
func TestSlotGaps(t *testing.T) {
	a, b := answer(0, time.Millisecond, 1), answer(10*time.Second, time.Millisecond, 1)
	b.Scheduled, b.Ready = a.Done+int64(2*time.Millisecond), b.Sent-int64(3*time.Millisecond)
	a.Ready = 0
	r := resultOf(1, []record.Record{a, b}...)
	gaps, total, _ := r.slotGaps()
	require.Equal(t, []any{1, 5 * time.Millisecond, 5 * time.Millisecond}, []any{gaps.Count, gaps.Max, total}) // 2 ms to handle the end, 3 ms to send
	r.Health.Thinks = true
	gaps, _, _ = r.slotGaps()
	require.Equal(t, 3*time.Millisecond, gaps.Max)
}

// A start burst begins a part of its own: what lies before it is no gap of a slot.
func TestSlotGapsOfParts(t *testing.T) {
	a, start, b, c := answer(0, time.Second, 1), answer(3*time.Second, time.Second, 1), answer(5*time.Second, time.Second, 1), answer(7*time.Second, time.Second, 1)
	for _, r := range []*record.Record{&a, &start, &b, &c} {
		r.Scheduled, r.Ready = r.Sent, r.Sent
	}
	start.Part = record.Start
	r := resultOf(1, a, start, b, c)
	gaps, total, all := r.slotGaps()
	between := time.Duration(c.Sent - b.Done)
	require.Equal(t, []any{1, between, between}, []any{gaps.Count, gaps.Max, total})
	require.Equal(t, time.Duration(a.Done-a.Sent+b.Done-b.Sent+c.Done-c.Sent)+between, all)
}
