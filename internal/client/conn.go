package client

import (
	"context"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/record"
)

// conn stamps what each socket read brought, and the start of each request's
// first write. It sits below TLS.
type conn struct {
	net.Conn
	epoch  time.Time
	kernel *kernel // reads with the kernel's stamps; nil where there are none
	lags   *lags

	start          int64 // when dialling began
	dns, dial, tls int64 // durations, Absent where unknown
	closed         atomic.Bool
	doubted        bool // opened ahead, and whether the server has closed it since is not known

	// One goroutine reads at a time, but net/http's own waits on an idle
	// connection while the slot's may still ask for a stamp.
	last  atomic.Int64 // arrival of what the last read brought
	ended atomic.Int64 // return of the read that failed or met the end
	reads atomic.Int64 // number of reads that brought bytes, of one arrival each

	mu       sync.Mutex
	requests int64 // number of requests that got the connection
	before   int64 // last when the latest of them got it

	wrote atomic.Int64 // just before its first byte was written; Absent before, and 0 ahead of the first one
}

// exchange is one request on a connection, with its answer.
type exchange struct {
	conn   *conn
	n      int64 // number of the request on it
	closes bool  // only the connection's end tells that of the body
}

// begin starts the next request on the connection.
func (c *conn) begin() exchange {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests++
	c.before = c.last.Load()
	c.wrote.Store(record.Absent)
	return exchange{conn: c, n: c.requests}
}

// end is when the body was at its end, once it is: with its last bytes, unless
// only the closing of the connection told (which TLS tells with bytes). The
// connection may be in use for the request after it by then.
func (e exchange) end() int64 {
	c := e.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.closes:
		return max(c.ended.Load(), c.last.Load())
	case c.requests == e.n:
		return c.last.Load()
	case c.requests == e.n+1:
		return c.before
	}
	return record.Absent
}

func (c *conn) Read(p []byte) (n int, err error) {
	at, lag := int64(0), int64(-1)
	if c.kernel != nil && len(p) > 0 {
		if n = c.kernel.taken(p); n > 0 {
			return n, nil // with the stamp of the read that brought it
		}
		n, at, lag, err = c.kernel.read(p)
	} else {
		n, err = c.Conn.Read(p)
		at = int64(time.Since(c.epoch))
	}
	if n > 0 {
		// Segments that the kernel has merged in its queue have one stamp, that
		// of the last of them: in how many reads they come is no matter.
		if lag < 0 || at != c.last.Load() {
			c.reads.Add(1)
		}
		c.last.Store(at)
		c.lags.add(lag)
	}
	if err != nil {
		c.ended.Store(at)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	if c.wrote.Load() == record.Absent {
		c.wrote.Store(int64(time.Since(c.epoch)))
	}
	if c.kernel != nil {
		return c.kernel.write(p)
	}
	return c.Conn.Write(p)
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.closed.Store(true)
	return c.Conn.Close()
}

// over reports whether the connection is known to be of no use any more.
func (c *conn) over() bool { return c.closed.Load() || c.ended.Load() != 0 }

// dial opens a connection that stamps. The context is one of a transport's, and
// outlives the request that asked for the connection.
func (c *Client) dial(ctx context.Context, network, addr string, l *lags) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Connect+guardTime)
	defer cancel()
	var lookup, dns atomic.Int64
	dns.Store(record.Absent)
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { lookup.Store(c.now()) },
		DNSDone:  func(httptrace.DNSDoneInfo) { dns.Store(c.now() - lookup.Load()) },
	})
	start := c.now()
	nc, err := c.cfg.Dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	w := &conn{Conn: nc, epoch: c.cfg.Epoch, kernel: newKernel(nc, c.wall), lags: l, start: start, dns: dns.Load(), tls: record.Absent}
	w.dial = c.now() - start - max(w.dns, 0)
	return w, nil
}

// stamping finds the wrapper below what net/http calls its connection.
func stamping(nc net.Conn) *conn {
	for {
		switch x := nc.(type) {
		case *conn:
			return x
		case interface{ NetConn() net.Conn }: // a tls.Conn; two of them behind an https proxy
			nc = x.NetConn()
		default:
			return nil
		}
	}
}
