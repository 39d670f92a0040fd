package health

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	r := Readings{
		Window: 10 * time.Second, CPUs: 2,
		CPU:      &CPU{Share: .3412, Peak: .512},
		Machine:  &Machine{Busy: .407, Steal: .0021},
		Throttle: &Throttle{},
		Pressure: new(.123),
		GC:       GC{Cycles: 3, Pause: 114688},
		RunQueue: Spread{Count: 500, P50: 128, P99: 10240, Max: 163840},
		Jitter:   &Jitter{Wakes: 1000, Late: 3, Max: 4100 * time.Microsecond, Share: .0004},
	}
	q := Requests{
		Sent: 998, Started: 998, Planned: 1000, SendLag: Spread{998, 100 * time.Microsecond, 300 * time.Microsecond, 1200 * time.Microsecond},
		AskedRate: 100, Rate: 99.8, AskedConcurrency: 20, Concurrency: 19.91,
		SlotGap: Spread{998, 21 * time.Microsecond, 80 * time.Microsecond, 2 * ms}, GapTotal: 20 * ms, WorkerTime: 200 * time.Second,
		ReadLag: Spread{40000, 12 * time.Microsecond, 90 * time.Microsecond, 3 * ms},
		Events:  40000, Coalesced: 12, Dialled: 20, Reused: 978,
	}
	want := `send lag p50 100µs p99 300µs max 1.20ms
offered 998 of 1000 planned requests (99.8%)
rate 99.80 of 100 req/s asked
concurrency 19.91 of 20 asked
slot gap p50 21.0µs p99 80.0µs max 2.00ms, 0.0100% of the slots' time
read lag p50 12.0µs p99 90.0µs max 3.00ms
coalesced 12 of 40000 events (0.0300%)
connections 20 dialled, 978 reused
client CPU 34% of 2 CPUs (peak 51%), machine 41%, steal 0.210%, pressure 12%, not throttled
stalls 3 of 1000 wake-ups, longest 4.10ms, 0.0400% of the time
collections 3, longest pause 115µs
run queue p50 128ns p99 10.2µs max 164µs`
	if diff := cmp.Diff(strings.Split(want, "\n"), Lines(r, q)); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestLinesOfLittle(t *testing.T) {
	require.Empty(t, Lines(Readings{}, Requests{}))
	require.Equal(t, []string{
		"client CPU 50% of 0.5 CPUs, throttled 1.20s in 14 of 100 periods",
		"collections 0, longest pause 0s",
	}, Lines(Readings{Window: 1, CPUs: .5, CPU: &CPU{.5, .504}, Throttle: &Throttle{.5, 100, 14, 1200 * ms}}, Requests{}))
	require.Equal(t, []string{"client CPU 5% of 1 CPU", "collections 0, longest pause 0s"},
		Lines(Readings{Window: 1, CPUs: 1, CPU: &CPU{.05, .05}}, Requests{}))
}
