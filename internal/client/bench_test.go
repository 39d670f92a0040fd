package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

// memory is a connection that answers each request from memory.
type memory struct {
	net.Conn // nil: deadlines are not used
	answer   []byte
	perRead  int  // bytes that a read brings at most
	single   bool // ends after one answer

	asked  chan struct{}
	rest   []byte
	closed chan struct{}
	once   sync.Once
}

func newMemory(answer []byte, perRead int) *memory {
	return &memory{answer: answer, perRead: perRead, asked: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Write takes a request, which ends with the body "{}".
func (m *memory) Write(p []byte) (int, error) {
	if bytes.HasSuffix(p, []byte("{}")) {
		m.asked <- struct{}{}
	}
	return len(p), nil
}

func (m *memory) Read(p []byte) (int, error) {
	if len(m.rest) == 0 {
		if m.single && m.answer == nil {
			return 0, io.EOF
		}
		select {
		case <-m.asked:
			m.rest = m.answer
			if m.single {
				m.answer = nil
			}
			if len(m.rest) == 0 {
				return 0, io.EOF
			}
		case <-m.closed:
			return 0, io.EOF
		}
	}
	n := copy(p[:min(len(p), m.perRead)], m.rest)
	m.rest = m.rest[n:]
	return n, nil
}

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (m *memory) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (m *memory) SetDeadline(time.Time) error      { return nil }
func (m *memory) SetReadDeadline(time.Time) error  { return nil }
func (m *memory) SetWriteDeadline(time.Time) error { return nil }

// fromMemory is a slot whose answers have that many token events.
func fromMemory(t testing.TB, events, perRead int) *Slot {
	parts := append([]string{role}, repeat(tok("hello"), events)...)
	answer := []byte(streamOf(append(parts, stop, use(3, events), done)...))
	c := start(t, Config{
		URL: "http://model.example/v1/chat/completions",
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return newMemory(answer, perRead), nil
		},
	})
	return c.NewSlot()
}

func (s *Slot) ask(ctx context.Context, rec *record.Record) {
	rec.Reset()
	s.Do(ctx, Call{Body: []byte("{}")}, rec, func(*record.Record) {})
}

// BenchmarkDo measures whole requests over a connection in memory: what the
// client and net/http cost without the kernel. A small read is one event, as a
// server that is slower than the client sends them.
func BenchmarkDo(b *testing.B) {
	for _, events := range []int{1, 128, 1000} {
		for _, perRead := range []int{128, 64 << 10} {
			b.Run(fmt.Sprintf("events=%d/read=%d", events, perRead), func(b *testing.B) {
				s := fromMemory(b, events, perRead)
				rec := new(record.Record)
				s.ask(b.Context(), rec)
				require.Empty(b, rec.Message)
				require.Equal(b, events, rec.TokenEvents)
				b.ReportAllocs()
				for b.Loop() {
					s.ask(b.Context(), rec)
				}
				b.ReportMetric(float64(b.N)*float64(rec.DataEvents)/b.Elapsed().Seconds(), "events/s")
			})
		}
	}
}

// An event costs no allocation: a stream of a thousand takes as many as one of
// ten.
func TestNoAllocationPerEvent(t *testing.T) {
	measure := func(events, perRead int) float64 {
		s := fromMemory(t, events, perRead)
		rec := new(record.Record)
		for range 3 {
			s.ask(t.Context(), rec)
			require.Empty(t, rec.Message)
		}
		return testing.AllocsPerRun(20, func() { s.ask(t.Context(), rec) })
	}
	for _, perRead := range []int{128, 64 << 10} {
		few, many := measure(10, perRead), measure(1010, perRead)
		require.Less(t, (many-few)/1000, 0.01, "allocations an event: %v for 10 events, %v for 1010", few, many)
	}
}

// BenchmarkBare is what net/http alone costs on the same answers, read and
// thrown away: the limit for BenchmarkDo.
func BenchmarkBare(b *testing.B) {
	for _, events := range []int{1, 128, 1000} {
		b.Run(fmt.Sprintf("events=%d", events), func(b *testing.B) {
			s := fromMemory(b, events, 64<<10)
			buf := make([]byte, 4096)
			b.ReportAllocs()
			for b.Loop() {
				req := s.c.post.WithContext(b.Context())
				req.Body, req.ContentLength = io.NopCloser(bytes.NewReader([]byte("{}"))), 2
				resp, err := s.transport.RoundTrip(req)
				require.NoError(b, err)
				for err == nil {
					_, err = resp.Body.Read(buf)
				}
				resp.Body.Close()
			}
			b.ReportMetric(float64(b.N)*float64(events+4)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
