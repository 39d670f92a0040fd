// Package sse cuts a response body into events and stamps each with the read
// that completed it. [Reader] follows the WHATWG rules for event streams
// (https://html.spec.whatwg.org/multipage/server-sent-events.html, "Parsing an
// event stream"); [Lines] reads newline-delimited JSON and [Body] takes the
// whole body as one event, so that a client treats all framings alike.
//
// None of them asks for a byte that it does not need: an event is returned
// when its last byte is there, without another read.
package sse

import (
	"errors"
	"io"
)

// DefaultMaxEvent is the largest event, in bytes, where no other bound is set.
const DefaultMaxEvent = 8 << 20

// ErrTooLarge is wrapped by the error for an event or line over the bound.
var ErrTooLarge = errors.New("event too large")

// Event is one event of a body.
type Event struct {
	Name []byte // type of the event ("event:" field), empty when it has none; valid until the next call of Next
	Data []byte // its data; valid until the next call of Next

	// At is the stamp taken right after the read that brought the event's
	// last byte.
	At int64
	// Coalesced says that the same read completed the event before, so that
	// both have one stamp.
	Coalesced bool
	// Unterminated says that the body ended before the event did: its blank
	// line or line end is missing.
	Unterminated bool
}

// Stream is a body, event by event. Its zero value is not ready: use the
// constructors, or Reset.
type Stream interface {
	// Next gives the next event, or io.EOF after the last one of a body that
	// ended cleanly, or the error of the read that failed. Events that were
	// complete before the failure come first, and the error then stays.
	Next() (Event, error)
	// Reset starts on a new body and keeps the memory. stamp is called after
	// each read that brought bytes.
	Reset(r io.Reader, stamp func() int64)
	// Bytes is the number of bytes read from the body so far.
	Bytes() int64
	// Ignored gives the number of lines that are no part of any event, and
	// the start of their text (at most [MaxExcerpt] bytes, lines joined by
	// newline, not made safe to print). A body with such lines and no event
	// is no event stream, whatever its headers say.
	Ignored() (lines int, excerpt []byte)
}

// MaxExcerpt bounds what is kept of ignored lines, in bytes. It leaves room
// for a whole error object.
const MaxExcerpt = 4 << 10
