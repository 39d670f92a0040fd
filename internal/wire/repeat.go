package wire

import "bytes"

// Decoder decodes the events of answers, one after another, as its dialect
// does and to the same results. It knows an event of chat or completions that is
// like the one before but for its text, as most of an answer's are, at a quarter
// of the price: it compares the bytes round the text and reads the text's string
// alone.
//
// It is not safe for concurrent use. Its zero value is not ready: use
// [NewDecoder].
type Decoder struct {
	dialect Dialect
	placed  placer // the dialect, if it says where a text lies; else nil

	// The event that was read last in full, if its result holds for any other
	// text in the place of its own; else none of it.
	event Event
	like  []byte
	text  span // of like; from 0 where there is none
}

// placer is a dialect that says where an event's text lies: a string of data of
// which [Event] depends only in that it is not empty. It gives no span if there
// is no such string, or an error message was made of the bytes.
type placer interface {
	decode(name, data []byte, e *Event) (span, error)
}

// span is the raw inside of a string in an event's data, without its quotes.
type span struct{ from, to int }

// maxLike bounds the event that is kept for comparison, in bytes: what is larger
// is read in full, and costs more than its scan anyway.
const maxLike = 4 << 10

// NewDecoder makes a decoder of d's events.
func NewDecoder(d Dialect) *Decoder {
	x := &Decoder{dialect: d}
	x.placed, _ = d.(placer)
	return x
}

// Decode is [Dialect]'s.
func (x *Decoder) Decode(name, data []byte, e *Event) error {
	if x.placed == nil || len(name) > 0 {
		return x.dialect.Decode(name, data, e)
	}
	if x.repeats(data) {
		*e = x.event
		return nil
	}
	text, err := x.placed.decode(nil, data, e)
	x.text = span{}
	if err == nil && text.from < text.to && len(data) <= maxLike {
		x.event, x.text = *e, text
		x.like = append(x.like[:0], data...)
	}
	return err
}

// repeats reports whether data is like the event before but for its text: the
// same up to the opening quote and from the closing one on, with a string in
// between that is not empty, by the rules of the full scan.
func (x *Decoder) repeats(data []byte) bool {
	from, rest := x.text.from, len(x.like)-x.text.to
	if from == 0 || len(data) <= from+rest {
		return false
	}
	to := len(data) - rest
	if !bytes.Equal(data[to:], x.like[x.text.to:]) || !bytes.Equal(data[:from], x.like[:from]) {
		return false
	}
	c := cursor{b: data, i: from - 1}
	c.str()
	return !c.bad && c.i == to+1
}
