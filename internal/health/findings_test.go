package health

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// well is a client without a finding: every value is at its default limit. The
// smallest SLO limit is 1 s, so that 20 ms of lag are allowed, and requests
// are late from 100 ms on.
func well() (Readings, Requests) {
	return Readings{
			Window: 10 * time.Second, CPUs: 2,
			CPU:      &CPU{Share: .8, Peak: .95},
			Machine:  &Machine{Busy: .8, Peak: 1, Steal: .02},
			Throttle: &Throttle{Quota: 2, Periods: 100},
			Pressure: new(.5),
			GC:       GC{Cycles: 4, Pause: 20 * ms},
			RunQueue: Spread{Count: 9, P99: 5 * ms, Max: time.Second},
			Jitter:   &Jitter{Wakes: 1000, Late: 10, Max: 100 * ms, Total: 100 * ms, Share: .01},
		}, Requests{
			SmallestLimit: time.Second,
			Sent:          990, Started: 990, Planned: 1000, Waited: 9, Late: 9,
			SendLag: Spread{Count: 990, P50: ms, P99: 20 * ms, Max: time.Second},
			SlotGap: Spread{Count: 990, P99: 5 * ms, Max: time.Second}, GapTotal: time.Second, WorkerTime: 100 * time.Second,
			ReadLag: Spread{Count: 10000, P99: 2 * ms}, ITLMedian: 20 * ms, Events: 10000, Coalesced: 100,
		}
}

func TestNothingFound(t *testing.T) {
	r, q := well()
	require.Empty(t, Findings(r, q, Thresholds{}))
	require.Empty(t, Findings(Readings{}, Requests{}, Thresholds{}), "nothing measured")
	require.Empty(t, Bottleneck(nil))
}

// Each value just over its limit is one finding, and none when its check is off
// or its limit is the value.
func TestEachThreshold(t *testing.T) {
	for name, c := range map[string]struct {
		spoil   func(*Readings, *Requests)
		off     Thresholds
		allow   Thresholds
		invalid bool
		want    string
	}{
		"send lag": {
			func(_ *Readings, q *Requests) { q.SendLag.P99 = 20*ms + 1000 },
			Thresholds{SendLag: -1}, Thresholds{SendLag: 20*ms + 1000}, true, "send lag p99 20.001ms (at most 20ms)",
		},
		"send lag beside a small limit": {
			func(r *Readings, q *Requests) {
				q.SendLag.P99, q.SmallestLimit, r.GC.Pause = 5100*time.Microsecond, 200*ms, 4*ms
			},
			Thresholds{SendLag: -1}, Thresholds{SendLagShare: .03}, true, "send lag p99 5.10ms (at most 5ms)",
		},
		"late": {
			func(_ *Readings, q *Requests) { q.Late = 10 },
			Thresholds{Late: -1}, Thresholds{Late: .02}, true, "requests sent late by over 100ms 1.01% (at most 1%)",
		},
		"offered": {
			func(_ *Readings, q *Requests) { q.Planned = 1001 },
			Thresholds{Offered: -1}, Thresholds{Offered: .98}, true, "offered load 98.9% of the plan (at least 99%)",
		},
		"waited": {
			func(_ *Readings, q *Requests) { q.Waited = 99 },
			Thresholds{Waited: -1}, Thresholds{Waited: .1}, true, "requests that waited for a place or a connection 10% (at most 1%)",
		},
		"gap": {
			func(_ *Readings, q *Requests) { q.SlotGap.P99 = 7 * ms },
			Thresholds{SlotGap: -1}, Thresholds{SlotGap: 7 * ms}, true, "slot gap p99 7.00ms (at most 5ms)",
		},
		"gaps": {
			func(_ *Readings, q *Requests) { q.GapTotal = 2 * time.Second },
			Thresholds{SlotGapShare: -1}, Thresholds{SlotGapShare: .02}, true, "slot gaps together 2% of the slots' time (at most 1%)",
		},
		"stall": {
			func(r *Readings, _ *Requests) { r.Jitter.Max = 213 * ms },
			Thresholds{Jitter: -1}, Thresholds{Jitter: 213 * ms}, true, "longest stall of the client 213ms (at most 100ms)",
		},
		"stalls": {
			func(r *Readings, _ *Requests) { r.Jitter.Share = .25 },
			Thresholds{JitterShare: -1}, Thresholds{JitterShare: .25}, true, "stalls of the client together 25% of the time (at most 1%)",
		},
		"CPU": {
			func(r *Readings, _ *Requests) { r.CPU.Share = .9 },
			Thresholds{CPU: -1}, Thresholds{CPU: .9}, true, "client CPU 90% of 2 CPUs (at most 80%)",
		},
		"throttled": {
			func(r *Readings, _ *Requests) { r.Throttle.Throttled, r.Throttle.Time = 14, 1200*ms },
			Thresholds{Throttled: -1}, Thresholds{Throttled: 1200 * ms}, true, "CPU throttled by quota 1.20s in 14 of 100 periods (none allowed)",
		},
		"read lag": {
			func(_ *Readings, q *Requests) { q.ReadLag.P99 = 3 * ms },
			Thresholds{ReadLag: -1}, Thresholds{ReadLag: .15}, false, "read lag p99 3.00ms (at most 2ms)",
		},
		"coalesced": {
			func(_ *Readings, q *Requests) { q.Coalesced = 400 },
			Thresholds{Coalesced: -1}, Thresholds{Coalesced: .04}, false, "coalesced events 4% (at most 1%)",
		},
		"peak": {
			func(r *Readings, _ *Requests) { r.CPU.Peak = .99 },
			Thresholds{PeakCPU: -1}, Thresholds{PeakCPU: .99}, false, "client CPU, busiest moment 99% of 2 CPUs (at most 95%)",
		},
		"machine": {
			func(r *Readings, _ *Requests) { r.Machine.Busy = .95 },
			Thresholds{MachineCPU: -1}, Thresholds{MachineCPU: .95}, false, "machine CPU 95% (at most 80%)",
		},
		"steal": {
			func(r *Readings, _ *Requests) { r.Machine.Steal = .05 },
			Thresholds{Steal: -1}, Thresholds{Steal: .05}, false, "CPU stolen by the hypervisor 5% (at most 2%)",
		},
		"pressure": {
			func(r *Readings, _ *Requests) { r.Pressure = new(.88) },
			Thresholds{Pressure: -1}, Thresholds{Pressure: .88}, false, "CPU pressure 88% of the time (at most 50%)",
		},
		"run queue": {
			func(r *Readings, _ *Requests) { r.RunQueue.P99 = 10 * ms },
			Thresholds{RunQueue: -1}, Thresholds{RunQueue: 10 * ms}, false, "run queue p99 10.0ms (at most 5ms)",
		},
		"collector": {
			func(r *Readings, _ *Requests) { r.GC.Pause = 30 * ms },
			Thresholds{GCPause: -1}, Thresholds{GCPause: .03}, false, "collector pause 30.0ms (at most 20ms)",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, q := well()
			c.spoil(&r, &q)
			found := Findings(r, q, Thresholds{})
			require.Len(t, found, 1)
			if diff := cmp.Diff(c.want, found[0].String()); diff != "" {
				t.Errorf("finding (-want +got):\n%s", diff)
			}
			require.Equal(t, c.invalid, found[0].Invalid)
			require.NotEmpty(t, found[0].Remedy)
			require.Equal(t, c.invalid, Bottleneck(found) != "")
			require.Empty(t, Findings(r, q, c.off), "switched off")
			require.Empty(t, Findings(r, q, c.allow), "allowed")
		})
	}
}

