package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"
)

// spareTime is how long a connection that was opened ahead waits for its
// request. It is longer than a load of thousands takes to open them all; a
// server that closes earlier is noticed.
const spareTime = 15 * time.Second

// Open opens the connection that the slot's next request will go over, TLS
// included, so that the request need not wait for it: its record has then
// neither DNS, Dial nor TLS. It does nothing where the slot has a connection,
// and none where the way leads through a proxy or the host's name is not in
// ASCII: there the request dials. So it does when the server has closed the
// connection meanwhile, or nobody has used it for 15 s. It takes at most
// Timeouts.Connect. The text of an error is without secrets; after one, the
// request dials.
func (s *Slot) Open(ctx context.Context) error {
	c := s.c
	if c.direct == "" || s.conn != nil && !s.conn.over() || s.spare.there() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Connect)
	defer cancel()
	nc, err := c.connect(ctx, "tcp", c.direct, &s.lags, nil, c.post.URL.Scheme == "https")
	if err != nil {
		return c.safe(err)
	}
	s.spare.put(nc)
	return nil
}

// connect gives the connection that was opened ahead for the slot, or for any,
// if it is still good, or opens one.
func (c *Client) connect(ctx context.Context, network, addr string, l *lags, ahead *spare, secure bool) (net.Conn, error) {
	if ahead != nil && addr == c.direct {
		if nc := ahead.take(); nc != nil {
			return nc, nil
		}
		if nc := c.reserve.Load().take(l); nc != nil {
			return nc, nil
		}
	}
	nc, err := c.dial(ctx, network, addr, l)
	if err != nil {
		return nil, err
	}
	if !secure {
		return nc, nil
	}
	return c.shakeHands(ctx, nc, addr)
}

// shakeHands puts TLS over nc as net/http does.
func (c *Client) shakeHands(ctx context.Context, nc *conn, addr string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Connect+guardTime)
	defer cancel()
	cfg := c.cfg.TLS.Clone()
	if cfg == nil {
		cfg = new(tls.Config)
	}
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			nc.Close()
			return nil, err
		}
		cfg.ServerName = host
	}
	start := c.now()
	secure := tls.Client(nc, cfg)
	if err := secure.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	nc.tls = c.now() - start
	return secure, nil
}

// address is what net/http dials for u; empty for a name that it would have to
// convert first.
func address(u *url.URL) string {
	host, port := u.Hostname(), u.Port()
	for _, b := range []byte(host) {
		if b >= 0x80 {
			return ""
		}
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(host, port)
}

// spare holds the connection that was opened ahead of a slot's request.
type spare struct {
	mu    sync.Mutex
	nc    net.Conn // a *conn, or TLS over one; nil when there is none
	timer *time.Timer
}

func (s *spare) there() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nc != nil
}

func (s *spare) put(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.nc = nc
	s.timer = time.AfterFunc(spareTime, func() { s.leave(nc) })
}

// take gives the connection, unless the server has closed it.
func (s *spare) take() net.Conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	nc := s.nc
	if nc == nil {
		return nil
	}
	s.nc = nil
	s.timer.Stop()
	c := stamping(nc)
	gone, sure := hungUp(c.Conn)
	if gone {
		nc.Close()
		return nil
	}
	c.doubted = !sure
	return nc
}

// drop closes the connection, if it is there.
func (s *spare) drop() {
	s.mu.Lock()
	nc := s.nc
	s.mu.Unlock()
	s.leave(nc)
}

// leave closes nc, unless it was taken.
func (s *spare) leave(nc net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if nc == nil || s.nc != nc {
		return
	}
	s.nc = nil
	s.timer.Stop()
	nc.Close()
}

// hungUp reports whether the other side has closed a connection, and whether
// that is sure.
func hungUp(nc net.Conn) (gone, sure bool) {
	if socket, ok := nc.(syscall.Conn); ok {
		return socketHungUp(socket)
	}
	// In memory (net.Pipe), a deadline cannot be set after the end, and reading
	// nothing ahead of one that has passed tells of it. A socket would not look.
	err := nc.SetReadDeadline(time.Unix(1, 0))
	if err == nil {
		_, err = nc.Read(nil)
		_ = nc.SetReadDeadline(time.Time{}) // where this fails, the connection does
	}
	alive := errors.Is(err, os.ErrDeadlineExceeded)
	gone = !alive && lost(err)
	return gone, alive || gone
}
