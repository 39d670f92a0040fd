package sse

import (
	"fmt"
	"io"
)

const (
	firstSize = 1 << 10  // first size of the buffer: a few events of a stream that waits for each
	wideSize  = 4 << 10  // its size once a read has filled it: some dozen events of one that does not
	keepSize  = 64 << 10 // a larger buffer is given back at Reset
	minRoom   = 512      // a read is offered at least this many bytes
	maxIdle   = 100      // reads without bytes or error in a row, as in package bufio
)

// window is the part of a body that is in memory. Bytes from pos to end are
// not looked at yet; bytes from data to dataEnd are held for the event that is
// being put together.
type window struct {
	r     io.Reader
	stamp func() int64
	max   int // bound of an event; 0 means DefaultMaxEvent

	buf           []byte
	data, dataEnd int
	pos, end      int

	at    int64 // stamp of the last read that brought bytes
	reads int64 // number of such reads
	wide  bool  // one of them filled the buffer
	last  int64 // value of reads when the last event was given
	total int64
	err   error // what the reader said last; final
}

func (w *window) reset(r io.Reader, stamp func() int64) {
	buf, limit := w.buf, w.max
	if len(buf) > keepSize {
		buf = nil
	}
	*w = window{r: r, stamp: stamp, buf: buf, max: limit}
}

// Bytes is the number of bytes read from the body so far.
func (w *window) Bytes() int64 { return w.total }

// SetMax bounds an event's size (and a line's) in bytes; 0 means
// [DefaultMaxEvent]. It outlives Reset.
func (w *window) SetMax(n int) { w.max = n }

func (w *window) limit() int {
	if w.max > 0 {
		return w.max
	}
	return DefaultMaxEvent
}

// check fails, for good, when the held data and n bytes more are over the bound.
func (w *window) check(n int) error {
	if w.dataEnd-w.data+n > w.limit() {
		w.err = fmt.Errorf("%w: over %d bytes", ErrTooLarge, w.limit())
		w.pos = w.end
		return w.err
	}
	return nil
}

// fill reads once. It returns how far the bytes at pos were moved towards the
// start of the buffer, so that the caller can move its own marks with them.
func (w *window) fill() (moved int, err error) {
	if w.err != nil {
		return 0, w.err
	}
	if len(w.buf)-w.end < minRoom || w.pos == w.end && w.data == w.dataEnd {
		moved = w.slide()
	}
	for range maxIdle {
		n, err := w.r.Read(w.buf[w.end:])
		w.err = err
		if n > 0 {
			w.wide = w.wide || n == len(w.buf)-w.end
			w.at = w.stamp()
			w.reads++
			w.total += int64(n)
			w.end += n
			return moved, nil
		}
		if err != nil {
			return moved, err
		}
	}
	w.err = io.ErrNoProgress
	return moved, w.err
}

// slide moves the held data and the bytes not looked at to the start of the
// buffer, and makes it larger when that is not enough.
func (w *window) slide() (moved int) {
	held, rest := w.dataEnd-w.data, w.end-w.pos
	to := w.buf
	switch need := held + rest + minRoom; {
	case need > len(to):
		to = make([]byte, max(firstSize, need, 2*len(to)))
	case w.wide && len(to) < wideSize:
		to = make([]byte, wideSize)
	}
	copy(to, w.buf[w.data:w.dataEnd])
	copy(to[held:], w.buf[w.pos:w.end])
	moved = w.pos - held
	w.buf, w.data, w.dataEnd = to, 0, held
	w.pos, w.end = held, held+rest
	return moved
}

// event gives the held data as an event.
func (w *window) event(name []byte) Event {
	e := Event{Name: name, Data: w.buf[w.data:w.dataEnd:w.dataEnd], At: w.at, Coalesced: w.last == w.reads}
	w.last = w.reads
	return e
}
