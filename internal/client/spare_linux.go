package client

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// established is TCP_ESTABLISHED (include/net/tcp_states.h): neither side has
// closed.
const established = 1

// socketHungUp asks for the state of a TCP connection, which tells of an end
// also behind bytes that are not read yet, such as tickets of TLS.
func socketHungUp(socket syscall.Conn) (gone, sure bool) {
	raw, err := socket.SyscallConn()
	if err != nil {
		return false, false
	}
	err = raw.Control(func(fd uintptr) {
		if info, failed := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO); failed == nil {
			gone, sure = info.State != established, true
		}
	})
	return gone, sure && err == nil
}
