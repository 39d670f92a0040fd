// Package client sends one request at a time over HTTP/1.1 and writes into a
// [record.Record] what happened to it: raw stamps, counts and, when it failed,
// the failure class.
//
// Stamps of arrival are those of the socket read that brought the last byte of
// an event, under TLS too: the kernel's receive stamp on Linux, so that the
// client's own delay is no part of them, else the return of the read. They are
// taken below net/http: a wrapper round each connection keeps the stamp of its
// last Read, and HTTP/1.1 hands out no byte of a later read before the bytes of
// an earlier one are taken.
// Where a segment ends inside the chunk framing that follows an event, net/http
// waits for the rest of that framing and the event gets the stamp of the read
// that brought it.
package client

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/wire"
)

// Timeouts bound the phases of a request. All must be above zero.
type Timeouts struct {
	Connect       time.Duration // from sending to a connection in hand: DNS, dial, proxy, TLS
	FirstToken    time.Duration // from sending to the first token event, the wait for the headers included
	BetweenTokens time.Duration // from one token event to the next, or to the end of the answer
	Total         time.Duration // from sending to the end of the answer
}

// Config says where requests go and how they are judged.
type Config struct {
	// URL is the whole address of the endpoint. A user and password in it are
	// sent as basic authorization, unless Header has an Authorization.
	URL string
	// Header is sent with each request. Content-Type, Accept and User-Agent
	// are set where it has none.
	Header http.Header
	// TLS is for https; nil means the system's roots.
	TLS *tls.Config
	// Proxy is as in [http.Transport]; nil means none.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial opens connections; nil means a net.Dialer.
	Dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	Timeouts Timeouts
	Dialect  wire.Dialect
	// Epoch is the zero of all stamps, which are nanoseconds after it. It must
	// carry a monotonic clock reading, as time.Now gives it.
	Epoch time.Time
	// Secrets are replaced by "[redacted]" in every message, also where they
	// stand escaped for a URL or for JSON, or in base64.
	Secrets []string
	// ShortIsFailure makes an answer of fewer tokens than asked, although EOS
	// is ignored, a failure of class short.
	ShortIsFailure bool
	// KeepText keeps the text of each answer in its record, 16 MiB at most, for
	// a count of its tokens. It has no effect with a dialect whose answers have
	// no text; see [wire.Texter].
	KeepText bool
}

// What a connection's keeping costs and is worth.
const (
	// idleTimeout is half of the shortest keep-alive time of common servers
	// (llama-server 5 s, uvicorn 5 s; others more), so that mostly the client
	// closes first and no request meets a connection that is going away.
	idleTimeout = 4 * time.Second
	// idlePerSlot leaves room for the connection in use and one whose end is
	// still awaited.
	idlePerSlot    = 2
	maxHeaderBytes = 256 << 10
	// bufferSize is that of net/http's buffers of a connection, one for reading
	// and one for writing, of 4 KiB each by default: a stream's events come one
	// at a time, and one that is behind is helped by larger reads, below them.
	bufferSize = 2 << 10
	// guardTime is how much longer than Timeouts.Connect a dial may take: the
	// request's own timer is the one that decides, this only ends what it left.
	guardTime = time.Second
	closeWait = 2 * time.Second
)

// Client makes slots that send to one endpoint. It is safe for concurrent use,
// and has to be closed if it has slots.
type Client struct {
	cfg       Config
	post      *http.Request // the request, but for its body
	getHeader http.Header
	redact    *redactor
	wall      *wall
	direct    string // the server's address, where connections to it can be opened ahead
	reserve   atomic.Pointer[reserve]

	outOfFiles atomic.Int64

	mu     sync.Mutex
	slots  []*Slot
	hushed bool
}

