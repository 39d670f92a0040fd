package perftest

import (
	"math"

	"github.com/slogate/slogate/internal/record"
)

// stamps are what peers read of one answer: nanoseconds after the sending, NaN
// where there is nothing.
type stamps struct{ *record.Record }

func (r stamps) after(at int64) float64 {
	if at == record.Absent || r.Sent == record.Absent {
		return math.NaN()
	}
	return float64(at - r.Sent)
}

// streamed reports whether the answer came as a stream.
func (r stamps) streamed() bool {
	return r.FirstEvent != record.Absent || r.FirstToken != record.Absent
}

// firstText is the first token event of a tool that sees text only.
func (r stamps) firstText() float64 { return r.firstOf(withText) }

func (r stamps) firstToken() float64  { return r.after(r.FirstToken) }
func (r stamps) firstAnswer() float64 { return r.after(r.FirstAnswer) }
func (r stamps) done() float64        { return r.after(r.Done) }

// lastToken is the last token event; of an answer in one piece, its end.
func (r stamps) lastToken() float64 {
	if !r.streamed() {
		return r.done()
	}
	return r.after(r.LastToken)
}

// bodyEnd is the end of the body, where it was stamped apart.
func (r stamps) bodyEnd() float64 {
	if r.BodyEnd == record.Absent {
		return r.done()
	}
	return r.after(r.BodyEnd)
}

func withChoices(e record.Event) bool { return e.Kind&record.KindChoices != 0 }
func withOutput(e record.Event) bool  { return e.Kind&record.KindOutput != 0 }

// withText tells output that is text, reasoning included, from a call's
// arguments and audio.
func withText(e record.Event) bool { return withOutput(e) && e.Kind&record.KindNotText == 0 }

// withJSON tells all events from a bare end mark ([DONE]).
func withJSON(e record.Event) bool { return e.Kind&^record.KindCoalesced != record.KindEnd }

// firstOf and lastOf are the first and last event of a stream that is as asked.
func (r stamps) firstOf(is func(record.Event) bool) float64 {
	if r.streamed() {
		for _, e := range r.Events {
			if is(e) {
				return r.after(e.At)
			}
		}
	}
	return math.NaN()
}

func (r stamps) lastOf(is func(record.Event) bool) float64 {
	if r.streamed() {
		for i := len(r.Events) - 1; i >= 0; i-- {
			if is(r.Events[i]) {
				return r.after(r.Events[i].At)
			}
		}
	}
	return math.NaN()
}

// choiceGaps are from each event with choices, but for the first, back to the
// event with JSON before it, with choices or without.
func (r stamps) choiceGaps(add func(int64)) {
	if !r.streamed() {
		return
	}
	first, last := true, record.Absent
	for _, e := range r.Events {
		if !withJSON(e) {
			continue
		}
		if withChoices(e) {
			if !first {
				add(e.At - last)
			}
			first = false
		}
		last = e.At
	}
}

// tokenGaps are those between token events, as this project's ITL.
func (r stamps) tokenGaps(add func(int64)) { r.gapsOf(withOutput, add) }

// seenGaps are the same for a tool that sees text only.
func (r stamps) seenGaps(add func(int64)) { r.gapsOf(withText, add) }

// gapsOf are those between the events of a stream that are as asked.
func (r stamps) gapsOf(is func(record.Event) bool, add func(int64)) {
	if !r.streamed() {
		return
	}
	last := record.Absent
	for _, e := range r.Events {
		if is(e) {
			if last != record.Absent {
				add(e.At - last)
			}
			last = e.At
		}
	}
}

// usageEnd is where a reader stops that waits for usage: at usage once the
// finish reason is there, in one event or two, else at the end mark.
func (r stamps) usageEnd() float64 {
	if !r.streamed() {
		return math.NaN()
	}
	finished := false
	for _, e := range r.Events {
		if withChoices(e) {
			finished = e.Kind&record.KindFinish != 0
		}
		if finished && e.Kind&record.KindUsage != 0 {
			return r.after(e.At)
		}
	}
	return r.done()
}

// textSpan is the part of a stream that is text and no reasoning: its first
// and last event, and its tokens. It has no events with fewer than two tokens.
type textSpan struct{ first, last, tokens float64 }

func (r stamps) textSpan() textSpan {
	s := textSpan{math.NaN(), math.NaN(), r.tokens()}
	if !r.streamed() {
		return s
	}
	first, last, n := record.Absent, record.Absent, 0
	for _, e := range r.Events {
		k := textTokens(e)
		if k > 0 && n == 0 {
			first = e.At
		}
		if k > 0 {
			last = e.At
		}
		n += k
	}
	if n > 1 {
		s.first, s.last = r.after(first), r.after(last)
	}
	if s.tokens = float64(n); n == 0 {
		s.tokens = math.NaN()
	}
	return s
}

// textGaps are those between the tokens of a textSpan; tokens of one event came
// at one moment.
func (r stamps) textGaps(add func(int64)) {
	if !r.streamed() {
		return
	}
	last := record.Absent
	for _, e := range r.Events {
		for range textTokens(e) {
			if last != record.Absent {
				add(e.At - last)
			}
			last = e.At
		}
	}
}

// textTokens are the tokens of e that are text: those that the server counts,
// else one an event.
func textTokens(e record.Event) int {
	if e.Kind&record.KindAnswer == 0 || !withText(e) {
		return 0
	}
	return max(1, int(e.Tokens))
}

// tokens are the output tokens by the server's count or a tokenizer's.
func (r stamps) tokens() float64 {
	if r.OutputTokens == record.Absent {
		return math.NaN()
	}
	return float64(r.OutputTokens)
}

// usageOr are the output tokens by the server's count; without one, n.
func (r stamps) usageOr(n int) float64 {
	if r.OutputSource == record.SourceUsage && r.OutputTokens != record.Absent {
		return float64(r.OutputTokens)
	}
	if n == 0 {
		return math.NaN()
	}
	return float64(n)
}

// perToken divides a duration by the tokens after the first.
func perToken(duration, tokens float64) float64 {
	if tokens > 1 {
		return duration / (tokens - 1)
	}
	return math.NaN()
}
