package client

import (
	"bytes"
	"io"
	"log"
	"sync"
)

// stray is how net/http begins when it tells of bytes that nobody asked for on
// an idle connection, and quotes them: to the standard logger, whatever they
// hold. A transport has no logger of its own that could be set (golang/go
// 19957), and a connection cannot keep such bytes back, as they may come in one
// read with the end of an answer.
var stray = []byte("Unsolicited response received on idle HTTP channel")

// hushed keeps those lines, and no other, out of the standard logger while
// there are clients with slots.
var hushed struct {
	mu      sync.Mutex
	clients int
	out     *filter // nil when there are none
}

type filter struct{ to io.Writer }

func (f *filter) Write(line []byte) (int, error) {
	if bytes.Contains(line, stray) {
		return len(line), nil
	}
	return f.to.Write(line)
}

func hush() {

	h := &hushed
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clients++
	if now := log.Writer(); now != h.out && now != io.Discard {
		h.out = &filter{to: now}
		log.SetOutput(h.out)
	}
}

// unhush gives the logger back as it was, unless somebody else has set it.
func unhush() {
	h := &hushed
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.clients--; h.clients > 0 || h.out == nil {
		return
	}
	if log.Writer() == h.out {
		log.SetOutput(h.out.to)
	}
	h.out = nil
}
