package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

const (
	maxQuote  = 200 // bytes of an answer that a message repeats
	maxHeader = 64  // bytes of a header's value in a message
)

// fail ends the record with a failure. The phase is how far the request had
// come; what it brought until then stays.
func (s *Slot) fail(class string, at int64, message string) {
	s.rec.Class, s.rec.Done = class, at
	s.rec.Phase = s.watch.phase()
	s.rec.Message = s.c.redact.clean(message, maxMessage)
}

// stopped reports whether the request was ended from this side, and if so
// ends the record: by a time-out, or by the caller.
func (s *Slot) stopped(ctx context.Context) bool {
	if phase := s.watch.stop(); phase != "" {
		s.fail(record.ClassTimeout, s.c.now(), s.late(phase))
		s.rec.Phase = phase
		return true
	}
	if ctx.Err() != nil {
		s.fail(record.ClassCancelled, s.c.now(), "cancelled: "+context.Cause(ctx).Error())
		return true
	}
	return false
}

// late says which limit passed.
func (s *Slot) late(phase string) string {
	t := s.c.cfg.Timeouts
	switch phase {
	case record.PhaseConnect:
		return fmt.Sprintf("no connection within %v", min(t.Connect, t.FirstToken))
	case record.PhaseHeaders:
		return fmt.Sprintf("no answer within %v", t.FirstToken)
	case record.PhaseFirstToken:
		return fmt.Sprintf("no token within %v, though the answer had begun", t.FirstToken)
	case record.PhaseBetweenTokens:
		return fmt.Sprintf("nothing for %v after token event %d", t.BetweenTokens, s.rec.TokenEvents)
	default:
		return fmt.Sprintf("not at its end within %v, after %d token events", t.Total, s.rec.TokenEvents)
	}
}

// unsent judges a request that got no answer.
func (s *Slot) unsent(ctx context.Context, err error) {
	if s.stopped(ctx) {
		if s.rec.Phase == record.PhaseConnect {
			s.transport.CloseIdleConnections() // ends the dial that nobody waits for
		}
		return
	}
	now := s.c.now()
	switch {
	case s.conn == nil:
		s.fail(record.ClassConnect, now, unconnected(err))
		if outOfFiles(err) && s.rec.Part != record.Warmup {
			s.c.outOfFiles.Add(1)
		}
		s.rec.Phase = record.PhaseConnect // also when an attempt before had a connection
	case s.firstByte.Load() && !lost(err) && s.conn.ended.Load() == 0:
		s.fail(record.ClassMalformed, now, "the answer is no HTTP: "+err.Error())
	default:
		s.fail(record.ClassReset, now, "the connection was closed before an answer: "+err.Error())
	}
}

// unconnected puts the one riddle among the causes into words.
func unconnected(err error) string {
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok && string(e.RecordHeader[:]) == "HTTP/" {
		return "the server speaks http, not https: " + err.Error()
	}
	return err.Error()
}

// outOfFiles reports whether there was no connection because this process may
// open no more files. A failed look-up has the cause as text only.
func outOfFiles(err error) bool {
	dns, is := errors.AsType[*net.DNSError](err)
	return errors.Is(err, syscall.EMFILE) || is && strings.Contains(dns.Err, syscall.EMFILE.Error())
}

// OutOfFiles is how many requests of the load got no connection because this
// process may open no more files.
func (c *Client) OutOfFiles() int { return int(c.outOfFiles.Load()) }

// lost reports whether err is the end of a connection, and not what came over
// it.
func lost(err error) bool {
	for _, is := range []error{io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed, syscall.ECONNRESET, syscall.EPIPE} {
		if errors.Is(err, is) {
			return true
		}
	}
	_, op := errors.AsType[*net.OpError](err)
	return op
}

// refused judges an answer that is no 2xx.
func (s *Slot) refused(ctx context.Context, resp *http.Response) {
	var b strings.Builder
	b.WriteString("HTTP " + strconv.Itoa(resp.StatusCode))
	if text := http.StatusText(resp.StatusCode); text != "" {
		b.WriteString(" " + text)
	}
	// Ahead of the server's text, which may be long.
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		b.WriteString(" to " + s.c.redact.clean(to, maxQuote) + ", not followed")
	}
	if after := resp.Header.Get("Retry-After"); after != "" {
		b.WriteString(", Retry-After: " + s.c.redact.clean(after, maxHeader))
	}
	st := &s.stream
	at := s.arrival()
	if resp.StatusCode == http.StatusSwitchingProtocols {
		st.body.err = errNoEvents // the connection is no HTTP any more: close it
	} else if err := st.body.reset(resp); err == nil {
		s.watch.within(drainTime) // the failure is known: its text is not worth a time-out
		if text := wire.ErrorMessage(s.whole()); text != "" {
			b.WriteString(": " + text)
		}
		s.rec.Bytes = st.body.n
		at = max(at, s.arrival())
	}
	if ctx.Err() != nil && s.stopped(ctx) {
		return
	}
	s.fail(record.ClassStatus, at, b.String())
}

