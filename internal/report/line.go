package report

import (
	"fmt"
	"strings"
	"time"
)

// Live is a run under way.
type Live struct {
	Scenario  string
	Simulated bool
	Warmup    bool // the requests are those of the warm-up

	Done     int // requests that ended, failures included
	Asked    int // requests to send in all; 0 when only time ends the run
	InFlight int
	Failed   int

	Elapsed time.Duration
	Limit   time.Duration // after which no more requests start; 0 for none

	RequestRate float64 // successes a second so far
	OutputRate  float64 // output tokens a second so far
	TTFT        float64 // mean so far, seconds; 0 before the first
	TPOT        float64
}

// Line is the progress line of l, on one line without its end. What matters
// most comes first, since a narrow terminal shows the beginning only.
func Line(l Live) string {
	parts := make([]string, 0, 10)
	head := fmt.Sprint(l.Done)
	if l.Asked > 0 {
		head += fmt.Sprintf("/%d", l.Asked)
	}
	if share := l.share(); share >= 0 {
		// Rounded down: 100% is the end, and not a moment before.
		head += fmt.Sprintf(" %d%%", int(share*100))
	}
	if left, ok := l.left(); ok {
		head += ", " + left.Round(time.Second).String() + " left"
	}
	var name []string
	if l.Scenario != "" {
		name = append(name, Escape(l.Scenario))
	}
	if l.Simulated {
		name = append(name, "SIMULATED")
	}
	if l.Warmup {
		name = append(name, "warm-up")
	}
	parts = append(parts, strings.Join(append(name, head), " "),
		fmt.Sprintf("%d in flight", l.InFlight),
		fmt.Sprintf("%d failed", l.Failed),
		"TTFT "+unlessZero(l.TTFT),
		"TPOT "+unlessZero(l.TPOT),
		RequestRate.format(l.RequestRate, -1), // a terminal is narrow
		TokenRate.format(l.OutputRate, -1),
	)
	return strings.Join(parts, " | ")
}

func unlessZero(v float64) string {
	if v == 0 {
		return absent
	}
	return Duration(v)
}

// share is how much of the run is over, by requests or by time, whichever is
// further; negative when there is no telling.
func (l Live) share() float64 {
	share := -1.0
	if l.Asked > 0 {
		share = float64(l.Done) / float64(l.Asked)
	}
	if l.Limit > 0 {
		share = max(share, float64(l.Elapsed)/float64(l.Limit))
	}
	return min(share, 1)
}

// left is the time that remains at the pace so far.
func (l Live) left() (time.Duration, bool) {
	var left time.Duration
	known := false
	if l.Asked > 0 && l.Done > 0 && l.Elapsed > 0 {
		left = time.Duration(float64(l.Elapsed) / float64(l.Done) * float64(l.Asked-l.Done))
		known = true
	}
	if l.Limit > 0 && (!known || l.Limit-l.Elapsed < left) {
		left, known = l.Limit-l.Elapsed, true
	}
	return max(left, 0), known
}
