package health

import "time"

// Thresholds say what is too much. In each field 0 means the default and a
// value below 0 switches the check off. A share is a part of 1.
//
// The fields down to Canary are arbiters: they make a run invalid. Their
// defaults follow inference-perf (median send lag below 10 ms), Nighthawk (the
// rate sent against the rate asked) and Hyperfoil (fails a run when a sleep of
// 50 ms takes over 100 ms, or a CPU is less than 20 % idle); 5 ms is 2 % of a
// limit of 250 ms.
type Thresholds struct {
	// SendLag is the largest send lag at p99; default 5 ms. SendLagShare of the
	// smallest limit is allowed where that is more; default 0.02.
	SendLag      time.Duration
	SendLagShare float64
	// Late is the largest share of requests that are sent later than LateBy of
	// the smallest limit; defaults 0.01 and 0.10.
	Late, LateBy float64
	// Offered is the smallest share of the planned requests that are sent;
	// default 0.99. Open loop only.
	Offered float64
	// Waited is the largest share of requests that wait for a place in flight
	// or a connection; default 0.01. Open loop only.
	Waited float64
	// SlotGap is the largest gap of a slot at p99; default 5 ms. SlotGapShare
	// is the largest share of the slots' time that is gaps; default 0.01.
	// Closed loop only.
	SlotGap      time.Duration
	SlotGapShare float64
	// Jitter is the longest overshoot of the watchdog; default 100 ms.
	// JitterShare is the largest share of the window that its overshoots take
	// together; default 0.01.
	Jitter      time.Duration
	JitterShare float64
	// CPU is the largest share of the CPUs it may use that the process uses;
	// default 0.80.
	CPU float64
	// Throttled is how long the control group's quota may hold it back; default
	// none at all.
	Throttled time.Duration
	// Canary is the largest time to first token of a server in this process, at
	// p99, as a share of the smallest limit; default 0.05.
	Canary float64

	// The rest are hints, which leave a run valid.

	// ReadLag is the largest read lag at p99 as a share of the median ITL;
	// default 0.10. The stamps are the kernel's, and stay right. The canary's
	// lag is held against it too.
	ReadLag float64
	// Coalesced is the largest share of events that were read together with one
	// before; default 0.01. Servers and proxies join events too.
	Coalesced float64
	// PeakCPU is the largest share of its CPUs in a single period; default 0.95.
	PeakCPU float64
	// MachineCPU is the largest share of the machine's CPUs in use; default
	// 0.80, as Hyperfoil's.
	MachineCPU float64
	// Steal is the largest share that the hypervisor gives to others; default
	// 0.02.
	Steal float64
	// Pressure is the largest share of the window in which some thread waited
	// for a CPU; default 0.50. It was over 0.95 both in good and in bad runs.
	Pressure float64
	// RunQueue is how long a goroutine may wait for a thread at p99; default
	// 5 ms, as for the send lag.
	RunQueue time.Duration
	// GCPause is the longest stop of the world as a share of the smallest
	// limit; default 0.02.
	GCPause float64
}

// LateAfter is the send lag from which on a request is late, for counting
// [Requests.Late]; 0 where there is no such limit.
func (t Thresholds) LateAfter(smallestLimit time.Duration) time.Duration {
	by, on := setting(t.LateBy, .10)
	if !on || smallestLimit <= 0 {
		return 0
	}
	return part(by, smallestLimit)
}

// setting gives a threshold's value, and whether its check is on.
func setting[T float64 | time.Duration](v, byDefault T) (T, bool) {
	if v == 0 {
		return byDefault, true
	}
	return v, v > 0
}

func part(share float64, of time.Duration) time.Duration {
	return time.Duration(share * float64(of))
}
