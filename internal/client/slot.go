package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"sync/atomic"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/sse"
	"github.com/slogate/slogate/internal/wire"
)

// Call is one request.
type Call struct {
	// Body is the encoded body. It must not be changed afterwards, not even
	// when Do has returned: a server may answer before it has read all of it.
	Body []byte
	// IgnoreEOS says that the request asks for exactly as many tokens as the
	// record's AskedTokens, for each choice.
	IgnoreEOS bool
	// N is the number of choices asked for, over all prompts; 0 means one.
	N int
	// Prompts is the number of prompts in the request; 0 means one. Choices
	// come in their order: the first N/Prompts are those of the first.
	Prompts int
	// KeepAnswer keeps the text of the answer for [Slot.Answer].
	KeepAnswer bool
	// FirstToken, when set, is called in Do when the first token has come.
	FirstToken func()
}

// Slot sends one request after another, over connections of its own. It is
// not safe for concurrent use.
type Slot struct {
	c         *Client
	transport *http.Transport
	trace     httptrace.ClientTrace
	watch     watch
	drains    drains
	lags      lags
	spare     spare
	handshake handshake

	// Of the request under way.
	rec       *record.Record
	conn      *conn
	exchange  exchange
	old       bool        // the connection was there before the request
	answered  bool        // the request succeeded
	firstByte atomic.Bool // a byte of an answer came
	stream    stream
}

// NewSlot makes a slot: one of a closed loop, or a worker of an open one.
func (c *Client) NewSlot() *Slot {
	s := &Slot{c: c, handshake: handshake{dur: record.Absent}}
	s.transport = c.transport(&s.lags, &s.spare)
	s.watch.limits = c.cfg.Timeouts
	s.watch.now = c.now
	s.trace = httptrace.ClientTrace{
		GotConn:              s.gotConn,
		GotFirstResponseByte: func() { s.firstByte.Store(true) },
		TLSHandshakeStart:    func() { s.handshake.begin(c.now()) },
		TLSHandshakeDone:     func(tls.ConnectionState, error) { s.handshake.end(c.now()) },
	}
	switch c.cfg.Dialect.Framing() {
	case wire.NDJSON:
		s.stream.events = new(sse.Lines)
		s.stream.body.want = sniffLines
	case wire.JSON:
		s.stream.events = new(sse.Body)
		s.stream.whole = true
	default:
		s.stream.events = new(sse.Reader)
		s.stream.body.want = sniffEvents
	}
	s.stream.stamp = s.arrival
	s.stream.decoder = wire.NewDecoder(c.cfg.Dialect)
	s.stream.textOf, _ = wire.AsTexter(c.cfg.Dialect)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slots = append(c.slots, s)
	if !c.hushed {
		c.hushed = true
		hush()
	}
	return s
}

// Do sends call and writes into rec what happened. The caller has reset rec
// and set what the plan knows of the request; Do sets all else. A request that
// fails is no error of Do's: rec.Class says so.
//
// Do returns when the answer's end mark is there or the request has failed, so
// that the next request may be sent. What may be left of the body is read
// beside that one, for a second at most. done gets rec, once, when it is final:
// within Do if the request has failed or nothing is left, else from another
// goroutine when the body's end is known, or given up. Until then nobody else
// may touch rec. The end of ctx after Do's return changes nothing.
//
// A request that fails on a connection that was there before, ahead of any
// byte of an answer, is sent once more on a fresh one and counted in
// rec.Resent: a server may close an idle connection at any time, and
// llama-server does so after each stream. Sent is then that of the first
// attempt, and Wrote, Connected, Reused, DNS, Dial and TLS are those of the
// second.
func (s *Slot) Do(ctx context.Context, call Call, rec *record.Record, done func(*record.Record)) {
	s.drains.settle()
	parent := ctx
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(parent))
	if parent.Err() != nil {
		cancel(context.Cause(parent)) // at once: AfterFunc would leave time to send
	}
	detach := context.AfterFunc(parent, func() { cancel(context.Cause(parent)) })
	trace := s.trace // a copy, since WithClientTrace adds the context's hooks to it
	ctx = httptrace.WithClientTrace(ctx, &trace)

	s.rec, s.answered = rec, false
	s.stream.texter = nil
	if s.c.cfg.KeepText || call.KeepAnswer {
		s.stream.texter = s.stream.textOf
	}
	rec.Sent = s.c.now()
	s.watch.start(rec.Sent, cancel)
	resp, err := s.send(ctx, call.Body)
	if s.conn != nil {
		rec.Wrote = s.conn.wrote.Load()
	}
	if err != nil {
		s.unsent(parent, err)
		s.watch.stop()
		detach()
		cancel(nil)
		done(rec)
		return
	}
	rec.Headers = s.arrival()
	rec.Status = resp.StatusCode
	s.exchange.closes = resp.ContentLength < 0 && len(resp.TransferEncoding) == 0
	if resp.StatusCode/100 == 2 {
		s.watch.headers.Store(true)
		s.read(parent, resp, call)
	} else {
		s.refused(parent, resp)
	}
	s.watch.stop()
	detach()
	s.answered = rec.OK()
	s.leave(resp, cancel, done)
}

