package record

// Shift moves every stamp of r by ns nanoseconds, as from the clock of one run
// to that of another. Durations and what is [Absent] stay.
func (r *Record) Shift(ns int64) {
	if ns == 0 {
		return
	}
	for _, stamp := range []*int64{
		&r.Scheduled, &r.Ready, &r.Sent, &r.Wrote, &r.Connected, &r.Headers, &r.FirstEvent, &r.FirstToken,
		&r.SecondToken, &r.FirstAnswer, &r.LastToken, &r.UsageAt, &r.Done, &r.BodyEnd,
	} {
		if *stamp != Absent {
			*stamp += ns
		}
	}
	for i := range r.FirstTokens {
		if r.FirstTokens[i] != Absent {
			r.FirstTokens[i] += ns
		}
	}
	for i := range r.Events {
		r.Events[i].At += ns
	}
}
