package client

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the server's side of one connection.
type peer struct {
	net.Conn
	r *bufio.Reader
	n int // number of the connection, from 1
}

// request reads one request, and reports whether there was one.
func (p *peer) request() (*http.Request, bool) {
	req, err := http.ReadRequest(p.r)
	if err != nil {
		return nil, false
	}
	_, err = io.Copy(io.Discard, req.Body)
	return req, err == nil
}

// send writes the pieces, each in a write of its own.
func (p *peer) send(pieces ...string) {
	for _, s := range pieces {
		if _, err := io.WriteString(p, s); err != nil {
			return
		}
	}
}

// reset ends the connection with a reset and not with an end.
func (p *peer) reset() {
	nc := p.Conn
	if t, ok := nc.(*tls.Conn); ok {
		nc = t.NetConn()
	}
	if t, ok := nc.(*net.TCPConn); ok {
		_ = t.SetLinger(0) // without it the test sees an end where it wants a reset
		t.Close()
	}
}

// cut ends the connection below TLS, without its farewell.
func (p *peer) cut() {
	if t, ok := p.Conn.(*tls.Conn); ok {
		t.NetConn().Close()
		return
	}
	p.Close()
}

type server struct {
	url   string
	tls   *tls.Config // what a client needs
	conns atomic.Int64
}

// serve runs handle for each connection, which is closed afterwards.
func serve(t *testing.T, secure bool, handle func(p *peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{url: "http://" + l.Addr().String() + "/v1/chat/completions"}
	if secure {
		ours, theirs := certificates(t)
		s.tls = theirs
		s.url = strings.Replace(s.url, "http:", "https:", 1)
		l = tls.NewListener(l, ours)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, nc)
			mu.Unlock()
			n := int(s.conns.Add(1))
			all.Go(func() {
				defer nc.Close()
				handle(&peer{Conn: nc, r: bufio.NewReader(nc), n: n})
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, nc := range open {
			nc.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return s
}

var certificates = func() func(t *testing.T) (server, client *tls.Config) {
	var once sync.Once
	var ours, theirs *tls.Config
	return func(t *testing.T) (*tls.Config, *tls.Config) {
		once.Do(func() {
			ts := httptest.NewTLSServer(nil)
			defer ts.Close()
			pool := x509.NewCertPool()
			pool.AddCert(ts.Certificate())
			ours = &tls.Config{Certificates: ts.TLS.Certificates}
			theirs = &tls.Config{RootCAs: pool, ServerName: "example.com"}
		})
		return ours, theirs
	}
}()

// pipes is a network of net.Pipe connections, for bubbles.
type pipes struct {
	handle func(p *peer)
	conns  atomic.Int64
	all    sync.WaitGroup
}

func (n *pipes) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	c := int(n.conns.Add(1))
	n.all.Go(func() {
		defer theirs.Close()
		n.handle(&peer{Conn: theirs, r: bufio.NewReader(theirs), n: c})
	})
	return ours, nil
}

var epoch = time.Now()

var patient = Timeouts{Connect: 30 * time.Second, FirstToken: 30 * time.Second, BetweenTokens: 30 * time.Second, Total: time.Minute}

// start makes a client with what cfg leaves open, and closes it with the test.
func start(t testing.TB, cfg Config) *Client {
	t.Helper()
	if cfg.Timeouts == (Timeouts{}) {
		cfg.Timeouts = patient
	}
	if cfg.Dialect == nil {
		cfg.Dialect = wire.Chat
	}
	if cfg.Epoch.IsZero() {
		cfg.Epoch = time.Now()
	}
	c, err := New(cfg)
	require.NoError(t, err)
	t.Cleanup(c.Close)
	return c
}

// post sends one request and gives, when the next may be sent, a channel on
// which the record comes when it is final.
func post(ctx context.Context, s *Slot, call Call, asked int) <-chan *record.Record {
	rec := new(record.Record)
	rec.Reset()
	rec.AskedTokens = asked
	if call.Body == nil {
		call.Body = []byte(`{"stream":true}`)
	}
	final := make(chan *record.Record, 1)
	s.Do(ctx, call, rec, func(rec *record.Record) { final <- rec })
	return final
}

// do sends one request and waits for the end of its body.
func do(ctx context.Context, s *Slot, call Call, asked int) *record.Record {
	return <-post(ctx, s, call, asked)
}

// What a server sends.
const (
	role = `data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}` + "\n\n"
	stop = `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	done = "data: [DONE]\n\n"
	head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	last = "0\r\n\r\n"
)

func tok(s string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", s)
}

func think(s string) string {
	return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"reasoning_content":%q}}]}`+"\n\n", s)
}

func use(in, out int) string {
	return fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":%d,"completion_tokens":%d}}`+"\n\n", in, out)
}

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// stream is a whole answer, each part a chunk.
func streamOf(parts ...string) string {
	var b strings.Builder
	b.WriteString(head)
	for _, p := range parts {
		b.WriteString(chunk(p))
	}
	return b.String() + last
}

func plainAnswer(status, headers, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s", status, headers, len(body), body)
}

var errDial = errors.New("no route")
