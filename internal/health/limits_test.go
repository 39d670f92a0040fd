package health

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// 12 files are open and 32 are spared: 1024 leave room for 980 connections, or
// 490 whose server is in the process too. 28,232 ports for each source.
func TestNeed(t *testing.T) {
	l := limits{files: 1024, open: 12, ports: 28232, portRange: "range (32768-60999)", portRemedy: "widen it"}
	for _, c := range []struct {
		need         Need
		files, ports int // needed, where too many
	}{
		{Need{}, 0, 0},
		{Need{Connections: 980}, 0, 0},
		{Need{Connections: 981}, 1025, 0},
		{Need{Connections: 490, FilesEach: 2}, 0, 0},
		{Need{Connections: 491, FilesEach: 2}, 1026, 0},
		{Need{Connections: 28233}, 28277, 28233},
		{Need{Connections: 28233, Sources: 2}, 28277, 0},
	} {
		err := c.need.check(l)
		var got []int
		if joined, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range joined.Unwrap() {
				limit, ok := errors.AsType[*LimitError](e)
				require.True(t, ok)
				got = append(got, limit.Needed)
			}
		}
		var want []int
		for _, n := range []int{c.files, c.ports} {
			if n > 0 {
				want = append(want, n)
			}
		}
		require.Equal(t, want, got, "%+v", c.need)
	}
	require.NoError(t, Need{Connections: 1 << 30}.check(limits{}), "a system that does not tell")
}

func TestLimitMessages(t *testing.T) {
	err := Need{Connections: 60000, Sources: 2}.check(limits{
		files: 20000, open: 9, ports: 28232,
		portRange: "net.ipv4.ip_local_port_range (32768-60999)", portRemedy: `widen it (sysctl -w net.ipv4.ip_local_port_range="1024 65535")`,
	})
	want := `60000 connections need 60041 open files (9 are open now), but RLIMIT_NOFILE allows 20000: ` +
		`raise the hard limit before the run (ulimit -n 65536 as root, LimitNOFILE= of a service, --ulimit nofile=65536 of a container), ` +
		`or spread the load over several machines
60000 connections to one address need as many local ports, but net.ipv4.ip_local_port_range (32768-60999) allows 56464: ` +
		`widen it (sysctl -w net.ipv4.ip_local_port_range="1024 65535"), or use more source addresses, or spread the load over several machines`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Errorf("message (-want +got):\n%s", diff)
	}
}

func TestThisSystemsLimits(t *testing.T) {
	require.NoError(t, CheckLimits(Need{Connections: 1}))
	if l := readLimits(); l.files == 0 && l.ports == 0 {
		t.Skip("this system does not tell")
	}
	require.Error(t, CheckLimits(Need{Connections: 1 << 30}))
}
