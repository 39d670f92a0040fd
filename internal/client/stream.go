package client

import (
	"context"
	"fmt"
	"io"
	"math/bits"
	"net/http"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/sse"
	"github.com/slogate/slogate/internal/wire"
)

// stream is the state of an answer between its events.
type stream struct {
	events sse.Stream
	taken  sse.Event // the one before
	body   body
	stamp  func() int64
	whole  bool // the body is one JSON value: it has an end, but no token times

	decoder   *wire.Decoder
	event     wire.Event
	reads     int64  // socket reads when the event before was complete
	finished  bool   // an event had a finish reason
	open      uint64 // choices of several that have output and no finish reason yet, bits as in wire.Event.Outputs
	silent    uint64 // choices of several that have no output yet
	usage     tally
	lastUsage int64 // output tokens that the usage before told
	called    bool  // an event had the name of a tool call
	allUsage  bool  // each token event so far carried usage

	textOf wire.Texter // reads the texts of the dialect's answers; nil when it has none
	texter wire.Texter // the same for the answer under way; nil when its text is not kept
	text   wire.Text
}

// read takes the events of an answer up to its end.
func (s *Slot) read(ctx context.Context, resp *http.Response, call Call) {
	st := &s.stream
	st.reads, st.finished, st.open, st.silent = 0, false, 0, 0
	if call.N > 1 && !st.whole {
		s.expect(call.N)
	}
	st.usage.reset(call.N, call.Prompts)
	st.lastUsage, st.allUsage, st.called = 0, call.N <= 1, false
	if err := st.body.reset(resp); err != nil {
		s.coded(resp, err)
		return
	}
	st.events.Reset(&st.body, st.stamp)
	if st.texter != nil {
		st.text.Reset(call.N)
	}
	if err := s.follow(&call); err != nil {
		s.ended(ctx, resp, call, err)
	}
	st.usage.fill(s.rec)
	s.rec.Bytes = st.body.n
	if st.texter != nil && s.c.cfg.KeepText {
		s.rec.KeepTexts(st.text.Choices, !st.text.Partial)
	}
}

// follow takes the events up to the last one that matters, or to the error that
// ended them. Streams spend their time waiting in it: it is apart from read, and
// keeps nothing large, so that the stack of each stays small.
func (s *Slot) follow(call *Call) error {
	e := &s.stream.taken
	for {
		var err error
		if *e, err = s.stream.events.Next(); err != nil {
			return err
		}
		if s.take(e, call) {
			return nil
		}
	}
}

// coded judges an answer in a coding that was not asked for.
func (s *Slot) coded(resp *http.Response, err error) {
	coding := s.c.redact.clean(resp.Header.Get("Content-Encoding"), maxHeader)
	s.fail(record.ClassMalformed, s.arrival(), fmt.Sprintf("Content-Encoding %q %v", coding, err))
}

// take notes what an event carries, and reports whether it was the last one
// that matters.
func (s *Slot) take(e *sse.Event, call *Call) (last bool) {
	rec, st, ev := s.rec, &s.stream, &s.stream.event
	*ev = wire.Event{}
	err := st.decoder.Decode(e.Name, e.Data, ev)
	if err != nil {
		*ev = wire.Event{} // what was found before the fault is not to be trusted
	}
	kind := kindOf(ev)
	reads := s.conn.reads.Load()
	if rec.DataEvents > 0 && reads == st.reads {
		kind |= record.KindCoalesced
		rec.Coalesced++
	}
	st.reads = reads
	rec.DataEvents++
	if rec.FirstEvent == record.Absent && !st.whole {
		rec.FirstEvent = e.At
	}
	if s.output(e.At, kind) && call.FirstToken != nil {
		call.FirstToken()
	}
	if first := ev.Outputs & st.silent; first != 0 {
		s.firsts(e.At, first)
	}
	if call.N > 1 {
		st.open |= ev.Outputs
	}
	if ev.Finish != "" {
		st.finished = true
		if st.open &^= ev.Finished; ev.Finished == 0 {
			st.open = 0
		}
		rec.FinishReason = s.c.redact.clean(ev.Finish, maxFinish)
	}
	if st.texter != nil && (kind&record.KindOutput != 0 || ev.Called) {
		st.texter.AppendText(&st.text, e.Name, e.Data)
	}
	st.called = st.called || ev.Called
	tokens := st.tokens(ev, kind)
	if ev.HasUsage {
		st.usage.add(ev)
		rec.UsageAt = e.At
	}
	rec.Events = append(rec.Events, record.Event{At: e.At, Tokens: tokens, Kind: kind})
	switch {
	case err != nil && e.Unterminated && st.mayBeCut(e.Data):
		s.fail(record.ClassTruncated, e.At, "the answer ended inside an event: "+s.quote(e.Data))
	case err != nil:
		s.fail(record.ClassMalformed, e.At, err.Error()+": "+s.quote(e.Data))
	case ev.Failed:
		s.fail(record.ClassStreamError, e.At, ev.Error)
	case wire.Aborts(ev.Finish):
		s.fail(record.ClassStreamError, e.At, "finish reason "+ev.Finish)
	case ev.End:
		s.succeed(e.At, *call)
	case len(rec.Events) >= maxEvents:
		s.fail(record.ClassMalformed, e.At, fmt.Sprintf("the stream does not end: %d events", len(rec.Events)))
	default:
		return false
	}
	return true
}

