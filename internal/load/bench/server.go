//go:build linux

package main

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An event as vLLM sends it; its content is the time of its write, the time at
// which its request was read and the number of its stream, in hexadecimal digits.
const (
	eventHead = `data: {"id":"chatcmpl-7b0f5b1e8c4d4a7f9a3c2d1e0f9b8a7c","object":"chat.completion.chunk","created":1764400000,"model":"Qwen3-8B","choices":[{"index":0,"delta":{"content":"`
	eventTail = `"},"logprobs":null,"finish_reason":null}]}` + "\n\n"
	truthLen  = 16 + 16 + 4
	answer    = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
	finish    = `data: {"id":"chatcmpl-7b0f5b1e8c4d4a7f9a3c2d1e0f9b8a7c","object":"chat.completion.chunk","created":1764400000,"model":"Qwen3-8B","choices":[{"index":0,"delta":{},"finish_reason":"length"}]}` + "\n\ndata: [DONE]\n\n"
	blockOf   = 64 // events in a write at full rate
)

func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

var (
	frame   = chunk(eventHead + strings.Repeat("0", truthLen) + eventTail)
	truthAt = len(frame) - len(eventTail) - len("\r\n") - truthLen
	ending  = chunk(finish) + "0\r\n\r\n"
)

// monotonic is the machine's clock, the same in all processes.
func monotonic() int64 {
	var ts unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) // cannot fail with this clock
	return ts.Nano()
}

// stream is an answer under way.
type stream struct {
	raw     syscall.RawConn
	ended   chan bool
	buf     []byte // what is written next
	rest    []byte // what the socket did not take
	due     int64
	gap     int64
	left    int
	started bool
}

// streams are those with a next write, the earliest first.
type streams []*stream

func (s streams) Len() int           { return len(s) }
func (s streams) Less(i, j int) bool { return s[i].due < s[j].due }
func (s streams) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *streams) Push(x any)        { *s = append(*s, x.(*stream)) }
func (s *streams) Pop() any {
	last := len(*s) - 1
	x := (*s)[last]
	*s = (*s)[:last]
	return x
}

// truth writes all streams from one thread.
type truth struct {
	mu    sync.Mutex
	fresh []*stream
}

// serve runs the server until its standard input ends.
func serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	t := new(truth)
	go t.write()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go t.requests(nc.(*net.TCPConn))
		}
	}()
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// ask is what a request's body asks for. Times are nanoseconds.
type ask struct {
	Stream  uint16
	Tokens  int
	Gap     int64   // 0 means as fast as can be
	Delay   int64   // to the first token
	Phase   float64 // where in the gap its step is, from 0 to 1
	Padding string  // makes the body as long as a real one
}

// requests reads a connection's requests.
func (t *truth) requests(nc *net.TCPConn) {
	defer nc.Close()
	raw, err := nc.SyscallConn()
	if err != nil {
		return
	}
	r := bufio.NewReader(nc)
	for {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		came := monotonic()
		var q ask
		if err := json.NewDecoder(req.Body).Decode(&q); err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, req.Body)
		s := &stream{raw: raw, ended: make(chan bool), gap: q.Gap, left: q.Tokens, due: came + q.Delay}
		if s.gap > 0 {
			s.due += s.gap - s.due%s.gap // all on one step
			s.due += int64(float64(s.gap) * q.Phase)
			s.buf = []byte(frame)
		} else {
			for range min(blockOf, s.left) {
				s.buf = append(s.buf, frame...)
			}
		}
		for at := truthAt; at < len(s.buf); at += len(frame) {
			hex.Encode(s.buf[at+16:], binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(nil, uint64(came)), q.Stream))
		}
		t.mu.Lock()
		t.fresh = append(t.fresh, s)
		t.mu.Unlock()
		if !<-s.ended {
			return
		}
	}
}

// write sends what is due, in its own thread, which sleeps to the point.
func (t *truth) write() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // else it only sleeps longer
	const nap = int64(200 * time.Microsecond)          // new streams are looked for that often
	var open streams
	for {
		t.mu.Lock()
		for _, s := range t.fresh {
			heap.Push(&open, s)
		}
		t.fresh = t.fresh[:0]
		t.mu.Unlock()
		now := monotonic()
		wake := now + nap
		if len(open) > 0 {
			wake = min(wake, open[0].due)
		}
		if wake > now {
			ts := unix.NsecToTimespec(wake)
			_ = unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil) // a signal only wakes it early
			continue
		}
		s := open[0]
		switch over, ok := s.step(); {
		case over:
			heap.Pop(&open)
			s.ended <- ok
		default:
			heap.Fix(&open, 0)
		}
	}
}

// step writes what is due, and reports whether the stream is over.
func (s *stream) step() (over, ok bool) {
	if len(s.rest) == 0 {
		if !s.started {
			s.started = true
			s.rest = append(s.rest, answer...)
		}
		n := len(s.buf) / len(frame)
		s.left -= n
		at := len(s.rest)
		s.rest = append(s.rest, s.buf...)
		if s.left <= 0 {
			s.rest = append(s.rest, ending...)
		}
		now := monotonic()
		for i := range n {
			hex.Encode(s.rest[at+i*len(frame)+truthAt:], binary.BigEndian.AppendUint64(nil, uint64(now)))
		}
	}
	n, errno := send(s.raw, s.rest)
	switch errno {
	case 0:
	case syscall.EAGAIN:
	default:
		return true, false
	}
	s.rest = s.rest[:copy(s.rest, s.rest[n:])]
	switch {
	case len(s.rest) > 0:
		s.due = monotonic() + int64(50*time.Microsecond)
	case s.left <= 0:
		return true, true
	case s.gap > 0:
		s.due += s.gap
	default:
		s.due = monotonic()
	}
	return false, true
}

func send(raw syscall.RawConn, b []byte) (int, syscall.Errno) {
	var n uintptr
	var errno syscall.Errno
	err := raw.Control(func(fd uintptr) {
		n, _, errno = syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	})
	if err != nil {
		return 0, syscall.EPIPE
	}
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
