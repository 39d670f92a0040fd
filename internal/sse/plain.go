package sse

import (
	"bytes"
	"io"
)

// Lines reads newline-delimited JSON: each line that is not blank is an event
// without a name. Lines end with LF or CR LF.
type Lines struct {
	window
	seen int // no LF in buf[pos:seen]
}

var _ Stream = (*Lines)(nil)

// NewLines reads r line by line; stamp is as in [NewReader].
func NewLines(r io.Reader, stamp func() int64) *Lines {
	x := new(Lines)
	x.Reset(r, stamp)
	return x
}

// Reset implements [Stream].
func (x *Lines) Reset(r io.Reader, stamp func() int64) {
	x.reset(r, stamp)
	x.seen = 0
}

// Ignored implements [Stream]: every line is an event.
func (x *Lines) Ignored() (lines int, excerpt []byte) { return 0, nil }

// Next implements [Stream].
func (x *Lines) Next() (Event, error) {
	x.data, x.dataEnd = x.pos, x.pos
	for {
		at := indexFrom(x.buf[:x.end], max(x.seen, x.pos), '\n')
		if err := x.check(at - x.pos); err != nil {
			return Event{}, err
		}
		if at < x.end {
			line := x.pos
			x.pos = at + 1
			x.data, x.dataEnd = line, x.pos
			if !x.trim() {
				continue
			}
			return x.event(nil), nil
		}
		x.seen = at
		moved, err := x.fill()
		x.seen -= moved
		if err != nil {
			return x.rest(err)
		}
	}
}

// trim takes white space off the held line and reports whether any is left.
func (x *Lines) trim() bool {
	held := bytes.TrimLeft(x.buf[x.data:x.dataEnd], " \t\r\n")
	x.data = x.dataEnd - len(held)
	x.dataEnd = x.data + len(bytes.TrimRight(held, " \t\r\n"))
	if x.data == x.dataEnd {
		x.data, x.dataEnd = x.pos, x.pos
		return false
	}
	return true
}

// rest gives a last line without its end, if the body ended cleanly.
func (x *Lines) rest(err error) (Event, error) {
	if err != io.EOF || x.pos == x.end {
		return Event{}, err
	}
	x.data, x.dataEnd = x.pos, x.end
	x.pos = x.end
	if !x.trim() {
		return Event{}, err
	}
	e := x.event(nil)
	e.Unterminated = true
	return e, nil
}

// Body gives the whole body as one event, or none if there is nothing but
// white space in it.
type Body struct{ window }

var _ Stream = (*Body)(nil)

// NewBody reads r as one event; stamp is as in [NewReader].
func NewBody(r io.Reader, stamp func() int64) *Body {
	x := new(Body)
	x.Reset(r, stamp)
	return x
}

// Reset implements [Stream].
func (x *Body) Reset(r io.Reader, stamp func() int64) { x.reset(r, stamp) }

// Ignored implements [Stream]: nothing is.
func (x *Body) Ignored() (lines int, excerpt []byte) { return 0, nil }

// Next implements [Stream].
func (x *Body) Next() (Event, error) {
	x.data, x.dataEnd = x.pos, x.pos
	for {
		if err := x.check(x.end - x.pos); err != nil {
			return Event{}, err
		}
		_, err := x.fill()
		if err == nil {
			continue
		}
		body := bytes.TrimSpace(x.buf[x.pos:x.end])
		if err != io.EOF || len(body) == 0 {
			return Event{}, err
		}
		x.data, x.dataEnd = x.pos, x.end
		x.pos = x.end
		return x.event(nil), nil
	}
}
