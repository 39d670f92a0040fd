package health

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// Finding is a threshold that was passed.
type Finding struct {
	Name     string // what was measured, such as "send lag p99"
	Measured string // with its unit
	Limit    string // likewise, with "at most" or "at least"
	Invalid  bool   // the run cannot tell; else this is only a hint
	Remedy   string // what to do about it
}

// String gives the finding in one line, without its remedy.
func (f Finding) String() string {
	return f.Name + " " + f.Measured + " (" + f.Limit + ")"
}

// Bottleneck says in one line that the run is invalid, why, and what to do;
// it is empty where no finding makes it so.
func Bottleneck(of []Finding) string {
	var why, remedies []string
	for _, f := range of {
		if !f.Invalid {
			continue
		}
		why = append(why, f.String())
		if !slices.Contains(remedies, f.Remedy) {
			remedies = append(remedies, f.Remedy)
		}
	}
	if why == nil {
		return ""
	}
	return "the client was the bottleneck: " + strings.Join(why, ", ") +
		", so this run cannot tell; " + strings.Join(remedies, "; ")
}

const (
	moreCPU   = "give the client a quieter machine or more CPUs, or spread the load over several machines"
	ownCPU    = "give the client more CPUs (its quota, GOMAXPROCS), lower the load, or spread it over several machines"
	quieter   = "look for other work on this machine"
	moreFiles = "set the load's InFlight, raise the hard limit before the run (ulimit -n as root, LimitNOFILE= of a service, " +
		"--ulimit nofile= of a container), or spread the load over several machines"
	moreSlots = "raise the bound on requests in flight, lower the rate, or spread the load over several machines"
)

// The shortest window and the fewest wake-ups of the watchdog whose shares are
// judged: in less, a single start-up or timer is one hundredth.
const (
	shortestWindow = time.Second
	fewestWakes    = 100
)

// Findings holds a window against the thresholds: first what makes the run
// invalid, then hints; none where the client was well. What was not measured
// has no finding, and neither has a share of CPU or jitter of less than a
// second. A value that equals its limit is allowed.
func Findings(r Readings, q Requests, t Thresholds) []Finding {
	var c checks
	c.invalid = true
	c.files(q)
	c.sending(q, t)
	c.gaps(q, t)
	c.jitter(r, t)
	c.cpu(r, t)
	if of, on := setting(t.Canary, .05); on && q.SmallestLimit > 0 {
		c.longest("canary TTFT p99", q.CanaryTTFT.P99, part(of, q.SmallestLimit), moreCPU)
	}
	c.invalid = false
	c.reading(q, t)
	c.machine(r, t)
	c.runtime(r, q, t)
	return c.found
}

type checks struct {
	invalid bool // of what is found now
	found   []Finding
}

func (c *checks) sending(q Requests, t Thresholds) {
	if limit, on := setting(t.SendLag, 5*time.Millisecond); on {
		if of, on := setting(t.SendLagShare, .02); on {
			limit = max(limit, part(of, q.SmallestLimit))
		}
		c.longest("send lag p99", q.SendLag.P99, limit, moreCPU)
	}
	if after := t.LateAfter(q.SmallestLimit); after > 0 {
		c.most("requests sent late by over "+report.Seconds.Limit(after.Seconds()), q.Late, q.Sent, t.Late, .01, moreCPU)
	}
	if least, on := setting(t.Offered, .99); on && q.Planned > 0 {
		if share := ratio(q.Started, q.Planned); share < least {
			c.add("offered load", report.Share.Beside(share, least)+" of the plan", "at least "+report.Share.Limit(least), moreSlots)
		}
	}
	c.most("requests that waited for a place or a connection", q.Waited, q.Started, t.Waited, .01, moreSlots)
}

// files has no threshold: each such request is counted as the server's failure.
func (c *checks) files(q Requests) {
	if q.OutOfFiles == 0 {
		return
	}
	limit := "RLIMIT_NOFILE"
	if q.FileLimit > 0 {
		limit += fmt.Sprintf(" is %d", q.FileLimit)
	}
	c.add("requests that got no connection for want of open files", fmt.Sprint(q.OutOfFiles), limit+"; none allowed", moreFiles)
}

func (c *checks) gaps(q Requests, t Thresholds) {
	if limit, on := setting(t.SlotGap, 5*time.Millisecond); on {
		c.longest("slot gap p99", q.SlotGap.P99, limit, moreCPU)
	}
	if q.WorkerTime > 0 {
		c.share("slot gaps together", share(q.GapTotal, q.WorkerTime), t.SlotGapShare, .01, " of the slots' time", moreCPU)
	}
}

