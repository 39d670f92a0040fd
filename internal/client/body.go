package client

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http"
	"strings"
)

// maxWhole bounds what is read of a body that is no stream, in bytes.
const maxWhole = 64 << 10

// errNoEvents says that a body does not begin as an event stream can.
var errNoEvents = errors.New("no event stream")

// errCoding is of a Content-Encoding, which the caller has at hand.
var errCoding = errors.New("was not asked for and cannot be decoded")

// sniff says what a body is looked at for, at its start.
type sniff uint8

const (
	sniffNothing sniff = iota
	sniffEvents        // an event stream: neither JSON nor markup
	sniffLines         // JSON lines: no markup, nor an object over several lines
	sniffObject        // the rest of a line that has begun with "{"
)

// body is an answer's body on its way to the event reader.
type body struct {
	want sniff // stop with errNoEvents at what it cannot be

	net      io.Reader // as net/http gives it
	n        int64     // bytes read from it
	err      error     // what its last read said
	decoded  io.Reader // net, or a decompressor over it
	sniffing sniff
	head     []byte // the first bytes of a body that is not what was wanted
}

// reset starts on resp's body. It reads nothing.
func (b *body) reset(resp *http.Response) error {
	b.net, b.n, b.err = resp.Body, 0, nil
	b.sniffing, b.head = b.want, b.head[:0]
	b.decoded = (*raw)(b)
	coding := strings.ToLower(strings.TrimSpace(resp.Header.Get("Content-Encoding")))
	switch coding {
	case "", "identity":
	case "gzip", "x-gzip":
		b.decoded = &lazy{from: b.decoded, open: func(r *bufio.Reader) (io.Reader, error) { return gzip.NewReader(r) }}
	case "deflate":
		b.decoded = &lazy{from: b.decoded, open: inflate}
	default:
		return errCoding
	}
	return nil
}

// raw is a body before decompression.
type raw body

func (b *raw) Read(p []byte) (int, error) {
	n, err := b.net.Read(p)
	b.n += int64(n)
	b.err = err
	return n, err
}

// Read gives the decoded body. If that cannot be what is wanted, it keeps what
// came and fails with errNoEvents.
func (b *body) Read(p []byte) (int, error) {
	n, err := b.decoded.Read(p)
	if b.sniffing == sniffNothing {
		return n, err
	}
	for _, c := range p[:n] {
		if b.refuses(c) {
			b.head = append(b.head, p[:n]...)
			return 0, errNoEvents
		}
		if b.sniffing == sniffNothing {
			b.head = b.head[:0]
			return n, err
		}
	}
	b.head = append(b.head, p[:n]...)
	return n, err
}

// refuses reports whether the body cannot be what is wanted because c comes
// next, and goes on with what to look for after c.
func (b *body) refuses(c byte) bool {
	switch {
	case c == '\n' && b.sniffing == sniffObject:
		return true // a printer of JSON breaks the line there
	case c == ' ', c == '\t', c == '\r', c == '\n':
		return false
	case c == '<', b.sniffing == sniffEvents && (c == '{' || c == '[' || c == '"'):
		return true
	case c == '{' && b.sniffing == sniffLines:
		b.sniffing = sniffObject
	default:
		b.sniffing = sniffNothing
	}
	return false
}

// rest reads what the body holds from where it failed with errNoEvents, or
// from its start, up to a bound.
func (b *body) rest() []byte {
	b.sniffing = sniffNothing
	left := max(0, maxWhole-len(b.head))
	tail, _ := io.ReadAll(io.LimitReader(b.decoded, int64(left))) // what came before an error is enough
	b.head = append(b.head, tail...)
	return b.head
}

// lazy opens a decompressor at the first read, since opening reads.
type lazy struct {
	from io.Reader
	open func(*bufio.Reader) (io.Reader, error)
	to   io.Reader
	err  error
}

func (l *lazy) Read(p []byte) (int, error) {
	if l.to == nil && l.err == nil {
		l.to, l.err = l.open(bufio.NewReader(l.from))
	}
	if l.err != nil {
		return 0, l.err
	}
	return l.to.Read(p)
}

// inflate reads "deflate", which is zlib by the standard and bare DEFLATE from
// some servers (RFC 9110, 8.4.1.2). A zlib header is a multiple of 31 that
// names method 8 (RFC 1950, 2.2).
func inflate(r *bufio.Reader) (io.Reader, error) {
	h, err := r.Peek(2)
	if err != nil {
		return nil, err
	}
	if h[0]&0x0f == 8 && (int(h[0])<<8|int(h[1]))%31 == 0 {
		return zlib.NewReader(r)
	}
	return flate.NewReader(r), nil
}