// Answer is the text of the last answer without its reasoning, where its
// [Call] kept it, and whether its request succeeded.
func (s *Slot) Answer() (text string, ok bool) {
	if !s.answered || s.stream.texter == nil {
		return "", s.answered
	}
	return string(s.stream.text.Answer), true
}

// leave parts with an answer: at its end or broken it is closed, else the rest
// of its body is read in the background, and if the request succeeded the
// record waits for that.
func (s *Slot) leave(resp *http.Response, cancel context.CancelCauseFunc, done func(*record.Record)) {
	rec, err := s.rec, s.stream.body.err
	if err == io.EOF {
		rec.BodyEnd = s.exchange.end()
	}
	waits := rec
	if err != nil || !rec.OK() {
		waits = nil
	}
	if err != nil || !s.drains.add(resp, s.exchange, cancel, waits, done) {
		resp.Body.Close()
		cancel(nil)
		waits = nil
	}
	if waits == nil {
		done(rec)
	}
}

// send gets an answer's headers.
func (s *Slot) send(ctx context.Context, body []byte) (*http.Response, error) {
	resp, err := s.attempt(ctx, body)
	if err == nil || !s.old || s.firstByte.Load() || ctx.Err() != nil {
		return resp, err
	}
	s.rec.Resent++
	s.drains.cancel() // so that none of them gives back a connection
	s.drains.wait(ctx)
	s.spare.drop()
	s.transport.CloseIdleConnections()
	return s.attempt(ctx, body)
}

// attempt sends the request once. Without GetBody net/http never sends a body
// again by itself, so that no attempt is hidden.
func (s *Slot) attempt(ctx context.Context, body []byte) (*http.Response, error) {
	s.conn, s.old = nil, false
	s.rec.Connected, s.rec.Reused = record.Absent, false
	s.firstByte.Store(false)
	req := s.c.post.WithContext(ctx) // a copy
	req.Body = io.NopCloser(bytes.NewReader(body))
	req.ContentLength = int64(len(body))
	return s.transport.RoundTrip(req)
}

// gotConn runs in the slot's own goroutine.
func (s *Slot) gotConn(info httptrace.GotConnInfo) {
	rec := s.rec
	s.conn = stamping(info.Conn)
	s.exchange = s.conn.begin()
	s.old = info.Reused || info.WasIdle || s.conn.doubted
	rec.Connected = s.c.now()
	rec.Reused = info.Reused
	rec.DNS, rec.Dial, rec.TLS = record.Absent, record.Absent, record.Absent
	// A dial that an earlier request began and left is no part of this one.
	if c := s.conn; !s.old && c.start >= rec.Sent {
		rec.DNS, rec.Dial = c.dns, c.dial
		if rec.TLS = c.tls; c.tls == record.Absent {
			rec.TLS = s.handshake.since(c.start)
		}
	}
	s.watch.connected.Store(true)
}

// arrival is when the bytes that were read last had come.
func (s *Slot) arrival() int64 { return s.conn.last.Load() }

// handshake times the TLS handshake; dials run in goroutines of their own.
type handshake struct {
	mu         sync.Mutex
	start, dur int64
}

func (h *handshake) begin(at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.start, h.dur = at, record.Absent
}

func (h *handshake) end(at int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dur = at - h.start
}

// since is the duration of a handshake that began at or after at.
func (h *handshake) since(at int64) int64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.dur == record.Absent || h.start < at {
		return record.Absent
	}
	return h.dur
}
