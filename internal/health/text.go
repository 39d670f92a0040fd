package health

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// Lines gives the client's health for a summary, a line each; what was not
// measured has no line.
func Lines(r Readings, q Requests) []string {
	var out []string
	line := func(show bool, parts ...string) {
		if show {
			out = append(out, strings.Join(parts, ""))
		}
	}
	line(q.SendLag.Count > 0, "send lag ", q.SendLag.String())
	line(q.Planned > 0, fmt.Sprintf("offered %d of %d planned requests", q.Started, q.Planned), shareOf(q.Started, q.Planned))
	line(q.AskedRate > 0, "rate ", report.Number(q.Rate), " of ", report.Number(q.AskedRate), " req/s asked")
	line(q.AskedConcurrency > 0, "concurrency ", report.Number(q.Concurrency), " of ", report.Number(q.AskedConcurrency), " asked")
	line(q.SlotGap.Count > 0, "slot gap ", q.SlotGap.String(), gapShare(q))
	line(q.ReadLag.Count > 0, "read lag ", q.ReadLag.String())
	line(q.Canaries > 0, "canary lag ", q.CanaryLag.String(), ", TTFT ", q.CanaryTTFT.String(), fmt.Sprintf(" (%d requests)", q.Canaries))
	line(q.Events > 0, fmt.Sprintf("coalesced %d of %d events", q.Coalesced, q.Events), shareOf(q.Coalesced, q.Events))
	line(q.Dialled+q.Reused > 0, fmt.Sprintf("connections %d dialled, %d reused", q.Dialled, q.Reused))
	if s := r.use(); s != "" {
		out = append(out, s)
	}
	if j := r.Jitter; j != nil && j.Wakes > 0 {
		out = append(out, fmt.Sprintf("stalls %d of %d wake-ups, longest %s, %s of the time",
			j.Late, j.Wakes, duration(j.Max), report.Percent(j.Share)))
	}
	line(r.Window > 0, fmt.Sprintf("collections %d, longest pause %s", r.GC.Cycles, duration(r.GC.Pause)))
	line(r.RunQueue.Count > 0, "run queue ", r.RunQueue.String())
	return out
}

// String gives the spread as text: "p50 100µs p99 300µs max 1.20ms".
func (s Spread) String() string {
	return "p50 " + duration(s.P50) + " p99 " + duration(s.P99) + " max " + duration(s.Max)
}

// use is the line of the CPU: "client CPU 34% of 2 CPUs (peak 51%), machine
// 41%, steal 0%, pressure 12%, not throttled".
func (r Readings) use() string {
	var parts []string
	if c := r.CPU; c != nil {
		s := "client CPU " + percent(c.Share) + " of " + cpus(r.CPUs)
		if peak := percent(c.Peak); peak != percent(c.Share) {
			s += " (peak " + peak + ")"
		}
		parts = append(parts, s)
	}
	if m := r.Machine; m != nil {
		parts = append(parts, "machine "+percent(m.Busy), "steal "+percent(m.Steal))
	}
	if p := r.Pressure; p != nil {
		parts = append(parts, "pressure "+percent(*p))
	}
	if t := r.Throttle; t != nil {
		if t.Throttled == 0 && t.Time == 0 {
			parts = append(parts, "not throttled")
		} else {
			parts = append(parts, "throttled "+throttling(*t))
		}
	}
	return strings.Join(parts, ", ")
}

// throttling is "1.20s in 14 of 100 periods".
func throttling(t Throttle) string {
	return fmt.Sprintf("%s in %d of %d periods", duration(t.Time), t.Throttled, t.Periods)
}

// cpus is "1 CPU", "2 CPUs" or "0.5 CPUs".
func cpus(n float64) string {
	s := strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64)
	if s == "1" {
		return "1 CPU"
	}
	return s + " CPUs"
}

// shareOf is " (99.8%)".
func shareOf(n, of int) string { return " (" + report.Percent(ratio(n, of)) + ")" }

func gapShare(q Requests) string {
	if q.WorkerTime <= 0 {
		return ""
	}
	return ", " + report.Percent(share(q.GapTotal, q.WorkerTime)) + " of the slots' time"
}

// percent is in whole percents, from 10 on: more would be noise.
func percent(share float64) string {
	if share < .1 {
		return report.Percent(share)
	}
	return fmt.Sprintf("%.0f%%", share*100)
}

func duration(d time.Duration) string { return report.Duration(d.Seconds()) }
