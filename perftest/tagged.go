package perftest

import "github.com/slogate/slogate/internal/record"

// tagged is r with the requests of one tag alone, for objectives on them; r
// itself for the empty tag. Rates are over the same time as r's.
func (r *Result) tagged(tag string) *Result {
	if tag == "" {
		return r
	}
	only := &Result{Target: r.Target, Dir: r.Dir, Ended: r.Ended, tag: tag}
	for _, part := range r.parts {
		only.parts = append(only.parts, part.tagged(tag))
	}
	for _, s := range r.samples.start {
		if s.tag == tag {
			only.samples.start = append(only.samples.start, s)
		}
	}
	for _, s := range r.samples.all {
		if s.tag != tag {
			continue
		}
		only.samples.all = append(only.samples.all, s)
		only.Counts.Sent++
		switch {
		case s.cancelled:
			only.Counts.Cancelled++
		case s.failed:
			only.Counts.Failed++
		default:
			only.Counts.Succeeded++
			if s.output == record.Absent {
				only.Counts.NoUsage++
			}
		}
	}
	if g := r.samples.byTag[tag]; g != nil {
		only.samples.gaps = *g
	}
	only.rates()
	only.Window = r.Window
	only.Scenario.Looks = r.Scenario.Looks
	only.span = r.busyTimes()
	t := only.tally(only.span.has)
	t.addAll(only.samples.start, only.span.has)
	only.Rates.Requests, only.Rates.Output, only.Rates.Total = t.rates(seconds(only.span.length()))
	if r.parts != nil {
		only.poolRates()
	}
	return only
}
