package perftest

import "github.com/slogate/slogate/internal/record"

// tagged is r with the requests of one tag alone, for objectives on them; r
// itself for the empty tag. Rates are over r's window.
func (r *Result) tagged(tag string) *Result {
	if tag == "" {
		return r
	}
	only := &Result{Target: r.Target}
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
	t := only.tally(func(*sample) bool { return true })
	only.Rates.Requests, only.Rates.Output, only.Rates.Total = t.rates(r.Window)
	return only
}
