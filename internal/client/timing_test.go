package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

const ms = int64(time.Millisecond)

// bubble runs f in a bubble with a slot whose connections handle serves. Time
// stands still there unless somebody sleeps, so that all stamps are exact.
func bubble(t *testing.T, cfg Config, handle func(p *peer), f func(t *testing.T, s *Slot, net *pipes)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := &pipes{handle: handle}
		if cfg.Dial == nil {
			cfg.Dial = network.dial
		}
		if cfg.URL == "" {
			cfg.URL = "http://model.example/v1/chat/completions"
		}
		c := start(t, cfg)
		defer network.all.Wait() // a bubble must not end before its goroutines
		defer c.Close()
		f(t, c.NewSlot(), network)
	})
}

// paced sends a chunk at each time, in milliseconds after the request.
type paced struct {
	at   int64
	text string
}

func (p *peer) pace(head string, steps ...paced) {
	begin := time.Now()
	p.send(head)
	for _, s := range steps {
		time.Sleep(time.Duration(s.at*ms) - time.Since(begin))
		p.send(s.text)
	}
}

// A role event at 50 ms; 41 token events every 20 ms from 200 to 1000 ms, the
// first 10 of them reasoning; an empty finish event at 1010; usage and the end
// mark at 1015; the body's end at 1020.
func workedExample() []paced {
	steps := []paced{{50, chunk(role)}}
	for i := range int64(41) {
		text := tok("a")
		if i < 10 {
			text = think("h")
		}
		steps = append(steps, paced{200 + 20*i, chunk(text)})
	}
	return append(steps, paced{1010, chunk(stop)}, paced{1015, chunk(use(100, 41) + done)}, paced{1020, last})
}

func TestWorkedExample(t *testing.T) {
	serveExample := func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.pace(head, workedExample()...)
		}
	}
	bubble(t, Config{}, serveExample, func(t *testing.T, s *Slot, net *pipes) {
		for i := range 2 {
			begin := int64(time.Since(s.c.cfg.Epoch))
			final := post(t.Context(), s, Call{}, 41)
			require.Equal(t, begin+1015*ms, int64(time.Since(s.c.cfg.Epoch)), "the next request may be sent")
			rec := <-final
			require.Equal(t, begin+1020*ms, int64(time.Since(s.c.cfg.Epoch)))
			want := &record.Record{
				AskedTokens: 41,
				Scheduled:   record.Absent,
				Ready:       record.Absent,
				Sent:        rec.Sent, Wrote: rec.Sent, Connected: rec.Sent, Headers: rec.Sent,
				FirstEvent: rec.Sent + 50*ms, FirstToken: rec.Sent + 200*ms, SecondToken: rec.Sent + 220*ms,
				FirstAnswer: rec.Sent + 400*ms, LastToken: rec.Sent + 1000*ms,
				UsageAt: rec.Sent + 1015*ms, Done: rec.Sent + 1015*ms, BodyEnd: rec.Sent + 1020*ms,
				DNS: record.Absent, Dial: []int64{0, record.Absent}[i], TLS: record.Absent, Reused: i == 1,
				Status: 200, FinishReason: "stop",
				InputTokens: 100, OutputTokens: 41, CachedTokens: record.Absent, ReasoningTokens: record.Absent, AudioTokens: record.Absent, InputAudio: record.Absent,
				InputSource: record.SourceUsage, OutputSource: record.SourceUsage,
				DataEvents: 45, TokenEvents: 41, Coalesced: 1, MaxGap: 20 * ms,
				Bytes:  int64(len(role) + 10*len(think("h")) + 31*len(tok("a")) + len(stop) + len(use(100, 41)) + len(done)),
				Events: rec.Events,
			}
			require.Equal(t, begin, rec.Sent)
			if diff := cmp.Diff(want, rec); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			require.Equal(t, 200*ms, rec.TTFT())
			require.Equal(t, 400*ms, rec.TTFA())
			require.Equal(t, 1015*ms, rec.Latency())
			require.Equal(t, float64(20*ms), rec.TPOT())
			require.Equal(t, "c"+strings.Repeat("r", 10)+strings.Repeat("a", 31)+"fue", letters(rec.Events))
			require.Equal(t, rec.Sent+50*ms, rec.Events[0].At)
			require.Equal(t, rec.Sent+1010*ms, rec.Events[42].At)
			require.NotZero(t, rec.Events[44].Kind&record.KindCoalesced)
		}
	})
}

