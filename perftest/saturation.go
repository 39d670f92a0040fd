package perftest

import (
	"fmt"
	"math"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// loadOf is how the server bore an open loop, whose requests in flight tell
// whether it keeps up; those of a closed one cannot.
func (r *Result) loadOf() stats.Load {
	for _, part := range r.parts {
		if l := part.loadOf(); l.Saturated {
			return l
		}
	}
	if r.parts != nil {
		return stats.Load{} // each run by itself: between them nothing is in flight
	}
	if r.Scenario.Load.Concurrency > 0 || r.Scenario.Load.Type == "" {
		return stats.Load{}
	}
	spans, last := make([]stats.Span, 0, len(r.samples.all)), int64(0)
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.sent == record.Absent {
			continue
		}
		last = max(last, s.scheduled)
		span := stats.Span{Start: float64(s.scheduled) / 1e9, End: float64(s.done) / 1e9, TTFT: math.NaN()}
		if s.firstToken != record.Absent {
			span.TTFT = float64(s.firstToken-s.scheduled) / 1e9
		}
		spans = append(spans, span)
	}
	if len(spans) == 0 {
		return stats.Load{}
	}
	from := spans[0].Start
	for _, s := range spans {
		from = min(from, s.Start)
	}
	return stats.JudgeLoad(spans, from, float64(last)/1e9)
}

// saturated says in a line that the server falls behind an open loop; empty
// when it does not, or that cannot be told.
func saturated(l stats.Load) string {
	if !l.Saturated {
		return ""
	}
	return fmt.Sprintf("the server falls behind the load: requests in flight rise to %.2g times and the median time to first token to %.2g times, so that a longer run would be slower", l.Growth, l.TTFTGrowth)
}

// warnOfLoad adds what a reader has to know of how the server bore the load.
func (r *Result) warnOfLoad() {
	switch l := r.loadOf(); {
	case l.Saturated:
		r.Warnings = append(r.Warnings, saturated(l))
	case l.Unsteady():
		r.Warnings = append(r.Warnings, fmt.Sprintf("requests in flight vary by %.0f%% of their mean: the run may be shorter than the server's congestion cycle, so that a gate near saturation needs 10 minutes or three runs", 100*l.CV))
	}
}
