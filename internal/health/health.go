// Package health measures what this process and its machine did during a
// window, and says whether the client was the bottleneck.
//
// [Start] opens a window and [Watch.Stop] closes it and gives [Readings].
// [Findings] holds them, and what the caller knows of its requests, against
// [Thresholds]. Its arbiters are what a request feels: send lag, slot gap, a
// goroutine that should have run and did not, and a CPU quota that is used up.
// They make a run invalid. The other signs (machine, steal, pressure,
// collector, run queue, read lag, coalesced events) are hints: each of them was
// seen to be alarming in a good run or calm in a bad one.
package health

import "time"

// Spread sums up a set of times. The zero value is that of no times.
type Spread struct {
	Count         int
	P50, P99, Max time.Duration
}

// Readings are what happened in a window. A nil part was not measured: this
// system does not tell, or the window was too short for its clock.
type Readings struct {
	// Window is the time between Start and Stop by the machine's clock, also in
	// a testing/synctest bubble, whose clock tells nothing of the CPU.
	Window time.Duration
	// CPUs is how many CPUs the process may use: the smallest of GOMAXPROCS,
	// its CPU mask and its control group's quota. It may be a fraction.
	CPUs float64

	CPU      *CPU
	Machine  *Machine
	Throttle *Throttle
	// Pressure is the share of the window in which some thread of the machine
	// waited for a CPU (Linux PSI, "some"). It is over 90 % on a machine whose
	// background work waits while the client does not.
	Pressure *float64

	GC GC
	// RunQueue is how long goroutines that could run waited for a thread, as
	// the runtime samples them (one in eight), in steps of up to 25 %, rounded
	// up. It knows nothing of threads that wait for a CPU.
	RunQueue Spread
	// Jitter is nil when the watchdog was off.
	Jitter *Jitter
}

// CPU is the process's use of its CPUs, user and system time.
type CPU struct {
	Share float64 // of Readings.CPUs, from 0; over 1 is possible, system calls have threads of their own
	Peak  float64 // the largest share of a period of Options.Period, or Share
}

// Machine is the use of all CPUs of the machine, as its kernel sees it.
type Machine struct {
	Busy  float64 // share of their time, without steal
	Peak  float64 // the largest share of a period, or Busy
	Steal float64 // share that the hypervisor gave to others
}

// Throttle is what the CPU quota of the process's control group, or of a group
// around it, did. It is that of the group which took the most time.
type Throttle struct {
	Quota     float64       // CPUs, of the tightest group; 0 means no quota
	Periods   int           // of the quota, in which the group wanted to run
	Throttled int           // periods in which the quota was used up
	Time      time.Duration // for which the group's CPUs were held back, summed over them
}

// GC is what the collector did.
type GC struct {
	Cycles int           // collections that ended
	Pause  time.Duration // the longest stop of the world, rounded up by up to 25 %
}
