//go:build linux && (amd64 || arm64)

package client

import (
	"io"
	"net"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// controlSize is room for one control message with the three time stamps of
// struct scm_timestamping (linux/errqueue.h).
const controlSize = 64

// kernel reads a TCP connection with recvmsg(2) for the kernel's software
// receive stamps (SO_TIMESTAMPING, for TCP since Linux 4.14, without
// privilege; Documentation/networking/timestamping.rst).
//
// The stamp of a read is that of its last byte, so that a read asks for no more
// than one event; see [eventSize].
type kernel struct {
	stamps
	nc      *net.TCPConn
	raw     syscall.RawConn
	try     func(fd uintptr) bool // receive, made once
	iov     unix.Iovec
	msg     unix.Msghdr
	control [controlSize / 8]uint64 // aligned as its headers have to be

	// Of the read under way.
	n      int
	errno  syscall.Errno
	waited bool
	own    []byte // the caller's buffer
	eventSize

	block *block // lent while the client is far behind
	ahead []byte // of it, what no caller has got yet

	out sender
}

// block is what a connection reads into when the client is far behind: more than
// net/http asks for at a time, which saves most of the system calls. Few are in
// use, since a connection gives its own back before it waits.
type block [32 << 10]byte

var blocks = sync.Pool{New: func() any { return new(block) }}

// newKernel gives nil where nc has no such stamps.
func newKernel(nc net.Conn, w *wall) *kernel {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, unix.SOF_TIMESTAMPING_RX_SOFTWARE|unix.SOF_TIMESTAMPING_SOFTWARE)
	})
	if err != nil || failed != nil {
		return nil
	}
	k := &kernel{stamps: newStamps(w), nc: tcp, raw: raw}
	k.try = k.receive
	k.out.init(tcp, raw)
	k.msg.Iov = &k.iov
	k.msg.SetIovlen(1)
	k.msg.Control = (*byte)(unsafe.Pointer(&k.control[0]))
	return k
}

// taken gives what the last read brought beyond what its caller had room for.
func (k *kernel) taken(p []byte) int {
	n := copy(p, k.ahead)
	if k.ahead = k.ahead[n:]; len(k.ahead) == 0 {
		k.giveBack()
	}
	return n
}

// giveBack returns the block, if one is lent.
func (k *kernel) giveBack() {
	if k.block != nil {
		blocks.Put(k.block)
		k.block, k.ahead = nil, nil
	}
}

// into sets where the next system call reads to.
func (k *kernel) into(p []byte) {
	k.iov.Base = &p[0]
	k.iov.SetLen(len(p))
}

// read reads like [net.TCPConn.Read], and says when what it brought had come.
// p must have room, and all that was read ahead must be taken.
func (k *kernel) read(p []byte) (n int, at, lag int64, err error) {
	k.own = p[:k.room(len(p))]
	k.waited = false
	if k.far() {
		k.block = blocks.Get().(*block)
		k.into(k.block[:])
	} else {
		k.into(k.own)
	}
	err = k.raw.Read(k.try)
	room := len(k.own)
	k.iov.Base, k.own = nil, nil // keeps no buffer alive
	runtime.KeepAlive(p)
	if err = socketError("read", k.nc, err, k.errno); err == nil && k.n == 0 {
		err = io.EOF
	}
	if err != nil {
		k.giveBack()
		at, lag = k.at(0, k.waited)
		return 0, at, lag, err
	}
	at, lag = k.at(k.stamp(), k.waited)
	k.learn(k.waited, k.n, room)
	if k.block == nil {
		return k.n, at, lag, nil
	}
	k.ahead = k.block[:k.n]
	return k.taken(p), at, lag, nil
}

// write writes like [net.TCPConn.Write].
func (k *kernel) write(p []byte) (int, error) { return k.out.write(p) }

// receive is called with the descriptor, again whenever it may be readable. It
// does not block, so the scheduler need not hear of the call: that saves a
// third of what a read costs.
func (k *kernel) receive(fd uintptr) bool {
	for {
		k.msg.SetControllen(controlSize)
		n, _, errno := syscall.RawSyscall(syscall.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&k.msg)), 0)
		switch errno {
		case syscall.EINTR:
			continue
		case syscall.EAGAIN:
			k.waited = true
			if k.block != nil { // it has caught up
				k.giveBack()
				k.into(k.own)
			}
			return false
		case 0:
			acquire(fd)
			k.n = int(n)
		}
		k.errno = errno
		return true
	}
}

// stamp is the kernel's stamp, nanoseconds of the wall clock, and 0 if there is
// none.
func (k *kernel) stamp() int64 {
	rest := unsafe.Slice(k.msg.Control, min(k.msg.Controllen, controlSize))
	for len(rest) >= unix.SizeofCmsghdr {
		h := (*unix.Cmsghdr)(unsafe.Pointer(&rest[0]))
		if h.Len < unix.SizeofCmsghdr || h.Len > uint64(len(rest)) {
			return 0
		}
		data := rest[unix.SizeofCmsghdr:h.Len]
		if h.Level == unix.SOL_SOCKET && h.Type == unix.SCM_TIMESTAMPING && len(data) >= int(unsafe.Sizeof(unix.Timespec{})) {
			return (*unix.Timespec)(unsafe.Pointer(&data[0])).Nano() // the software stamp comes first
		}
		rest = rest[min(len(rest), unix.CmsgSpace(len(data))):]
	}
	return 0
}
