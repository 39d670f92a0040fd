package load

import "time"

// Think is the time that a slot of a closed loop waits between the end of an
// answer and its next request. The zero value is none.
type Think struct {
	// Time is the time, or its mean.
	Time time.Duration
	// Exponential draws each time from the exponential distribution of that
	// mean, instead of waiting the same every time. A slot's k-th is a
	// function of the seed, the slot and k.
	Exponential bool
}

// after is the time a slot waits after its k-th request, from 0.
func (t Think) after(s *stream, slot, k int) time.Duration {
	wait := max(t.Time, 0)
	if t.Exponential && wait > 0 {
		wait, _ = seconds(wait.Seconds() * exponential(s.at(uint64(slot)<<32|uint64(k))))
	}
	return min(wait, longest)
}
