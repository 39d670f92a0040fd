//go:build unix

package childtest

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// A client without CPU can tell nothing of a real server: neither pass nor fail.
func TestChildStarvedIsInvalid(t *testing.T) {
	s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: time.Millisecond, TPOT: time.Millisecond})
	c := runChild(t, []string{"PERFTEST_URL=" + s.URL(), "GOMAXPROCS=1"}, "test", gate, "-run", "^TestStarved$")
	require.Equal(t, 1, c.code, c.output)
	require.Contains(t, c.output, "INVALID")
	require.Contains(t, c.output, "the client was the bottleneck")
	require.Equal(t, perftest.Invalid, c.result(t).Verdicts[0].Point)

	for range 3 {
		c = runChild(t, []string{"PERFTEST_URL=" + s.URL()}, "test", gate, "-run", "^TestUnstarved$")
		if c.code == 0 {
			require.Equal(t, perftest.Pass, c.result(t).Verdicts[0].Point)
			return
		}
	}
	t.Skipf("this machine is too busy for a run that is not starved:\n%s", c.output)
}

// A hundred thousand requests need less than 200 MiB and lose no line.
func TestChildHugeRunStaysSmall(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	c := runChild(t, nil, "test", "-v", gate, "-run", "^TestHuge$")
	require.Zero(t, c.code, c.output)
	dir := resultDirs(t, c.results)[0]
	f, err := os.Open(filepath.Join(dir, "requests.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	seen := make([]bool, 100_000)
	start := regexp.MustCompile(`^\{"index":(\d+),"phase":"(\w+)",`) // the whole line as JSON takes longer than the run
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		m := start.FindSubmatch(lines.Bytes())
		require.NotNil(t, m, lines.Text())
		if string(m[2]) != "measured" {
			continue // the start burst and the padding have indices of their own
		}
		index, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		require.False(t, seen[index], "request %d is there twice", index)
		require.True(t, bytes.Contains(lines.Bytes(), []byte(`,"class":null,`)), "request %d has failed", index)
		seen[index] = true
	}
	require.NoError(t, lines.Err())
	require.NotContains(t, seen, false)
	if peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(c.output); peak != nil {
		kib, err := strconv.Atoi(peak[1])
		require.NoError(t, err)
		require.Less(t, kib, 200<<10)
	}
}