func TestTimeouts(t *testing.T) {
	limits := Timeouts{Connect: time.Second, FirstToken: 5 * time.Second, BetweenTokens: 2 * time.Second, Total: 20 * time.Second}
	hang := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for name, c := range map[string]struct {
		limits Timeouts
		dial   func(context.Context, string, string) (net.Conn, error)
		handle func(p *peer)
		phase  string
		at     int64 // milliseconds
		tokens int
		says   string
	}{
		"connect":  {dial: hang, phase: "connect", at: 1000, says: "no connection within 1s"},
		"headers":  {handle: func(p *peer) {}, phase: "headers", at: 5000, says: "no answer within 5s"},
		"comments": {handle: func(p *peer) { p.pace(head, paced{1000, chunk(":\n\n")}, paced{4000, chunk(role)}) }, phase: "first-token", at: 5000, says: "no token within 5s"},
		"headers late": {handle: func(p *peer) { time.Sleep(4 * time.Second); p.send(head) }, phase: "first-token", at: 5000,
			says: "no token within 5s"},
		"between, early": {handle: func(p *peer) { p.pace(head, paced{100, chunk(tok("a"))}) }, phase: "between-tokens", at: 2100, tokens: 1,
			says: "nothing for 2s after token event 1"},
		"between, late": {handle: func(p *peer) {
			p.pace(head, paced{4999, chunk(tok("a"))}, paced{6998, chunk(tok("a"))}, paced{8997, chunk(tok("a"))}, paced{9500, chunk(":\n\n")})
		}, phase: "between-tokens", at: 10997, tokens: 3, says: "nothing for 2s after token event 3"},
		"after the finish reason": {handle: func(p *peer) { p.pace(head, paced{100, chunk(tok("a") + stop)}) }, phase: "between-tokens", at: 2100, tokens: 1,
			says: "nothing for 2s after token event 1"},
		"total": {handle: func(p *peer) {
			p.send(head)
			time.Sleep(500 * time.Millisecond)
			for {
				p.send(chunk(tok("a")))
				time.Sleep(time.Second)
				if _, err := p.Write(nil); err != nil {
					return
				}
			}
		}, phase: "total", at: 20000, tokens: 20, says: "not at its end within 20s, after 20 token events"},
		"total first": {limits: Timeouts{Connect: time.Second, FirstToken: 5 * time.Second, BetweenTokens: time.Second, Total: 3 * time.Second},
			handle: func(p *peer) {}, phase: "total", at: 3000, says: "not at its end within 3s"},
		"first token before connect": {limits: Timeouts{Connect: 9 * time.Second, FirstToken: 5 * time.Second, BetweenTokens: time.Second, Total: 30 * time.Second},
			dial: hang, phase: "connect", at: 5000, says: "no connection within 5s"},
		"half an error object": {handle: func(p *peer) { p.send(head + chunk(`{"error":`)) }, phase: "first-token", at: 5000, says: "no token within 5s"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.limits == (Timeouts{}) {
				c.limits = limits
			}
			handle := func(p *peer) {
				if _, ok := p.request(); ok {
					c.handle(p)
					p.request()
				}
			}
			bubble(t, Config{Dial: c.dial, Timeouts: c.limits}, handle, func(t *testing.T, s *Slot, _ *pipes) {
				rec := do(t.Context(), s, Call{}, 0)
				require.Equal(t, "timeout", rec.Class)
				require.Equal(t, c.phase, rec.Phase)
				require.Equal(t, c.at, rec.Done/ms)
				require.Zero(t, rec.Done%ms)
				require.Equal(t, c.tokens, rec.TokenEvents)
				require.Contains(t, rec.Message, c.says)
				require.Equal(t, time.Duration(rec.Done), time.Since(s.c.cfg.Epoch))
			})
		})
	}
}

