package health

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

func readLimits() limits {
	l := portLimits(os.DirFS("/"))
	l.files, l.open = fileLimit(), openFiles("/proc/self/fd")
	return l
}

// portLimits reads the ephemeral ports, less those that are reserved for
// services (ip-sysctl). IPv6 uses the same.
func portLimits(files fs.FS) (l limits) {
	line, _ := firstLine(files, "proc/sys/net/ipv4/ip_local_port_range")
	var low, high int
	if n, _ := fmt.Sscan(line, &low, &high); n != 2 || low > high {
		return l
	}
	reserved, _ := firstLine(files, "proc/sys/net/ipv4/ip_local_reserved_ports")
	taken := countReserved(reserved, low, high)
	l.ports = max(1, high-low+1-taken)
	l.portRange = fmt.Sprintf("net.ipv4.ip_local_port_range (%d-%d)", low, high)
	if taken > 0 {
		l.portRange = fmt.Sprintf("net.ipv4.ip_local_port_range (%d-%d, less %d reserved)", low, high, taken)
	}
	l.portRemedy = `widen it (sysctl -w net.ipv4.ip_local_port_range="1024 65535")`
	return l
}

// countReserved counts the ports of a list such as "8080,9148-9150" that lie
// from low to high. The kernel keeps it sorted and without overlaps.
func countReserved(list string, low, high int) (n int) {
	for item := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		a, b, isRange := strings.Cut(item, "-")
		from, err := strconv.Atoi(a)
		if err != nil {
			continue
		}
		to := from
		if isRange {
			if to, err = strconv.Atoi(b); err != nil {
				continue
			}
		}
		n += max(0, min(to, high)-max(from, low)+1)
	}
	return n
}
