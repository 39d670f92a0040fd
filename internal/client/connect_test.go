package client

import (
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

func TestConnectFailures(t *testing.T) {
	const closed = "127.0.0.1:1" // a port that no system gives to whoever listens beside this test
	secure := serve(t, true, func(p *peer) { p.request() })
	clear := serve(t, false, func(p *peer) { p.request(); p.send("HTTP/1.1 400 Bad Request\r\n\r\n") })
	for name, c := range map[string]struct {
		cfg  Config
		says string
		own  int // failures that are the client's own
	}{
		"refused": {Config{URL: "http://" + closed}, "connection refused", 0},
		"no file": {Config{URL: "http://model.example", Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
		}}, "too many open files", 1},
		"no file for a look-up": {Config{URL: "http://model.example", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "dial udp 127.0.0.53:53: socket: too many open files", Name: addr}}
		}}, "too many open files", 1},
		"dns": {Config{URL: "http://nowhere.example", Dial: func(_ context.Context, _, addr string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: addr, IsNotFound: true}
		}}, "no such host", 0},
		"untrusted":     {Config{URL: secure.url}, "failed to verify certificate", 0},
		"no TLS there":  {Config{URL: strings.Replace(clear.url, "http:", "https:", 1)}, "the server speaks http, not https", 0},
		"proxy refused": {Config{URL: "http://model.example", Proxy: http.ProxyURL(&url.URL{Scheme: "http", Host: closed})}, "connection refused", 0},
	} {
		t.Run(name, func(t *testing.T) {
			client := start(t, c.cfg)
			rec := do(t.Context(), client.NewSlot(), Call{}, 0)
			require.Equal(t, c.own, client.OutOfFiles())
			require.Equal(t, "connect", rec.Class)
			require.Equal(t, "connect", rec.Phase)
			require.Contains(t, rec.Message, c.says)
			require.Equal(t, record.Absent, rec.Connected)
			require.Zero(t, rec.Resent)
			checkStamps(t, rec)
		})
	}
}

func answerAll(p *peer) {
	for {
		if _, ok := p.request(); !ok {
			return
		}
		p.send(streamOf(tok("a"), stop, done))
	}
}

// idleTries is how often a request is made until one goes over the connection of
// the one before: on a busy machine net/http may give up a connection that is as
// good as new, when its own goroutine has not said within 50 ms that the request is
// written (maxWriteWaitBeforeConnReuse). It does not three times in a row.
const idleTries = 3

// reusing is a request over a connection that has carried one, and how many that
// were not came before it.
func reusing(t *testing.T, s *Slot) (rec *record.Record, fresh int) {
	t.Helper()
	for ; fresh < idleTries; fresh++ {
		if rec = do(t.Context(), s, Call{}, 0); rec.Reused {
			break
		}
	}
	return rec, fresh
}

func TestConnectionParts(t *testing.T) {
	srv := serve(t, true, answerAll)
	c := start(t, Config{URL: srv.url, TLS: srv.tls})
	s := c.NewSlot()
	rec := do(t.Context(), s, Call{}, 0)
	require.Empty(t, rec.Message)
	require.False(t, rec.Reused)
	require.Greater(t, rec.Dial, int64(0))
	require.Greater(t, rec.TLS, int64(0))
	require.Equal(t, record.Absent, rec.DNS) // an address needs none
	require.LessOrEqual(t, rec.Dial+rec.TLS, rec.Connected-rec.Sent)

	rec, fresh := reusing(t, s)
	require.True(t, rec.Reused)
	require.Equal(t, []int64{-1, -1, -1}, []int64{rec.DNS, rec.Dial, rec.TLS})
	require.EqualValues(t, 1+fresh, srv.conns.Load())

	rec = do(t.Context(), c.NewSlot(), Call{}, 0)
	require.False(t, rec.Reused, "slots share no connections")
}

func TestProxies(t *testing.T) {
	for _, secure := range []bool{false, true} {
		srv := serve(t, secure, answerAll)
		var asked atomic.Value
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Store(r.Method + " " + r.Header.Get("Proxy-Authorization"))
			if r.Method != http.MethodConnect {
				http.Error(w, "the key s3cret-proxy is wrong", http.StatusProxyAuthRequired)
				return
			}
			up, err := net.Dial("tcp", r.Host)
			if err != nil {
				return
			}
			down, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n")
			relay(up, down)
		}))
		u, _ := url.Parse(proxy.URL)
		u.User = url.UserPassword("ann", "s3cret-proxy")
		c := start(t, Config{URL: srv.url, TLS: srv.tls, Proxy: http.ProxyURL(u)})
		rec := do(t.Context(), c.NewSlot(), Call{}, 0)
		login := "Basic " + base64.StdEncoding.EncodeToString([]byte("ann:s3cret-proxy"))
		if secure {
			require.Empty(t, rec.Message)
			require.Greater(t, rec.TLS, int64(0))
			require.Equal(t, "CONNECT "+login, asked.Load())
		} else {
			require.Equal(t, "HTTP 407 Proxy Authentication Required: the key [redacted] is wrong", rec.Message)
			require.Equal(t, "POST "+login, asked.Load())
		}
		c.Close()
		proxy.Close()
	}
}

