//go:build linux && (amd64 || arm64)

package client

import (
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxUnheard bounds what is written by a system call that the scheduler does
// not hear of, in bytes: a larger one may take so long that it should.
const maxUnheard = 16 << 10

// sender writes to a TCP connection as kernel reads from it: without a word to
// the scheduler, which would wake its monitor thread for nothing between an
// answer and the next request.
type sender struct {
	mu     sync.Mutex
	try    func(fd uintptr) bool // send, made once
	rest   []byte
	errno  syscall.Errno
	tcp    *net.TCPConn
	socket syscall.RawConn
}

func (s *sender) init(tcp *net.TCPConn, socket syscall.RawConn) {
	s.tcp, s.socket, s.try = tcp, socket, s.send
}

// write writes like [net.TCPConn.Write].
func (s *sender) write(p []byte) (n int, err error) {
	if len(p) == 0 || len(p) > maxUnheard {
		return s.tcp.Write(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest, s.errno = p, 0
	err = s.socket.Write(s.try)
	n = len(p) - len(s.rest)
	s.rest = nil // keeps no buffer alive
	runtime.KeepAlive(p)
	return n, socketError("write", s.tcp, err, s.errno)
}

// send is called with the descriptor, again whenever there may be room. It does
// not block.
func (s *sender) send(fd uintptr) bool {
	for len(s.rest) > 0 {
		release(fd)
		n, _, errno := syscall.RawSyscall6(syscall.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&s.rest[0])), uintptr(len(s.rest)), unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			s.rest = s.rest[n:]
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		default:
			s.errno = errno
			return true
		}
	}
	return true
}

// socketError is the error of an operation as package net words it: err is what
// the wait for the socket said, errno what the system did. It is nil if both are.
func socketError(op string, tcp *net.TCPConn, err error, errno syscall.Errno) error {
	if err != nil {
		if e, ok := err.(*net.OpError); ok {
			e.Op = op // not "raw-read" or "raw-write"
		}
		return err
	}
	if errno != 0 {
		return &net.OpError{Op: op, Net: "tcp", Source: tcp.LocalAddr(), Addr: tcp.RemoteAddr(), Err: os.NewSyscallError(op, errno)}
	}
	return nil
}
