package wire

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// maxGathered bounds the text that is kept of one answer, in bytes.
const maxGathered = 16 << 20

// Texter is a [Dialect] that also gives the text that an event adds, for a
// count of tokens by the client's own tokenizer. It is asked only where there
// is one, as it reads the event a second time.
type Texter interface {
	// AppendText adds to t what the event adds to the answer: its reasoning
	// and then its answer, or the other way round where the event has them so.
	// An event that Decode refuses adds nothing that may be used.
	AppendText(t *Text, name, data []byte)
}

// AsTexter gives what reads the texts of d, which may be made by [Whole].
func AsTexter(d Dialect) (Texter, bool) {
	if w, ok := d.(whole); ok {
		d = w.Dialect
	}
	t, ok := d.(Texter)
	return t, ok
}

// Text is the text of one answer.
type Text struct {
	// Choices are the texts, one a choice that was asked for.
	Choices [][]byte
	// Partial says that the answer has output that is not among them: calls of
	// tools, whose text is not what the model wrote, audio, summaries in place
	// of thoughts, choices that nobody asked for, or more than 16 MiB.
	Partial bool
	// Answer is the first choice's text without its reasoning, as the next
	// turn of a conversation repeats it.
	Answer []byte
	// Reasoning is the first choice's reasoning, gathered only with Split.
	Reasoning []byte
	Split     bool

	size             int
	thoughts, answer []byte // of the choice that is read
}

// Reset begins the next answer, of that many choices.
func (t *Text) Reset(choices int) {
	choices = min(max(choices, 1), 64)
	for len(t.Choices) < choices {
		t.Choices = append(t.Choices, nil)
	}
	t.Choices = t.Choices[:choices]
	for i := range t.Choices {
		t.Choices[i] = t.Choices[i][:0]
		if cap(t.Choices[i]) > maxText {
			t.Choices[i] = nil // a huge one is rare
		}
	}
	t.Partial, t.size = false, 0
	if t.Answer = t.Answer[:0]; cap(t.Answer) > maxText {
		t.Answer = nil
	}
	t.thoughts, t.answer, t.Reasoning = t.thoughts[:0], t.answer[:0], t.Reasoning[:0]
}

// Add adds text to a choice.
func (t *Text) Add(choice int64, text []byte) {
	switch {
	case len(text) == 0:
	case choice < 0 || choice >= int64(len(t.Choices)) || len(text) > maxGathered-t.size:
		t.Partial = true
	default:
		t.size += len(text)
		t.Choices[choice] = append(t.Choices[choice], text...)
	}
}

// Room gives empty buffers in which a caller may put an event's texts together
// for Put.
func (t *Text) Room() (reasoning, answer []byte) { return t.thoughts[:0], t.answer[:0] }

// Put adds an event's reasoning and answer to the first choice.
func (t *Text) Put(reasoning, answer []byte) {
	t.thoughts, t.answer = reasoning, answer
	t.put(0)
}

// put adds what was read of a choice.
func (t *Text) put(choice int64) {
	t.Add(choice, t.thoughts)
	t.Add(choice, t.answer)
	if choice == 0 && t.Split {
		t.Reasoning = append(t.Reasoning, t.thoughts...)
	}
	if choice == 0 && len(t.answer) <= maxGathered-len(t.Answer) {
		t.Answer = append(t.Answer, t.answer...)
	}
	t.thoughts, t.answer = t.thoughts[:0], t.answer[:0]
}

// other notes output that is no text, if there is some.
func (t *Text) other(found bool) { t.Partial = t.Partial || found }

// calls reads what calls tools with read.
func (t *Text) calls(read func(*output)) {
	var o output
	read(&o)
	t.other(o.other || o.called)
}

// appendText reads a value and appends it to dst if it is a string.
func (c *cursor) appendText(dst []byte) []byte {
	if c.peek() != '"' {
		c.skip()
		return dst
	}
	raw, escaped := c.str()
	if !escaped {
		return append(dst, raw...)
	}
	return appendUnquoted(dst, raw)
}

// appendUnquoted appends the text of a string's raw inside, whose escapes the
// cursor has checked. Half a surrogate pair becomes U+FFFD, as in
// encoding/json.
func appendUnquoted(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		if raw = raw[i:]; raw[1] != 'u' {
			dst = append(dst, unescape(raw[1]))
			raw = raw[2:]
			continue
		}
		r := hex4(raw[2:])
		if raw = raw[6:]; utf16.IsSurrogate(r) {
			low := rune(utf8.RuneError)
			if len(raw) >= 6 && raw[0] == '\\' && raw[1] == 'u' {
				low = hex4(raw[2:])
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				raw = raw[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// unescape is the character behind a backslash.
func unescape(b byte) byte {
	switch b {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return b
}

// hex4 is the number that the first four digits of b write.
func hex4(b []byte) (r rune) {
	for _, d := range b[:4] {
		switch {
		case d <= '9':
			d -= '0'
		default:
			d = d | 0x20 - 'a' + 10
		}
		r = r<<4 | rune(d)
	}
	return r
}
