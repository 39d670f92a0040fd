package load

import "time"

// leave adds what a slot has done to the report.
func (r *run) leave(t *Turn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if t.busy.count == 0 {
		return
	}
	r.slots = append(r.slots, t.busy)
	r.report.LastStart = max(r.report.LastStart, t.last)
}

// end completes the report; all requests have ended.
func (r *run) end() Report {
	end := r.now()
	close(r.ended)
	r.watch.Wait()
	r.halt()
	r.expire()
	out := r.report
	out.End = end
	if out.Stop == Never && r.stop.Err() != nil {
		out.Stop = end // so late that nobody has looked
	}
	for _, b := range r.slots {
		out.Started += b.count
	}
	out.Started -= out.Starting
	out.Slots = len(r.slots)
	out.Abandoned, out.Drained = int(r.abandoned.Load()), int(r.cut.Load())
	out.Offered = max(out.Offered, out.Started)
	out.Unsent = out.Offered - out.Started - out.Dropped
	out.Late, out.Waited = r.late.summary(), r.waited.summary()
	r.achieved(&out)
	out.Reason = r.reason(out)
	return out
}

// reason says why there were no more starts.
func (r *run) reason(out Report) Reason {
	ranOut := r.exhausted.Load()
	stoppedFirst := out.Stop != Never && (r.finished == Never || out.Stop < r.finished) && r.within(out.Stop)
	switch {
	case out.GaveUp:
		return ReasonStopped
	case out.Stop != Never && out.Unsent > 0 && !ranOut:
		return ReasonStopped // although the plan was over, some waited
	case r.limit >= 0 && out.Offered == r.limit && (out.Unsent == 0 || !ranOut):
		return ReasonComplete
	case ranOut || r.spent:
		return ReasonExhausted
	case stoppedFirst:
		return ReasonStopped
	default:
		return ReasonDuration
	}
}

// achieved is the concurrency and the rate that were. No request began after
// the last start, so that a slot has at most one that reaches beyond it.
func (r *run) achieved(out *Report) {
	first, last, all := Never, Never, out.Started+out.Starting
	for _, b := range r.slots {
		if first == Never || b.first < first {
			first = b.first
		}
		last = max(last, b.begin)
	}
	if window := last - out.Start; window > 0 {
		if r.asked != nil {
			out.AskedConcurrency = r.asked(time.Duration(window))
		}
		for _, b := range r.slots {
			out.Concurrency += float64(b.until(last)) / float64(window)
		}
	}
	out.Rate = rate(all, first, last)
}

// rate is that of n moments, a second, between the first of them and the last.
func rate(n int, first, last int64) float64 {
	if n < 2 || last <= first {
		return 0
	}
	return float64(n-1) * 1e9 / float64(last-first)
}