func relay(a, b net.Conn) {
	copyTo := func(to, from net.Conn) {
		buf := make([]byte, 4096)
		for {
			n, err := from.Read(buf)
			if err != nil {
				to.Close()
				return
			}
			to.Write(buf[:n])
		}
	}
	go copyTo(a, b)
	go copyTo(b, a)
}

// A connection that the server closed while it lay idle costs no failure: the
// request is sent once more, on a fresh connection.
func TestResent(t *testing.T) {
	for _, secure := range []bool{false, true} {
		for _, end := range []func(*peer){(*peer).cut, (*peer).reset, func(p *peer) { p.Close() }} {
			var resent []int
			for range idleTries {
				if resent = resends(t, secure, end); !slices.Contains(resent[1:], 0) {
					break
				}
			}
			require.Equal(t, []int{0, 1, 1, 1, 1, 1}, resent)
		}
	}
}

// resends is how often each of six requests of a slot is sent again, of a server
// that ends each connection when its second request comes.
func resends(t *testing.T, secure bool, end func(*peer)) (resent []int) {
	t.Helper()
	srv := serve(t, secure, func(p *peer) {
		p.request()
		p.send(streamOf(tok("a"), stop, done))
		if _, ok := p.request(); ok { // a closing that crosses the request
			end(p)
		}
	})
	s := start(t, Config{URL: srv.url, TLS: srv.tls}).NewSlot()
	for range 6 {
		rec := do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		require.False(t, rec.Reused)
		require.Greater(t, rec.Dial, int64(0))
		checkStamps(t, rec)
		s.c.Settle()
		resent = append(resent, rec.Resent)
	}
	require.EqualValues(t, 6, srv.conns.Load())
	return resent
}

// llama-server promises to keep the connection and closes it after the stream.
func TestClosedAfterEachStream(t *testing.T) {
	srv := serve(t, false, func(p *peer) {
		p.request()
		p.send(strings.Replace(streamOf(tok("a"), stop, done), "\r\n", "\r\nKeep-Alive: timeout=5, max=100\r\n", 1))
	})
	s := start(t, Config{URL: srv.url}).NewSlot()
	for range 200 {
		rec := do(t.Context(), s, Call{}, 0)
		require.Empty(t, rec.Message)
		require.LessOrEqual(t, rec.Resent, 1)
	}
}

// afterOne is the second request of a slot, over the connection of the first one,
// which has succeeded; dial may be nil.
func afterOne(t *testing.T, handle func(p *peer), dial func() func(context.Context, string, string) (net.Conn, error)) (rec *record.Record, srv *server) {
	t.Helper()
	for range idleTries {
		srv = serve(t, false, handle)
		cfg := Config{URL: srv.url}
		if dial != nil {
			cfg.Dial = dial()
		}
		s := start(t, cfg).NewSlot()
		require.Empty(t, do(t.Context(), s, Call{}, 0).Message)
		if rec = do(t.Context(), s, Call{}, 0); rec.Reused || rec.Resent > 0 {
			break
		}
	}
	return rec, srv
}

