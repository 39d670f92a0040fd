package client

import (
	"context"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

// A connection whose end comes late is not waited for, and used again later.
func TestLateEndDelaysNobody(t *testing.T) {
	answer := func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.pace(head, paced{10, chunk(tok("a") + stop + done)}, paced{510, last})
		}
	}
	bubble(t, Config{}, answer, func(t *testing.T, s *Slot, net *pipes) {
		var finals []<-chan *record.Record
		for range 4 {
			finals = append(finals, post(t.Context(), s, Call{}, 0))
		}
		s.c.Settle()
		require.EqualValues(t, 4, net.conns.Load())
		var sent, ends []int64
		for _, final := range finals {
			rec := <-final
			require.Empty(t, rec.Message)
			sent, ends = append(sent, rec.Sent), append(ends, rec.BodyEnd)
		}
		// 1 ms is waited once. No third end is waited for beside two others.
		require.Equal(t, []int64{0, 11 * ms, 21 * ms, 31 * ms}, sent)
		require.Equal(t, []int64{510 * ms, 521 * ms, record.Absent, record.Absent}, ends)
		require.Equal(t, 521*time.Millisecond, time.Since(s.c.cfg.Epoch))
		rec := do(t.Context(), s, Call{}, 0)
		require.True(t, rec.Reused)
		require.Equal(t, rec.Sent+510*ms, rec.BodyEnd)
		require.EqualValues(t, 4, net.conns.Load())
	})
}

// The end of a body is its own even where the next request has the connection
// before anybody could look.
func TestEndOfTheExchangeBefore(t *testing.T) {
	c := new(conn)
	first := c.begin()
	c.last.Store(7)
	require.EqualValues(t, 7, first.end())
	second := c.begin()
	c.last.Store(9)
	require.EqualValues(t, 7, first.end())
	require.EqualValues(t, 9, second.end())
	c.begin()
	require.Equal(t, record.Absent, first.end())
	require.EqualValues(t, 9, second.end())
}

// The end of the caller's context after Do does not cost a body its end.
func TestEndAfterTheContext(t *testing.T) {
	answer := func(p *peer) {
		p.request()
		p.pace(head, paced{10, chunk(tok("a") + stop + done)}, paced{20, last})
	}
	bubble(t, Config{}, answer, func(t *testing.T, s *Slot, net *pipes) {
		ctx, cancel := context.WithCancel(t.Context())
		final := post(ctx, s, Call{}, 0)
		cancel()
		s.c.Settle()
		require.Equal(t, 20*ms, (<-final).BodyEnd)
	})
}

// What never ends is given up after a second.
func TestEndlessRestIsGivenUp(t *testing.T) {
	gone := make(chan time.Time, 1)
	answer := func(p *peer) {
		p.request()
		p.send(head, chunk(tok("a")+stop+done))
		p.request() // blocks until the client closes
		gone <- time.Now()
	}
	synctest.Test(t, func(t *testing.T) {
		gone = make(chan time.Time, 1)
		network := &pipes{handle: answer}
		c := start(t, Config{URL: "http://model.example/", Dial: network.dial})
		defer network.all.Wait()
		rec := do(t.Context(), c.NewSlot(), Call{}, 0)
		require.Empty(t, rec.Message)
		require.Equal(t, record.Absent, rec.BodyEnd)
		require.Equal(t, time.Second, (<-gone).Sub(c.cfg.Epoch))
	})
}

// stuck is a connection that does not let go of its reader when it is closed.
type stuck struct {
	net.Conn
	free chan struct{}
}

func (s stuck) Read(p []byte) (int, error) {
	n, err := s.Conn.Read(p)
	if err != nil {
		<-s.free
	}
	return n, err
}

// Whatever happens, Close does not wait for long and leaves no record behind.
func TestCloseHandsOver(t *testing.T) {
	answer := func(p *peer) {
		p.request()
		p.send(head, chunk(tok("a")+stop+done))
		p.request()
	}
	for name, c := range map[string]struct {
		stuck bool
		takes time.Duration
	}{"the rest": {false, 0}, "a reader that hangs": {true, closeWait}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{}, answer, func(t *testing.T, s *Slot, network *pipes) {
				free := make(chan struct{})
				if c.stuck {
					s.c.cfg.Dial = func(ctx context.Context, n, a string) (net.Conn, error) {
						nc, err := network.dial(ctx, n, a)
						return stuck{nc, free}, err
					}
				}
				final := post(t.Context(), s, Call{}, 0)
				require.Empty(t, final)
				s.c.Close()
				require.Equal(t, c.takes, time.Since(s.c.cfg.Epoch))
				rec := <-final
				require.Empty(t, rec.Message)
				require.Equal(t, record.Absent, rec.BodyEnd)
				close(free)
				synctest.Wait()
				require.Empty(t, final, "not handed over again")
			})
		})
	}
}
