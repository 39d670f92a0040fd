package health

import "time"

// Jitter is what the watchdog saw: a goroutine that sleeps to the next moment
// of a fixed schedule, and is late when collector, scheduler, kernel, quota or
// hypervisor keep it from running, as they keep a request or an event waiting.
type Jitter struct {
	Wakes int           // times that the watchdog was due, and came
	Late  int           // of these, later than Slack
	Max   time.Duration // the longest overshoot, in full
	Total time.Duration // overshoots over Slack, each less Slack
	// Share is Total as a part of the window: the share of time for which the
	// watchdog should have run and did not.
	Share float64
}

// Slack is how late a wake-up may be without being counted. A timer of Go's
// runtime on Linux is up to 1 ms late on an idle machine, because the poller
// waits in whole milliseconds; twice that leaves room for coarser systems and
// is below all that a finding is made of.
const Slack = 2 * time.Millisecond

type watchdog struct {
	tick  time.Duration
	start time.Time
	due   time.Time
	seen  Jitter
}

// run wakes on schedule until done is closed, and calls between after each
// wake-up with the time. After a long absence the moments that passed are left
// out: they were one stall, whose length the first of them has.
func (d *watchdog) run(done <-chan struct{}, between func(now time.Time) (busy bool)) {
	d.due = d.start.Add(d.tick)
	timer := time.NewTimer(time.Until(d.due))
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-done:
			// A stall that lasts until the end of the window counts.
			now := time.Now()
			if now.After(d.due) {
				d.woke(now)
			}
			if window := now.Sub(d.start); window > 0 {
				d.seen.Share = share(d.seen.Total, window)
			}
			return
		}
		now := time.Now()
		d.woke(now)
		if between(now) {
			now = time.Now() // its own work is not an overshoot
		}
		d.due = d.next(now)
		timer.Reset(time.Until(d.due))
	}
}

// next is the first moment of the schedule after now.
func (d *watchdog) next(now time.Time) time.Time {
	return d.start.Add((now.Sub(d.start)/d.tick + 1) * d.tick)
}

// woke counts a wake-up that was due at d.due.
func (d *watchdog) woke(now time.Time) {
	over := now.Sub(d.due)
	d.seen.Wakes++
	d.seen.Max = max(d.seen.Max, over)
	if over > Slack {
		d.seen.Late++
		d.seen.Total += over - Slack
	}
}