func (c *checks) jitter(r Readings, t Thresholds) {
	if r.Jitter == nil {
		return
	}
	if limit, on := setting(t.Jitter, 100*time.Millisecond); on {
		c.longest("longest stall of the client", r.Jitter.Max, limit, moreCPU)
	}
	if r.Jitter.Wakes >= fewestWakes {
		c.share("stalls of the client together", r.Jitter.Share, t.JitterShare, .01, " of the time", moreCPU)
	}
}

func (c *checks) cpu(r Readings, t Thresholds) {
	if r.CPU != nil && r.Window >= shortestWindow {
		c.share("client CPU", r.CPU.Share, t.CPU, .80, " of "+cpus(r.CPUs), ownCPU)
	}
	c.throttle(r.Throttle, t.Throttled)
}

// throttle differs from the rest: its default is 0.
func (c *checks) throttle(v *Throttle, limit time.Duration) {
	const remedy = "raise the CPU quota of the client's control group (cpu.max, the container's CPU limit)"
	switch {
	case v == nil || limit < 0:
	case limit == 0 && (v.Time > 0 || v.Throttled > 0):
		c.add("CPU throttled by quota", throttling(*v), "none allowed", remedy)
	case limit > 0 && v.Time > limit:
		c.add("CPU throttled by quota", throttling(*v), "at most "+report.Seconds.Limit(limit.Seconds()), remedy)
	}
}

func (c *checks) reading(q Requests, t Thresholds) {
	if of, on := setting(t.ReadLag, .10); on && q.ITLMedian > 0 {
		limit := rounded(part(of, q.ITLMedian)) // of a measured figure, and shown
		c.longest("read lag p99", q.ReadLag.P99, limit, moreCPU)
		c.longest("canary lag p99", q.CanaryLag.P99, limit, moreCPU)
	}
	c.most("coalesced events", q.Coalesced, q.Events, t.Coalesced, .01,
		"their ITL may be too short: look for a server or proxy that joins events, else "+moreCPU)
}

// rounded has three digits of d.
func rounded(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func (c *checks) machine(r Readings, t Thresholds) {
	long := r.Window >= shortestWindow
	if r.CPU != nil && long {
		c.share("client CPU, busiest moment", r.CPU.Peak, t.PeakCPU, .95, " of "+cpus(r.CPUs), ownCPU)
	}
	if r.Machine != nil && long {
		c.share("machine CPU", r.Machine.Busy, t.MachineCPU, .80, "", quieter)
		c.share("CPU stolen by the hypervisor", r.Machine.Steal, t.Steal, .02, "", "take a machine that is not shared")
	}
	if r.Pressure != nil && long {
		c.share("CPU pressure", *r.Pressure, t.Pressure, .50, " of the time", quieter)
	}
}

func (c *checks) runtime(r Readings, q Requests, t Thresholds) {
	if limit, on := setting(t.RunQueue, 5*time.Millisecond); on {
		c.longest("run queue p99", r.RunQueue.P99, limit, ownCPU)
	}
	if of, on := setting(t.GCPause, .02); on && q.SmallestLimit > 0 {
		c.longest("collector pause", r.GC.Pause, part(of, q.SmallestLimit),
			"keep the test's own work off the window, or set GOGC=off with a GOMEMLIMIT")
	}
}

// longest finds a time over its limit.
func (c *checks) longest(name string, v, limit time.Duration, remedy string) {
	if v > limit {
		s, l := v.Seconds(), limit.Seconds()
		c.add(name, report.Seconds.Beside(s, l), "at most "+report.Seconds.Limit(l), remedy)
	}
}

// most finds a count that is more than a share of its base.
func (c *checks) most(name string, n, of int, limit, byDefault float64, remedy string) {
	if of > 0 {
		c.share(name, ratio(n, of), limit, byDefault, "", remedy)
	}
}

// share finds a share over its limit.
func (c *checks) share(name string, v, limit, byDefault float64, of, remedy string) {
	if limit, on := setting(limit, byDefault); on && v > limit {
		c.add(name, report.Share.Beside(v, limit)+of, "at most "+report.Share.Limit(limit), remedy)
	}
}

func (c *checks) add(name, measured, limit, remedy string) {
	c.found = append(c.found, Finding{Name: name, Measured: measured, Limit: limit, Invalid: c.invalid, Remedy: remedy})
}

func ratio(n, of int) float64 { return float64(n) / float64(of) }