// whole is the body, or its start, without secrets: before it is cut, so that
// no part of one is left.
func (s *Slot) whole() []byte {
	return bytes.TrimSpace([]byte(s.c.redact.secretsOut(string(s.stream.body.rest())))) // how much white space leads depends on the reads
}

// noStream judges a body that begins as JSON or markup does. An error object
// is one whatever the status; a whole answer means that the server does not
// stream, so that none of what a stream is measured for exists.
func (s *Slot) noStream(ctx context.Context, resp *http.Response) {
	text := s.whole()
	if err := s.stream.body.err; err != nil && err != io.EOF {
		s.broken(ctx, err)
		return
	}
	at := s.exchange.end()
	var ev wire.Event
	err := s.c.cfg.Dialect.Decode(nil, text, &ev)
	kind := resp.Header.Get("Content-Type")
	switch {
	case err == nil && ev.Failed:
		s.fail(record.ClassStreamError, at, ev.Error)
	case err == nil:
		s.fail(record.ClassMalformed, at, fmt.Sprintf("the server did not stream (Content-Type %q): %s", kind, s.quote(text)))
	default:
		s.fail(record.ClassMalformed, at, fmt.Sprintf("no event stream (Content-Type %q): %s", kind, wire.ErrorMessage(text)))
	}
}

// broken judges a body that could not be read on: since reading failed, or
// since what came cannot be taken apart.
func (s *Slot) broken(ctx context.Context, err error) {
	raw := s.stream.body.err
	// A decompressor tells of any end that comes too early in its own way.
	early := raw == io.EOF && err == io.ErrUnexpectedEOF
	failed := early || raw != nil && errors.Is(err, raw)
	switch {
	case failed && s.stopped(ctx):
	case failed && (early || lost(raw)):
		s.fail(record.ClassTruncated, s.c.now(), fmt.Sprintf("the connection broke after %d events: %v", s.rec.DataEvents, err))
	default:
		s.fail(record.ClassMalformed, s.arrival(), err.Error())
	}
}

// unfinished judges a body that ended cleanly, without an end mark and without
// a finish reason.
func (s *Slot) unfinished(resp *http.Response) {
	at := s.exchange.end()
	if message, found := s.aside(); found {
		s.fail(record.ClassStreamError, at, message)
		return
	}
	lines, excerpt := s.stream.events.Ignored()
	if lines > 0 && s.rec.DataEvents == 0 {
		s.fail(record.ClassMalformed, at, fmt.Sprintf("no event stream (Content-Type %q): %s", resp.Header.Get("Content-Type"), s.quote(excerpt)))
		return
	}
	reason := "finish reason"
	if s.stream.finished {
		reason += " of each choice"
	}
	s.fail(record.ClassTruncated, at, fmt.Sprintf("the answer ended after %d events, without %s and end mark%s", s.rec.DataEvents, reason, s.beside()))
}

// mayBeCut reports whether data can be the start of an event. In an event
// stream a field said that it is; a line has to look like it.
func (st *stream) mayBeCut(data []byte) bool {
	return st.body.want != sniffLines || len(data) > 0 && strings.IndexByte(`{["`, data[0]) >= 0
}

// aside finds an error that the server put beside its events: an error object,
// or the line "error: {...}" of llama-server until 2025, which sends "[DONE]"
// after it all the same.
func (s *Slot) aside() (message string, found bool) {
	lines, excerpt := s.stream.events.Ignored()
	if lines == 0 {
		return "", false
	}
	for line := range bytes.Lines(excerpt) {
		object, is := bytes.CutPrefix(line, []byte("error:"))
		if object = bytes.TrimSpace(object); is && bytes.HasPrefix(object, []byte("{")) {
			return wire.ErrorMessage([]byte(s.c.redact.secretsOut(string(object)))), true
		}
	}
	if i := bytes.IndexByte(excerpt, '{'); i >= 0 {
		var ev wire.Event
		if s.c.cfg.Dialect.Decode(nil, excerpt[i:], &ev) == nil && ev.Failed {
			return ev.Error, true
		}
	}
	return "", false
}

// beside tells of the lines beside the events.
func (s *Slot) beside() string {
	lines, excerpt := s.stream.events.Ignored()
	if lines == 0 {
		return ""
	}
	return fmt.Sprintf(", with %d lines that are no event: %s", lines, s.quote(excerpt))
}

// quote repeats the start of what a server sent. Secrets are taken out before
// it is cut, so that no part of one is left.
func (s *Slot) quote(b []byte) string {
	return bound(s.c.redact.secretsOut(string(b[:min(len(b), maxWhole)])), maxQuote)
}

func because(rec *record.Record) string {
	if rec.FinishReason == "" {
		return ""
	}
	return ", finish reason " + rec.FinishReason
}

func short(got, asked int64) string {
	return fmt.Sprintf("%d of %d tokens, though EOS is ignored", got, asked)
}
