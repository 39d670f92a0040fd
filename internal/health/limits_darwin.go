package health

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func readLimits() limits {
	l := limits{files: fileLimit(), open: openFiles("/dev/fd")}
	if n, err := unix.SysctlUint32("kern.maxfilesperproc"); err == nil && n > 0 && (l.files == 0 || int(n) < l.files) {
		l.files = int(n)
	}
	low, err1 := unix.SysctlUint32("net.inet.ip.portrange.first")
	high, err2 := unix.SysctlUint32("net.inet.ip.portrange.last")
	if err1 == nil && err2 == nil && low <= high {
		l.ports = int(high-low) + 1
		l.portRange = fmt.Sprintf("net.inet.ip.portrange (%d-%d)", low, high)
		l.portRemedy = "widen it (sysctl -w net.inet.ip.portrange.first=10000)"
	}
	return l
}
