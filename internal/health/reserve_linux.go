package health

import "golang.org/x/sys/unix"

// ReserveFiles makes this process's table of open files as large as a load of
// so many connections needs, before the load. Linux doubles the table when a
// new file does not fit (at 64, 256, 512, 1024, ... files), and with several
// threads the socket or accept call that meets this waits for all cores to
// pass a quiet point (synchronize_rcu in fs/file.c): 8 to 15 ms on an idle
// machine, which a burst of new connections would put down to the server. A
// load without bound, Connections of 0, is made ready for 4096.
//
// The table is never shrunk. Limits are the business of [CheckLimits]: what is
// over them is not reserved.
func ReserveFiles(n Need) { n.reserve(readLimits()) }

// unboundedFiles are reserved for a load without bound: 32 KiB.
const unboundedFiles = 4096

func (n Need) reserve(l limits) {
	last := l.open + sparePlaces + n.Connections*max(1, n.FilesEach)
	if n.Connections <= 0 {
		last = unboundedFiles
	}
	if l.files > 0 {
		last = min(last, l.files)
	}
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC)
	if err != nil {
		return // the load finds that out itself
	}
	defer unix.Close(fd)
	// The lowest free number from last-1 on: the table has to reach there.
	if high, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, last-1); err == nil {
		unix.Close(high)
	}
}