const (
	maxFinish = 64      // bytes of a finish reason
	maxEvents = 1 << 20 // of one answer: a stream without end must not fill the memory
)

func kindOf(ev *wire.Event) (k record.Kind) {
	if ev.Choices {
		k |= record.KindChoices
	}
	if ev.Answer {
		k |= record.KindAnswer
	}
	if ev.Reasoning {
		k |= record.KindReasoning
	}
	if ev.Finish != "" {
		k |= record.KindFinish
	}
	if ev.HasUsage {
		k |= record.KindUsage
	}
	if ev.End {
		k |= record.KindEnd
	}
	if ev.NotText && ev.Answer {
		k |= record.KindNotText
	}
	return k
}

// output stamps a token event, and reports whether it was the first.
func (s *Slot) output(at int64, kind record.Kind) (first bool) {
	rec := s.rec
	if kind&record.KindOutput == 0 {
		return false
	}
	rec.TokenEvents++
	if s.stream.whole {
		return false
	}
	if kind&record.KindAnswer != 0 && rec.FirstAnswer == record.Absent {
		rec.FirstAnswer = at
	}
	switch rec.TokenEvents {
	case 1:
		rec.FirstToken = at
		s.watch.first(at)
	case 2:
		rec.SecondToken = at
		fallthrough
	default:
		rec.MaxGap = max(rec.MaxGap, at-rec.LastToken)
		s.watch.token.Store(at)
	}
	rec.LastToken = at
	return rec.TokenEvents == 1
}

// expect makes room for the first tokens of n choices.
func (s *Slot) expect(n int) {
	n = min(n, 64)
	s.stream.silent = ^uint64(0) >> (64 - n)
	for range n {
		s.rec.FirstTokens = append(s.rec.FirstTokens, record.Absent)
	}
}

// firsts stamps the first tokens of some choices.
func (s *Slot) firsts(at int64, choices uint64) {
	s.stream.silent &^= choices
	for ; choices != 0; choices &= choices - 1 {
		s.rec.FirstTokens[bits.TrailingZeros64(choices)] = at
	}
}

// tokens is how many output tokens the event carries: what the event says
// itself, else the growth of usage where each token event so far had usage that
// counts. An event of choices without output may carry some as well: the bytes
// of half a character, the end token.
func (st *stream) tokens(ev *wire.Event, kind record.Kind) int32 {
	n := max(int64(ev.Tokens), 0)
	if kind&record.KindOutput != 0 && (!ev.HasUsage || ev.Usage.Output <= 0) {
		st.allUsage = false
	}
	if ev.HasUsage && ev.Usage.Output >= 0 {
		if n == 0 && ev.Choices && st.allUsage {
			n = max(0, ev.Usage.Output-st.lastUsage)
		}
		st.lastUsage = ev.Usage.Output
	}
	return int32(min(n, 1<<30))
}

// succeed ends a record whose answer came to its end.
func (s *Slot) succeed(at int64, call Call) {
	rec, st := s.rec, &s.stream
	rec.Done = at
	st.usage.fill(rec)
	asked := int64(rec.AskedTokens) * int64(max(1, call.N))
	message, failed := s.aside()
	switch {
	case failed:
		s.fail(record.ClassStreamError, at, message)
	case rec.TokenEvents == 0 && !st.called:
		s.fail(record.ClassEmpty, at, "the answer ended without any output"+because(rec)+s.beside())
	case s.c.cfg.ShortIsFailure && call.IgnoreEOS && rec.OutputTokens >= 0 && rec.OutputTokens < asked:
		s.fail(record.ClassShort, at, short(rec.OutputTokens, asked)+because(rec))
	}
}

// ended judges a body that ended, or broke, without an end mark.
func (s *Slot) ended(ctx context.Context, resp *http.Response, call Call, err error) {
	st := &s.stream
	switch {
	case err == errNoEvents:
		s.noStream(ctx, resp)
	case err != io.EOF:
		s.broken(ctx, err)
	case st.finished && st.open == 0, st.whole && s.rec.DataEvents > 0 && !s.unended():
		s.succeed(s.exchange.end(), call)
	default:
		s.unfinished(resp)
	}
}

// unended reports whether a whole answer has output of which it does not say
// that it is all. Only what a stream could say as well has to.
func (s *Slot) unended() bool {
	return s.rec.TokenEvents > 0 && wire.IsWhole(s.c.cfg.Dialect) && (!s.stream.finished || s.stream.open != 0)
}
