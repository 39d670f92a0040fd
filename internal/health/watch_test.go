package health

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var emptyFS = fstest.MapFS{}

// 10 s of 4 CPUs with a quota of 1.5: 4.5 s of CPU are 30 % of 15 s. The
// machine was busy for 1840 of 1840 + 2099 + 80 = 4019 ticks and lost 80.
// Threads waited for 2.5 s.
func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, end := fixture(t, "v2")
		s := &staged{files: begin, at: time.Hour, cpu: 7 * time.Second}
		w := start(Options{}, s.system())
		time.Sleep(10*time.Second + 5*time.Millisecond)
		synctest.Wait()
		s.pass(10*time.Second, 4500*time.Millisecond, end)
		got := w.Stop()
		want := Readings{
			Window: 10 * time.Second, CPUs: 1.5,
			CPU:      &CPU{Share: .3, Peak: .3},
			Machine:  &Machine{Busy: 1840.0 / 4019, Peak: 1840.0 / 4019, Steal: 80.0 / 4019},
			Throttle: &Throttle{Quota: 1.5, Periods: 100, Throttled: 14, Time: 1200 * time.Millisecond},
			Pressure: new(.25),
			Jitter:   &Jitter{Wakes: 1000},
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Readings{}, "GC", "RunQueue"), cmpopts.EquateApprox(1e-12, 0)); diff != "" {
			t.Fatalf("readings (-want +got):\n%s", diff)
		}
		s.pass(time.Hour, 0, end)
		require.Equal(t, got, w.Stop(), "a second Stop gives the same")
	})
}

// Three periods of 1 s with 0.8, 3.6 and 0.4 s of 4 CPUs; then half of one that
// is no period, with 0.8 s: 5.6 of 14 s.
func TestPeak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &staged{files: emptyFS}
		w := start(Options{Period: time.Second, Tick: 500 * time.Millisecond}, s.system())
		for _, used := range []time.Duration{800, 3600, 400} {
			// The clock goes on before the watchdog's second wake-up.
			time.Sleep(999 * time.Millisecond)
			s.pass(time.Second, used*time.Millisecond, emptyFS)
			time.Sleep(time.Millisecond)
			synctest.Wait()
		}
		s.pass(500*time.Millisecond, 800*time.Millisecond, emptyFS)
		r := w.Stop()
		require.InDelta(t, .4, r.CPU.Share, 1e-12)
		require.InDelta(t, .9, r.CPU.Peak, 1e-12)
		require.Nil(t, r.Machine)
		require.Nil(t, r.Pressure)
		require.Nil(t, r.Throttle)
	})
}

// A bubble's hour is no time for the CPU: a period that took none has no share.
func TestPeakOfNoTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &staged{files: emptyFS}
		w := start(Options{}, s.system())
		time.Sleep(time.Minute)
		synctest.Wait()
		s.pass(time.Millisecond, time.Second, emptyFS)
		r := w.Stop()
		require.Equal(t, time.Millisecond, r.Window)
		for _, f := range Findings(r, Requests{}, Thresholds{}) {
			require.NotContains(t, f.Name, "client CPU")
		}
	})
}

// In a bubble the watchdog is never late, and the rest is read as outside: ten
// minutes that pass at once are no ten minutes of the machine.
func TestThisSystemInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := Start(Options{})
		time.Sleep(10*time.Minute + 5*ms)
		r := w.Stop()
		require.Equal(t, &Jitter{Wakes: 60_000}, r.Jitter)
		require.Less(t, r.Window, 10*time.Minute)
		require.Positive(t, r.CPUs)
	})
}

func TestNoWatchdog(t *testing.T) {
	before := runtime.NumGoroutine()
	w := Start(Options{Tick: -1})
	require.LessOrEqual(t, runtime.NumGoroutine(), before) // one of another test may just end
	require.Nil(t, w.Stop().Jitter)
}

// What the process uses is found again, on whatever the machine is.
func TestThisProcess(t *testing.T) {
	w := Start(Options{})
	first, ok := processCPU() // when the window is open: what it uses from here on is in it
	if !ok {
		w.Stop()
		t.Skip("this system does not tell")
	}
	runtime.GC()
	runtime.GC()
	for now := first; now < first+60*time.Millisecond; now, _ = processCPU() {
	}
	r := w.Stop()
	require.GreaterOrEqual(t, time.Duration(r.CPU.Share*r.CPUs*float64(r.Window)+.5), 50*time.Millisecond)
	require.GreaterOrEqual(t, r.CPU.Peak, r.CPU.Share)
	require.GreaterOrEqual(t, r.GC.Cycles, 2)
	require.Positive(t, r.GC.Pause)
	require.Positive(t, r.CPUs)
	require.LessOrEqual(t, r.CPUs, float64(runtime.GOMAXPROCS(0)))
	for _, line := range Lines(r, Requests{}) {
		t.Log(line)
	}
}

// A client that shares one thread with a busy loop is found out.
func TestStarved(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var stop atomic.Bool
	var busy sync.WaitGroup
	w := Start(Options{})
	busy.Go(func() {
		for !stop.Load() {
		}
	})
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for range 60 { // until the watchdog has missed most of as many moments
		<-ticker.C
	}
	stop.Store(true)
	busy.Wait()
	r := w.Stop()
	r.Jitter.Wakes = max(r.Jitter.Wakes, fewestWakes) // a stalled watchdog wakes seldom
	require.Equal(t, 1.0, r.CPUs)
	found := Findings(r, Requests{}, Thresholds{})
	require.Contains(t, Bottleneck(found), "stalls of the client together")
}