func TestThrottledOverItsLimit(t *testing.T) {
	r, q := well()
	r.Throttle.Throttled, r.Throttle.Time = 14, 1200*ms
	require.Equal(t, "CPU throttled by quota 1.20s in 14 of 100 periods (at most 1s)", Findings(r, q, Thresholds{Throttled: time.Second})[0].String())
}

// One request without a file is too much, whatever the thresholds.
func TestOutOfFiles(t *testing.T) {
	r, q := well()
	q.OutOfFiles, q.FileLimit = 1, 1024
	found := Findings(r, q, Thresholds{})
	require.Len(t, found, 1)
	require.Equal(t, "requests that got no connection for want of open files 1 (RLIMIT_NOFILE is 1024; none allowed)", found[0].String())
	require.Contains(t, Bottleneck(found), "set the load's InFlight")
	q.FileLimit = 0
	require.Contains(t, Findings(r, q, Thresholds{})[0].String(), "(RLIMIT_NOFILE; none allowed)")
}

// Less than a second, or 100 wake-ups, is no base for a share; a stall in it is
// one all the same.
func TestShortWindow(t *testing.T) {
	r, q := well()
	r.Window = time.Second - 1
	r.CPU = &CPU{Share: 1, Peak: 1}
	r.Machine = &Machine{Busy: 1, Steal: 1}
	r.Pressure = new(1.0)
	r.Jitter = &Jitter{Wakes: 99, Share: .5, Max: 101 * ms}
	found := Findings(r, q, Thresholds{})
	require.Len(t, found, 1)
	require.Equal(t, "longest stall of the client", found[0].Name)
}

// Without an SLO on a time there is a lag limit, but none to be late by.
func TestNoSmallestLimit(t *testing.T) {
	r, q := well()
	q.SmallestLimit, q.Late, r.GC.Pause = 0, 990, time.Second
	found := Findings(r, q, Thresholds{})
	require.Len(t, found, 1)
	require.Equal(t, "send lag p99 20.0ms (at most 5ms)", found[0].String())
	require.Zero(t, Thresholds{}.LateAfter(0))
	require.Equal(t, 100*ms, Thresholds{}.LateAfter(time.Second))
	require.Equal(t, 200*ms, Thresholds{LateBy: .2}.LateAfter(time.Second))
	require.Zero(t, Thresholds{LateBy: -1}.LateAfter(time.Second))
}

// All arbiters come before all hints; each remedy is said once.
func TestBottleneck(t *testing.T) {
	r, q := well()
	q.SendLag.P99, q.SlotGap.P99 = 933*ms, 920*ms
	r.CPU.Share, r.Machine.Steal = .98, .05
	found := Findings(r, q, Thresholds{})
	require.Len(t, found, 4)
	require.Equal(t, []bool{true, true, true, false}, []bool{found[0].Invalid, found[1].Invalid, found[2].Invalid, found[3].Invalid})
	got := Bottleneck(found)
	want := "the client was the bottleneck: send lag p99 933ms (at most 20ms), slot gap p99 920ms (at most 5ms), " +
		"client CPU 98% of 2 CPUs (at most 80%), so this run cannot tell; " + moreCPU + "; " + ownCPU
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
	require.Less(t, len(got), 500)
	require.Equal(t, 1, strings.Count(got, moreCPU))
}
