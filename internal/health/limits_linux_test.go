package health

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestPortLimits(t *testing.T) {
	for _, c := range []struct {
		bounds, reserved string
		ports            int
		name             string
	}{
		{"32768\t60999\n", "\n", 28232, "net.ipv4.ip_local_port_range (32768-60999)"},
		// 40000, 50000 to 50009 and 60990 to 60999 lie in the range: 21.
		{"32768\t60999\n", "8080,9148-9150,40000,50000-50009,60990-62000\n", 28211, "net.ipv4.ip_local_port_range (32768-60999, less 21 reserved)"},
		{"32768\t32768\n", "", 1, "net.ipv4.ip_local_port_range (32768-32768)"},
		{"", "", 0, ""},
		{"x y", "", 0, ""},
		{"9 8", "", 0, ""},
	} {
		l := portLimits(fstest.MapFS{
			"proc/sys/net/ipv4/ip_local_port_range":     {Data: []byte(c.bounds)},
			"proc/sys/net/ipv4/ip_local_reserved_ports": {Data: []byte(c.reserved)},
		})
		require.Equal(t, c.ports, l.ports)
		require.Equal(t, c.name, l.portRange)
	}
	require.Zero(t, portLimits(fstest.MapFS{}))
	require.Zero(t, countReserved("a,1-b,-,", 0, 65535))
}

// Each file that is opened is counted.
func TestOpenFiles(t *testing.T) {
	before := openFiles("/proc/self/fd")
	for range 5 {
		f, err := os.Open("/dev/null")
		require.NoError(t, err)
		defer f.Close()
	}
	require.Equal(t, before+5, openFiles("/proc/self/fd"))
	require.Zero(t, openFiles("/proc/self/nothing"))
}
