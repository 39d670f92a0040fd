package cluster

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
	"unicode"
)

// kind says what a frame is.
type kind byte

const (
	kindChallenge kind = iota + 1
	kindHello
	kindWelcome
	kindRefuse
	kindBeat
	kindPing
	kindPong
	kindReady
	kindStart
	kindRecords
	kindLive
	kindStop
	kindEnd
	kindMerged
	kindFailed
	kindGone
	kindPause
	kindResume
	kinds
)

const (
	smallFrame  = 64 << 10
	chunkBytes  = 64 << 10  // of records: so small that a slow network still shows that it is there
	helloBytes  = 512 << 10 // with the fingerprint
	resultBytes = 64 << 20
)

// limit is the most bytes of a frame.
func (k kind) limit() int {
	switch k {
	case kindHello:
		return helloBytes
	case kindRecords:
		return chunkBytes
	case kindEnd, kindMerged, kindPause:
		return resultBytes
	}
	return smallFrame
}

const headerBytes = 5

// readFrame reads one frame, whose kind has to be one of those expected where
// there are any. Memory is taken as the bytes come, not by what is announced.
func readFrame(r io.Reader, expected ...kind) (kind, []byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return 0, nil, err
	}
	k, n := kind(header[0]), int64(binary.BigEndian.Uint32(header[1:]))
	if k == 0 || k >= kinds || len(expected) > 0 && !bytes.Contains(bytesOf(expected), header[:1]) {
		return 0, nil, fmt.Errorf("frame of kind %d, which is not one of this protocol's here", header[0])
	}
	if n > int64(k.limit()) {
		return 0, nil, fmt.Errorf("frame of kind %d with %d bytes, more than %d", k, n, k.limit())
	}
	var payload bytes.Buffer
	if _, err := io.CopyN(&payload, r, n); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return 0, nil, err
	}
	return k, payload.Bytes(), nil
}

func bytesOf(all []kind) []byte {
	out := make([]byte, len(all))
	for i, k := range all {
		out[i] = byte(k)
	}
	return out
}

// appendFrame appends one frame.
func appendFrame(dst []byte, k kind, payload []byte) []byte {
	dst = append(dst, byte(k))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(payload)))
	return append(dst, payload...)
}

// conn is a connection that carries frames. Reads are one goroutine's; writes
// may be everybody's.
type conn struct {
	net.Conn
	in      *bufio.Reader
	silence time.Duration

	writing chan struct{} // holds one: who writes; the others wait for the network, which is no mutex's job
	buf     []byte
}

func newConn(c net.Conn, silence time.Duration) *conn {
	return &conn{Conn: c, in: bufio.NewReaderSize(c, chunkBytes+headerBytes), silence: silence, writing: make(chan struct{}, 1)}
}

// send sends a frame, within the silence that the other side endures.
func (c *conn) send(k kind, payload []byte) error {
	if len(payload) > k.limit() {
		return fmt.Errorf("%d bytes are more than the %d that fit into a message", len(payload), k.limit())
	}
	c.writing <- struct{}{}
	defer func() { <-c.writing }()
	return c.write(k, payload)
}

// write is send by who holds the writing.
func (c *conn) write(k kind, payload []byte) error {
	c.buf = appendFrame(c.buf[:0], k, payload)
	if err := c.SetWriteDeadline(time.Now().Add(c.silence)); err != nil {
		return err
	}
	_, err := c.Write(c.buf)
	if cap(c.buf) > 2*chunkBytes {
		c.buf = nil
	}
	return err
}

// sendJSON sends v.
func (c *conn) sendJSON(k kind, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.send(k, data)
}

// receive waits for a frame, for as long as silence is endured.
func (c *conn) receive(expected ...kind) (kind, []byte, error) {
	if err := c.SetReadDeadline(time.Now().Add(c.silence)); err != nil {
		return 0, nil, err
	}
	return readFrame(c.in, expected...)
}

// cleaned is text of another process for a message: one bounded line.
func cleaned(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > mostText {
		text = strings.ToValidUTF8(text[:mostText], "") + "…"
	}
	return text
}

// mostText bounds a message of another process, in bytes.
const mostText = 500