func TestNotResent(t *testing.T) {
	t.Run("fresh connection", func(t *testing.T) {
		srv := serve(t, false, func(p *peer) { p.request() })
		rec := do(t.Context(), start(t, Config{URL: srv.url}).NewSlot(), Call{}, 0)
		require.Equal(t, "reset", rec.Class)
		require.Equal(t, "headers", rec.Phase)
		require.Zero(t, rec.Resent)
		require.EqualValues(t, 1, srv.conns.Load())
	})
	t.Run("an idempotency key changes nothing", func(t *testing.T) {
		srv := serve(t, false, func(p *peer) { p.request() })
		rec := do(t.Context(), start(t, Config{URL: srv.url, Header: http.Header{"Idempotency-Key": {"1"}}}).NewSlot(), Call{}, 0)
		require.Equal(t, "reset", rec.Class)
		require.EqualValues(t, 1, srv.conns.Load())
	})
	t.Run("more than once", func(t *testing.T) {
		rec, srv := afterOne(t, func(p *peer) {
			p.request()
			if p.n == 1 {
				p.send(streamOf(tok("a"), stop, done))
				p.request()
			}
		}, nil)
		require.Equal(t, "reset", rec.Class)
		require.Equal(t, 1, rec.Resent)
		require.EqualValues(t, 2, srv.conns.Load())
	})
	t.Run("after a byte of the answer", func(t *testing.T) {
		rec, srv := afterOne(t, func(p *peer) {
			p.request()
			p.send(streamOf(tok("a"), stop, done))
			p.request()
			p.send("H")
		}, nil)
		require.Equal(t, "reset", rec.Class)
		require.Zero(t, rec.Resent)
		require.True(t, rec.Reused)
		require.EqualValues(t, 1, srv.conns.Load())
	})
	t.Run("refused the second time", func(t *testing.T) {
		rec, _ := afterOne(t, func(p *peer) {
			p.request()
			p.send(streamOf(tok("a"), stop, done))
			p.request()
		}, func() func(context.Context, string, string) (net.Conn, error) {
			var dials atomic.Int64
			return func(ctx context.Context, network, addr string) (net.Conn, error) {
				if dials.Add(1) > 1 {
					return nil, errDial
				}
				return new(net.Dialer).DialContext(ctx, network, addr)
			}
		})
		require.Equal(t, []any{"connect", "connect", "no route", 1, record.Absent}, []any{rec.Class, rec.Phase, rec.Message, rec.Resent, rec.Connected})
	})
}

// Two connections lie idle, and the server closes both: the second sending
// must not be spent on the other idle one.
func TestResentOnAFreshConnection(t *testing.T) {
	release := make(chan struct{})
	srv := serve(t, false, func(p *peer) {
		for i := 0; ; i++ {
			if _, ok := p.request(); !ok || i > 0 && p.n <= 2 {
				return
			}
			if p.n == 1 {
				p.send(head, chunk(tok("a")+stop+done))
				<-release
				p.send(last)
				continue
			}
			p.send(streamOf(tok("a"), stop, done))
		}
	})
	s := start(t, Config{URL: srv.url}).NewSlot()
	post(t.Context(), s, Call{}, 0)
	do(t.Context(), s, Call{}, 0)
	close(release)
	s.c.Settle()
	rec := do(t.Context(), s, Call{}, 0)
	require.Empty(t, rec.Message)
	require.Equal(t, 1, rec.Resent)
	require.EqualValues(t, 3, srv.conns.Load())
}

func TestSecretsStayOut(t *testing.T) {
	const key = "sk-Zm9v/QUJD+123456"
	echoes := map[string]string{
		"status":   plainAnswer("401 Unauthorized", "Retry-After: "+key+"\r\n", `{"error":{"message":"wrong key `+key+` (`+base64.StdEncoding.EncodeToString([]byte(key))+`)"}}`),
		"cut":      plainAnswer("401 Unauthorized", "", strings.Repeat("x", 465)+key),
		"redirect": plainAnswer("302 Found", "Location: https://login.example/?next="+url.QueryEscape(key)+"\r\n", ""),
		"event":    streamOf(tok("a"), `data: {"error":{"message":"wrong key `+key+`"}}`+"\n\n"),
		"body":     plainAnswer("200 OK", "Content-Type: text/"+key+"\r\n", `<html>`+key+`</html>`),
		"ignored":  streamOf("wrong key " + key + "\n\n"),
		"excerpt":  streamOf(strings.Repeat("y", 185) + key + "\n\n"),
		"garbage":  streamOf("data: " + strings.Repeat("z", 185) + key + "\n\n"),
		"finish":   streamOf(tok("a"), strings.Replace(stop, "stop", key, 1), done),
		"protocol": "HTTP/1.1 " + key + "\r\n\r\n",
	}
	for name, answer := range echoes {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, false, func(p *peer) { p.request(); p.send(answer) })
			c := start(t, Config{URL: srv.url, Secrets: []string{key}, Header: http.Header{"Authorization": {"Bearer " + key}}})
			rec := do(t.Context(), c.NewSlot(), Call{}, 0)
			shown := rec.Message + rec.FinishReason
			require.Contains(t, shown, "[redacted]")
			for _, part := range []string{"sk-Z", "QUJD", "123456", base64.StdEncoding.EncodeToString([]byte(key))[:8]} {
				require.NotContains(t, shown, part)
			}
			require.LessOrEqual(t, len(rec.Message), 500)
		})
	}
}
