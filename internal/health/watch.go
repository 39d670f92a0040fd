package health

import (
	"sync"
	"time"
)

// Options say how a window is watched. The zero value works.
type Options struct {
	// Tick is how often the jitter watchdog wakes; 0 means 10 ms. A wake-up is
	// all that a Watch costs: on a crowded virtual machine 0.09 ms of CPU in a
	// process that was idle, 0.04 to 0.1 ms beside 2,000 timers a second
	// (0.025 ms for a C program that only sleeps). Below 0 there is no watchdog,
	// no peak and no goroutine: a testing/synctest bubble that is stuck then
	// says so, while a ticking one would run on for ever.
	Tick time.Duration
	// Period is how often the CPU is read for its peak; 0 means 5 s, as
	// Hyperfoil's watchdog has it. Below 0 there is no peak.
	Period time.Duration
}

const (
	defaultTick   = 10 * time.Millisecond
	defaultPeriod = 5 * time.Second
)

// Watch is an open window. It is made by Start.
type Watch struct {
	sys   system
	group hierarchy
	first sample
	sched schedSample
	cpus  float64

	done   chan struct{}
	closed sync.WaitGroup
	dog    watchdog
	peak   peaks

	once     sync.Once
	readings Readings
}

// Start opens a window now. The Watch has to be stopped; until then it has one
// goroutine.
func Start(o Options) *Watch { return start(o, thisSystem()) }

func start(o Options, sys system) *Watch {
	if o.Tick == 0 {
		o.Tick = defaultTick
	}
	if o.Period == 0 {
		o.Period = defaultPeriod
	}
	w := &Watch{sys: sys, group: findGroup(sys.files), done: make(chan struct{})}
	w.cpus = w.usable()
	w.sched = readSched()
	w.first = w.sample()
	if o.Tick > 0 {
		w.peak = peaks{period: o.Period, last: w.first, at: time.Now()}
		w.dog = watchdog{tick: o.Tick, start: time.Now()}
		w.closed.Go(func() { w.dog.run(w.done, w.between) })
	}
	return w
}

// between is called by the watchdog after each wake-up: it reads the CPU where
// a period has passed.
func (w *Watch) between(now time.Time) (busy bool) {
	p := &w.peak
	if p.period < 0 || now.Sub(p.at) < p.period {
		return false
	}
	p.at = now
	// In a bubble a period may pass in no time at all.
	if w.sys.clock()-p.last.at < p.period/2 {
		return false
	}
	p.add(w.sample(), w.cpus)
	return true
}

// Stop closes the window and gives what happened in it. Its goroutine has ended
// when it returns. A second Stop gives the same again. It may be called by any
// goroutine of the bubble that Start was called in.
func (w *Watch) Stop() Readings {
	w.once.Do(func() {
		close(w.done)
		w.closed.Wait()
		last := w.sample()
		sched := readSched()
		r := Readings{Window: last.at - w.first.at, CPUs: min(w.cpus, w.usable())}
		r.fill(w.first, last, r.CPUs)
		w.peak.into(&r)
		r.GC, r.RunQueue = sched.since(w.sched)
		if w.dog.tick > 0 {
			r.Jitter = &w.dog.seen
		}
		if r.Throttle != nil {
			r.Throttle.Quota = w.group.quota(w.sys.files)
		}
		w.readings = r
	})
	return w.readings
}

// usable is how many CPUs the process may use now.
func (w *Watch) usable() float64 {
	n := float64(w.sys.cpus())
	if q := w.group.quota(w.sys.files); q > 0 {
		n = min(n, q)
	}
	return n
}
