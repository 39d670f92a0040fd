package client

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

// A request goes over the connection that was opened ahead, and waits for no
// part of it.
func TestOpen(t *testing.T) {
	for _, secure := range []bool{false, true} {
		srv := serve(t, secure, answerAll)
		s := start(t, Config{URL: srv.url, TLS: srv.tls}).NewSlot()
		require.NoError(t, s.Open(t.Context()))
		require.NoError(t, s.Open(t.Context()), "one is enough")
		conns := 1
		for i := range 3 {
			var rec *record.Record
			if i == 0 {
				rec = do(t.Context(), s, Call{}, 0)
			} else {
				var fresh int
				rec, fresh = reusing(t, s)
				conns += fresh
			}
			require.Empty(t, rec.Message)
			require.Equal(t, i > 0, rec.Reused, "it had carried none before")
			require.Equal(t, []int64{-1, -1, -1}, []int64{rec.DNS, rec.Dial, rec.TLS})
			require.GreaterOrEqual(t, rec.Connected, rec.Sent)
			require.GreaterOrEqual(t, rec.Wrote, rec.Connected)
			require.Zero(t, rec.Resent)
			checkStamps(t, rec)
			require.NoError(t, s.Open(t.Context()), "there is one")
		}
		if s.spare.there() {
			conns++ // in the place of one that net/http has given up
		}
		require.LessOrEqual(t, srv.conns.Load(), int64(conns))
	}
}

// The request does not wait for a dial of a second, nor for a handshake.
func TestOpenTakesTheDialAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &pipes{handle: answerAll}
		c := start(t, Config{URL: "http://model.example", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(time.Second)
			require.Equal(t, "model.example:80", addr)
			return n.dial(ctx, network, addr)
		}})
		warm, cold := c.NewSlot(), c.NewSlot()
		require.NoError(t, warm.Open(t.Context()))
		rec := do(t.Context(), warm, Call{}, 0)
		require.Equal(t, rec.Sent, rec.FirstToken)
		rec = do(t.Context(), cold, Call{}, 0)
		require.Equal(t, rec.Sent+int64(time.Second), rec.FirstToken)
		require.EqualValues(t, time.Second, rec.Dial)
		require.EqualValues(t, 2, n.conns.Load())
		c.Close()
		n.all.Wait()
	})
}

// A connection that the server has closed meanwhile is not used: the request
// dials, and is sent once.
func TestOpenAndClosedByTheServer(t *testing.T) {
	for _, secure := range []bool{false, true} {
		closed := make(chan struct{})
		srv := serve(t, secure, func(p *peer) {
			if p.n == 1 {
				if tc, ok := p.Conn.(*tls.Conn); ok { // else the first read shakes hands
					_ = tc.Handshake()
				}
				p.Close()
				close(closed)
				return
			}
			answerAll(p)
		})
		s := start(t, Config{URL: srv.url, TLS: srv.tls}).NewSlot()
		require.NoError(t, s.Open(t.Context()))
		<-closed
		raw := stamping(s.spare.nc).Conn
		require.Eventually(t, func() bool {
			gone, sure := hungUp(raw)
			return gone || !sure
		}, 10*time.Second, time.Millisecond)
		rec := do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		require.False(t, rec.Reused)
		if _, sure := hungUp(raw); sure {
			require.Zero(t, rec.Resent)
		}
		require.Greater(t, rec.Dial, int64(0))
		require.Equal(t, secure, rec.TLS > 0)
		require.EqualValues(t, 2, srv.conns.Load())
		checkStamps(t, rec)
	}
}

func TestOpenInMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &pipes{handle: func(p *peer) {
			if p.n > 1 {
				answerAll(p)
			}
		}}
		c := start(t, Config{URL: "http://model.example", Dial: n.dial})
		s := c.NewSlot()
		require.NoError(t, s.Open(t.Context()))
		synctest.Wait()
		rec := do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		require.Zero(t, rec.Resent, "the end was seen before the request was sent")
		require.EqualValues(t, 2, n.conns.Load())

		// A server that ends the connection after the request has come has failed
		// that: it is not sent again.
		fails := &pipes{handle: func(p *peer) { p.request() }}
		other := start(t, Config{URL: "http://model.example", Dial: fails.dial})
		s = other.NewSlot()
		require.NoError(t, s.Open(t.Context()))
		rec = do(t.Context(), s, Call{}, 0)
		require.Equal(t, record.ClassReset, rec.Class)
		require.Zero(t, rec.Resent)

		// Unused for 15 s, it is closed.
		idle := &pipes{handle: answerAll}
		third := start(t, Config{URL: "http://model.example", Dial: idle.dial})
		s = third.NewSlot()
		require.NoError(t, s.Open(t.Context()))
		time.Sleep(spareTime)
		idle.all.Wait()
		rec = do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		require.EqualValues(t, 2, idle.conns.Load())
		for _, c := range []*Client{c, other, third} {
			c.Close()
		}
		n.all.Wait()
	})
}

// After a server that closes each connection the slot's next one is opened
// ahead again; Close ends the one that nobody used.
func TestOpenAfterTheConnectionIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &pipes{handle: func(p *peer) {
			p.request()
			p.send(streamOf(tok("a"), stop, done))
		}}
		c := start(t, Config{URL: "http://model.example", Dial: n.dial})
		s := c.NewSlot()
		for i := range 3 {
			require.NoError(t, s.Open(t.Context()))
			require.EqualValues(t, i+1, n.conns.Load())
			require.Empty(t, do(t.Context(), s, Call{}, 0).Message)
			synctest.Wait()
		}
		require.NoError(t, s.Open(t.Context()))
		c.Close()
		n.all.Wait()
	})
}

func TestOpenFails(t *testing.T) {
	for name, c := range map[string]struct {
		cfg  Config
		says string
	}{
		"refused": {Config{URL: "http://model.example", Dial: func(context.Context, string, string) (net.Conn, error) { return nil, errDial }}, "no route"},
		"late": {Config{URL: "http://model.example", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, Timeouts: Timeouts{Connect: time.Second, FirstToken: time.Second, BetweenTokens: time.Second, Total: time.Second}}, "deadline exceeded"},
		"TLS late": {Config{URL: "https://model.example", Dial: (&pipes{handle: func(p *peer) { io.Copy(io.Discard, p) }}).dial,
			Timeouts: Timeouts{Connect: time.Second, FirstToken: time.Second, BetweenTokens: time.Second, Total: time.Second}}, "deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := start(t, c.cfg).NewSlot()
				require.ErrorContains(t, s.Open(t.Context()), c.says)
				require.False(t, s.spare.there())
				require.Equal(t, record.ClassTimeout == "timeout" && name != "refused", do(t.Context(), s, Call{}, 0).Class == record.ClassTimeout)
			})
		})
	}
}

// Nothing is opened by way of a proxy, nor for a name that is not in ASCII.
func TestOpenLeavesTheRequestToDial(t *testing.T) {
	var dials atomic.Int64
	dial := func(context.Context, string, string) (net.Conn, error) {
		dials.Add(1)
		return nil, errDial
	}
	for _, cfg := range []Config{
		{URL: "http://model.example", Dial: dial, Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.example"})},
		{URL: "http://modèle.example", Dial: dial},
	} {
		require.NoError(t, start(t, cfg).NewSlot().Open(t.Context()))
	}
	require.Zero(t, dials.Load())
	direct := Config{URL: "http://model.example", Dial: dial, Proxy: func(*http.Request) (*url.URL, error) { return nil, nil }}
	require.Error(t, start(t, direct).NewSlot().Open(t.Context()))
	require.EqualValues(t, 1, dials.Load())
}

func TestAddress(t *testing.T) {
	for from, want := range map[string]string{
		"http://host": "host:80", "https://host/v1": "host:443", "http://host:8000": "host:8000", "http://[::1]:9": "[::1]:9", "https://[::1]": "[::1]:443", "http://münchen": "",
	} {
		u, err := url.Parse(from)
		require.NoError(t, err)
		require.Equal(t, want, address(u), from)
	}
}
