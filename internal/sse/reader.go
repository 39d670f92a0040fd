package sse

import (
	"bytes"
	"io"
)

// Reader reads an event stream (text/event-stream). As the rules say, an event
// without a data line is none, fields other than data, event, id and retry are
// ignored, and lines end with LF, CR LF or CR. Two things are added to the
// rules: a last event that the body ends before its blank line is given, with
// Unterminated set, and ignored lines are counted. id and retry steer a
// reconnecting browser, so they are read over.
type Reader struct {
	window
	lf, cr   int  // no LF in buf[pos:lf], no CR in buf[pos:cr]
	skipLF   bool // the line before ended with CR, so that an LF belongs to it
	begun    bool // the first line, and with it a byte-order mark, is past
	hasData  bool
	name     []byte
	ignored  int
	excerpt  []byte
	finished bool // the unterminated rest was looked at
}

var _ Stream = (*Reader)(nil)

// NewReader reads the event stream r. stamp is called after each read that
// brought bytes and gives the time of arrival, in any unit.
func NewReader(r io.Reader, stamp func() int64) *Reader {
	x := new(Reader)
	x.Reset(r, stamp)
	return x
}

// Reset implements [Stream].
func (x *Reader) Reset(r io.Reader, stamp func() int64) {
	x.reset(r, stamp)
	x.lf, x.cr = 0, 0
	x.skipLF, x.begun, x.hasData, x.finished = false, false, false, false
	x.name, x.ignored, x.excerpt = x.name[:0], 0, x.excerpt[:0]
}

// Ignored implements [Stream].
func (x *Reader) Ignored() (lines int, excerpt []byte) { return x.ignored, x.excerpt }

// Next implements [Stream].
func (x *Reader) Next() (Event, error) {
	x.forget()
	for {
		from, to, ok, err := x.line()
		switch {
		case err != nil:
			return Event{}, err
		case !ok:
			moved, err := x.fill()
			x.lf, x.cr = x.lf-moved, x.cr-moved
			if err == io.EOF && !x.finished {
				return x.rest()
			}
			if err != nil {
				return Event{}, err
			}
		case from < to:
			if err := x.field(from, to); err != nil {
				return Event{}, err
			}
		case x.hasData:
			return x.event(x.name), nil
		default:
			x.name = x.name[:0]
		}
	}
}

// forget drops the event that was given last.
func (x *Reader) forget() {
	if x.hasData {
		x.hasData = false
		x.name = x.name[:0]
	}
	x.data, x.dataEnd = x.pos, x.pos
}

// line takes one whole line, buf[from:to] without its end. Each byte is
// searched once for each line end, however the stream is cut.
func (x *Reader) line() (from, to int, ok bool, err error) {
	if x.skipLF && x.pos < x.end {
		x.skipLF = false
		if x.buf[x.pos] == '\n' {
			x.pos++
		}
	}
	x.lf, x.cr = max(x.lf, x.pos), max(x.cr, x.pos)
	if x.lf >= x.end || x.buf[x.lf] != '\n' {
		x.lf = indexFrom(x.buf[:x.end], x.lf, '\n')
	}
	to = x.lf
	if x.cr < x.lf {
		x.cr = indexFrom(x.buf[:x.lf], x.cr, '\r')
		to = x.cr
	}
	if err := x.check(to - x.pos); err != nil || to == x.end {
		return 0, 0, false, err
	}
	from = x.first(to)
	x.skipLF = x.buf[to] == '\r'
	x.pos = to + 1
	return from, to, true, nil
}

// indexFrom is the index of c in b at or after i, or len(b).
func indexFrom(b []byte, i int, c byte) int {
	if j := bytes.IndexByte(b[i:], c); j >= 0 {
		return i + j
	}
	return len(b)
}

// first is where the line that ends at to begins: at pos, or after the
// byte-order mark of the body's first line.
func (x *Reader) first(to int) (from int) {
	if !x.begun {
		x.begun = true
		if bytes.HasPrefix(x.buf[x.pos:to], []byte("\uFEFF")) {
			return x.pos + len("\uFEFF")
		}
	}
	return x.pos
}

// field takes in the line buf[from:to], which is not empty.
func (x *Reader) field(from, to int) error {
	line := x.buf[from:to]
	colon := bytes.IndexByte(line, ':')
	value := to
	name := line
	if colon >= 0 {
		name = line[:colon]
		value = from + colon + 1
		if value < to && x.buf[value] == ' ' {
			value++
		}
	}
	switch string(name) {
	case "data":
		return x.take(value, to)
	case "event":
		x.name = append(x.name[:0], x.buf[value:to]...)
	case "", "id", "retry": // without a name it is a comment
	default:
		x.ignore(line)
	}
	return nil
}

// take adds the value of a data line to the event. The first stays where it
// is; later ones move up behind it, which always fits, since their field name
// is in between.
func (x *Reader) take(from, to int) error {
	if !x.hasData {
		x.hasData = true
		x.data, x.dataEnd = from, to
		return nil
	}
	if err := x.check(1 + to - from); err != nil {
		return err
	}
	x.buf[x.dataEnd] = '\n'
	x.dataEnd += 1 + copy(x.buf[x.dataEnd+1:], x.buf[from:to])
	return nil
}

func (x *Reader) ignore(line []byte) {
	if x.ignored++; x.ignored > 1 && len(x.excerpt) < MaxExcerpt {
		x.excerpt = append(x.excerpt, '\n')
	}
	x.excerpt = append(x.excerpt, line[:min(len(line), MaxExcerpt-len(x.excerpt))]...)
}

// rest gives the event that the end of the body cut short.
func (x *Reader) rest() (Event, error) {
	x.finished = true
	from, to := x.first(x.end), x.end
	x.pos = x.end
	if from < to {
		if err := x.field(from, to); err != nil {
			return Event{}, err
		}
	}
	if !x.hasData {
		return Event{}, io.EOF
	}
	e := x.event(x.name)
	e.Unterminated = true
	return e, nil
}
