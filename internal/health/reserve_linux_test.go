package health

import (
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// fdSize is how many files this process's table has places for (proc(5)).
func fdSize(t *testing.T) int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^FDSize:\s+(\d+)$`).FindSubmatch(b)
	require.NotNil(t, m)
	n, err := strconv.Atoi(string(m[1]))
	require.NoError(t, err)
	return n
}

func TestReserveFilesGrowsTheTableAhead(t *testing.T) {
	l := readLimits()
	if l.files > 0 && l.files < 12_000 {
		t.Skipf("only %d files may be open here", l.files)
	}
	open := l.open
	ReserveFiles(Need{})
	require.GreaterOrEqual(t, fdSize(t), 4096, "a load without bound")
	ReserveFiles(Need{Connections: 5000})
	require.GreaterOrEqual(t, fdSize(t), 5000)
	ReserveFiles(Need{Connections: 5000, FilesEach: 2})
	require.GreaterOrEqual(t, fdSize(t), 10_000)
	require.LessOrEqual(t, readLimits().open, open+2, "nothing stays open")

	before := fdSize(t)
	Need{Connections: 1 << 28}.reserve(limits{files: 1000})
	require.Equal(t, before, fdSize(t), "not over the limit, and never smaller")
}