// New checks cfg and returns a client. Nothing is sent. Errors name the field
// and hold no secret.
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.URL)
	if err != nil {
		return nil, errors.New("URL cannot be parsed") // the cause repeats the URL, and with it a password
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("URL is %q: want http://host or https://host", u.Redacted())
	}
	for name, d := range map[string]time.Duration{
		"Connect": cfg.Timeouts.Connect, "FirstToken": cfg.Timeouts.FirstToken,
		"BetweenTokens": cfg.Timeouts.BetweenTokens, "Total": cfg.Timeouts.Total,
	} {
		if d <= 0 {
			return nil, fmt.Errorf("%s is %v: want more than 0", "Timeouts."+name, d)
		}
	}
	if cfg.Dialect == nil {
		return nil, errors.New("no Dialect is given")
	}
	if cfg.Epoch.IsZero() {
		return nil, errors.New("no Epoch is given: want the time from which stamps count")
	}
	if cfg.Dial == nil {
		cfg.Dial = new(net.Dialer).DialContext
	}
	c := &Client{cfg: cfg, wall: newWall(cfg.Epoch)}
	header := make(http.Header)
	for name, values := range cfg.Header {
		for _, v := range values {
			header.Add(name, v)
		}
	}
	host := u.Host
	if h := header.Get("Host"); h != "" {
		host = h // net/http leaves the header of that name out
	}
	secrets := cfg.Secrets
	if user := u.User; user != nil {
		u.User = nil
		password, _ := user.Password()
		login := user.Username() + ":" + password
		secrets = append(secrets[:len(secrets):len(secrets)], password, login)
		setDefault(header, "Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
	}
	if err := checkHeader(header); err != nil {
		return nil, err
	}
	proxied := false
	if cfg.Proxy != nil {
		p, err := cfg.Proxy(&http.Request{URL: u})
		if err != nil {
			return nil, errors.New("the proxy for the URL cannot be used: its address cannot be parsed") // the cause repeats it
		}
		if p != nil && p.User != nil {
			password, _ := p.User.Password()
			secrets = append(secrets[:len(secrets):len(secrets)], password, p.User.Username()+":"+password)
		}
		proxied = p != nil
	}
	if !proxied {
		c.direct = address(u)
	}
	c.redact = newRedactor(secrets)
	setDefault(header, "User-Agent", "slogate")
	c.getHeader = header.Clone()
	c.getHeader.Del("Content-Type")
	c.getHeader.Set("Accept", "application/json")
	setDefault(header, "Content-Type", "application/json")
	setDefault(header, "Accept", accept(cfg.Dialect.Framing()))
	c.post = newRequest(http.MethodPost, u, host, header)
	return c, nil
}

// Settle waits until the record of each request has been handed over: at most
// some seconds, since the rest of a body is read for a second at most. No
// request may be under way.
func (c *Client) Settle() {
	c.wait(c.all(), drainTime+closeWait)
}

// Close ends the reading of what is left of answers, so that every record has
// been handed over when it returns, and idle connections. Requests must have
// ended before.
func (c *Client) Close() {
	slots := c.all()
	for _, s := range slots {
		s.drains.cancel()
	}
	c.wait(slots, closeWait)
	for _, s := range slots {
		s.spare.drop()
		s.transport.CloseIdleConnections()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hushed {
		c.hushed = false
		unhush()
	}
}

func (c *Client) all() []*Slot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slots[:len(c.slots):len(c.slots)]
}

func (c *Client) wait(slots []*Slot, limit time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for _, s := range slots {
		s.drains.wait(ctx)
	}
}

// transport makes a transport of its own for one slot: the idle list of a
// shared one is scanned under a lock, which costs milliseconds of TTFT at
// thousands of streams. The connection in ahead, if there is one, is the first
// that it gets.
func (c *Client) transport(l *lags, ahead *spare) *http.Transport {
	t := &http.Transport{
		Proxy: c.cfg.Proxy,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.connect(ctx, network, addr, l, ahead, false)
		},
		// HTTP/1.1 only: frames of HTTP/2 streams share reads, so that their
		// arrival cannot be told apart.
		TLSNextProto:           map[string]func(string, *tls.Conn) http.RoundTripper{},
		TLSClientConfig:        c.cfg.TLS,
		TLSHandshakeTimeout:    c.cfg.Timeouts.Connect + guardTime,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    idlePerSlot,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
		ReadBufferSize:         bufferSize,
		WriteBufferSize:        bufferSize,
	}
	if c.direct != "" {
		t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return c.connect(ctx, network, addr, l, ahead, true)
		}
	}
	return t
}

func (c *Client) now() int64 { return int64(time.Since(c.cfg.Epoch)) }

// newRequest makes a request that is only copied, never changed.
func newRequest(method string, u *url.URL, host string, h http.Header) *http.Request {
	return &http.Request{
		Method: method, URL: u, Host: host, Header: h,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

func accept(f wire.Framing) string {
	switch f {
	case wire.SSE:
		return "text/event-stream, application/json;q=0.9"
	case wire.NDJSON:
		return "application/x-ndjson, application/json;q=0.9"
	default:
		return "application/json"
	}
}

func setDefault(h http.Header, key, value string) {
	if h.Get(key) == "" {
		h.Set(key, value)
	}
}

// checkHeader refuses what net/http would refuse at each request. Values are
// secrets and not shown.
func checkHeader(h http.Header) error {
	for name, values := range h {
		for _, c := range []byte(name) {
			if c <= ' ' || c >= 0x7f || c == ':' {
				return fmt.Errorf("header name %q has a character that HTTP does not allow", name)
			}
		}
		for _, v := range values {
			for _, c := range []byte(v) {
				if c < ' ' && c != '\t' || c == 0x7f {
					return fmt.Errorf("value of header %q has a control character", name)
				}
			}
		}
	}
	return nil
}
