package health

import (
	"io/fs"
	"os"
	"runtime"
	"time"
)

// system is where samples come from.
type system struct {
	files   fs.FS                               // the root of the file system
	clock   func() time.Duration                // the machine's, never a bubble's
	process func() (cpu time.Duration, ok bool) // user and system time so far
	cpus    func() int                          // that Go code may run on
}

func thisSystem() system {
	return system{files: os.DirFS("/"), clock: monotonic, process: processCPU, cpus: func() int {
		return min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	}}
}

// sample is the counters at one moment.
type sample struct {
	at       time.Duration
	process  *time.Duration
	machine  *ticks
	pressure *time.Duration
	groups   []groupStat
}

func (w *Watch) sample() sample {
	s := sample{at: w.sys.clock(), machine: readTicks(w.sys.files), pressure: readPressure(w.sys.files), groups: w.group.stats(w.sys.files)}
	if cpu, ok := w.sys.process(); ok {
		s.process = &cpu
	}
	return s
}

// fill sets what the counters of two samples say.
func (r *Readings) fill(a, b sample, cpus float64) {
	r.CPU = processShare(a, b, cpus)
	r.Machine = machineShare(a, b)
	r.Throttle = throttled(a.groups, b.groups)
	if window := b.at - a.at; a.pressure != nil && b.pressure != nil && window > 0 {
		r.Pressure = new(share(*b.pressure-*a.pressure, window))
	}
}

func processShare(a, b sample, cpus float64) *CPU {
	window := b.at - a.at
	if a.process == nil || b.process == nil || window <= 0 || cpus <= 0 {
		return nil
	}
	s := share(*b.process-*a.process, window) / cpus
	return &CPU{Share: s, Peak: s}
}

func machineShare(a, b sample) *Machine {
	if a.machine == nil || b.machine == nil {
		return nil
	}
	d := b.machine.since(*a.machine)
	all := float64(d.busy + d.idle + d.steal)
	if all == 0 { // less than a tick, 10 ms
		return nil
	}
	m := &Machine{Busy: float64(d.busy) / all, Steal: float64(d.steal) / all}
	m.Peak = m.Busy
	return m
}

// share is part of whole, and not below 0: not every counter of a kernel is
// monotonic.
func share(part, whole time.Duration) float64 {
	return max(0, float64(part)/float64(whole))
}

// peaks are the largest shares of a period.
type peaks struct {
	period       time.Duration
	at           time.Time // when the last period began, by package time
	last         sample
	cpu, machine float64
}

func (p *peaks) add(s sample, cpus float64) {
	if c := processShare(p.last, s, cpus); c != nil {
		p.cpu = max(p.cpu, c.Share)
	}
	if m := machineShare(p.last, s); m != nil {
		p.machine = max(p.machine, m.Busy)
	}
	p.last = s
}

func (p *peaks) into(r *Readings) {
	if r.CPU != nil {
		r.CPU.Peak = max(r.CPU.Peak, p.cpu)
	}
	if r.Machine != nil {
		r.Machine.Peak = max(r.Machine.Peak, p.machine)
	}
}