// One timer serves request after request: none inherits another's limit.
func TestTimeoutsStartAnew(t *testing.T) {
	limits := Timeouts{Connect: time.Second, FirstToken: 5 * time.Second, BetweenTokens: time.Second, Total: 8 * time.Second}
	handle := func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.pace(head, paced{4900, chunk(tok("a"))}, paced{5800, chunk(tok("a"))}, paced{6700, chunk(stop+done) + last})
		}
	}
	bubble(t, Config{Timeouts: limits}, handle, func(t *testing.T, s *Slot, net *pipes) {
		for i := range int64(20) {
			rec := do(t.Context(), s, Call{}, 0)
			require.Empty(t, rec.Message)
			require.Equal(t, (i+1)*6700*ms, rec.Done)
		}
		require.EqualValues(t, 1, net.conns.Load())
	})
}

// The text of a refusal is worth a second, not a time-out, and the failure
// stays what it is.
func TestStalledRefusal(t *testing.T) {
	handle := func(p *peer) {
		p.request()
		p.send("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 99\r\n\r\nno model")
		p.request()
	}
	bubble(t, Config{}, handle, func(t *testing.T, s *Slot, _ *pipes) {
		rec := do(t.Context(), s, Call{}, 0)
		require.Equal(t, "status", rec.Class)
		require.Equal(t, "HTTP 503 Service Unavailable: no model", rec.Message)
		require.Equal(t, time.Second, time.Since(s.c.cfg.Epoch))
	})
}

func TestCancelled(t *testing.T) {
	for phase, answer := range map[string]string{
		"headers": "", "first-token": head + chunk(role), "between-tokens": head + chunk(tok("a")),
	} {
		t.Run(phase, func(t *testing.T) {
			handle := func(p *peer) {
				p.request()
				p.send(answer)
				p.request()
			}
			bubble(t, Config{}, handle, func(t *testing.T, s *Slot, _ *pipes) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(errors.New("enough")) })
				rec := do(ctx, s, Call{}, 0)
				require.Equal(t, "cancelled", rec.Class)
				require.Equal(t, phase, rec.Phase)
				require.Equal(t, "cancelled: enough", rec.Message)
				require.Equal(t, 3000*ms, rec.Done)

				rec = do(ctx, s, Call{}, 0) // already cancelled
				require.Equal(t, "cancelled", rec.Class)
				require.Equal(t, 3000*ms, rec.Sent)
				require.Equal(t, 3000*ms, rec.Done)
			})
		})
	}
}

// Headers may come long before the first token, or nothing at all while the
// request waits in the server's queue.
func TestPhasesHaveTheirOwnStamps(t *testing.T) {
	handle := func(p *peer) {
		p.request()
		time.Sleep(20 * time.Second)
		p.pace(head, paced{5000, chunk(role + tok("a"))}, paced{5030, chunk(tok("b"))}, paced{5090, chunk(tok("c"))}, paced{5100, chunk(stop)}, paced{5200, last})
	}
	bubble(t, Config{}, handle, func(t *testing.T, s *Slot, network *pipes) {
		s.c.cfg.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
			time.Sleep(7 * time.Millisecond)
			return network.dial(ctx, n, a)
		}
		time.Sleep(time.Second)
		rec := do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		got := fmt.Sprint(rec.Sent/ms, rec.Dial/ms, rec.Connected/ms, rec.Wrote/ms, rec.Headers/ms, rec.FirstEvent/ms, rec.FirstToken/ms, rec.SecondToken/ms, rec.LastToken/ms, rec.MaxGap/ms, rec.Done/ms)
		// Without an end mark the answer is done when the body is.
		require.Equal(t, "1000 7 1007 1007 21007 26007 26007 26037 26097 60 26207", got)
		require.Equal(t, rec.Done, rec.BodyEnd)
	})
}
