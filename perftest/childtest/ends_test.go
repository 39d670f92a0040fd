//go:build unix

package childtest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// A run ends when two fifths of its time are left, of which it gives requests in
// flight one fifth. What is left here, and what is before, is time for a machine
// that does little for some seconds.
func TestChildStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	c := runChild(t, nil, "test", gate, "-run", "^TestLong$", "-timeout", "10s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	require.Contains(t, c.output, "before the test's deadline")
	r := c.result(t)
	require.True(t, r.Partial)
	require.Equal(t, "deadline", r.Ended)
	require.Positive(t, r.Counts.Succeeded)
}

// A server and a workload that are stuck do not keep a run from its end before
// the deadline, with what it has.
func TestChildStuckStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	c := runChild(t, nil, "test", gate, "-run", "^TestStuck$", "-timeout", "10s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	r := c.result(t)
	require.Equal(t, "deadline", r.Ended)
	require.Equal(t, 2, r.Counts.Cancelled)
	require.Contains(t, strings.Join(r.Warnings, "\n"), "the workload did not give its next request")
}

func TestChildInterrupted(t *testing.T) {
	t.Parallel()
	results := t.TempDir()
	cmd := command(t, results, nil, "test", "-v", gate, "-run", "^TestLong") // without -v, go test drops the output of what it interrupts
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	inOwnGroup(cmd)
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		for _, dir := range resultDirs(t, results) {
			if info, err := os.Stat(filepath.Join(dir, "requests.jsonl")); err == nil && info.Size() > 0 {
				return true
			}
		}
		return false
	}, 5*time.Minute, 50*time.Millisecond) // it is built first
	require.NoError(t, interruptGroup(cmd))
	require.Error(t, cmd.Wait(), "an interrupted run is no success")
	r := child{results: results, output: out.String()}.result(t) // one: TestLongerStill did not start
	require.True(t, r.Partial)
	require.Equal(t, "interrupted", r.Ended)
	require.Positive(t, r.Counts.Succeeded)
	require.Equal(t, r.Counts.Sent, r.Counts.Succeeded+r.Counts.Failed+r.Counts.Cancelled)
	require.Equal(t, perftest.Invalid, r.Judge(perftest.SLO{Metric: perftest.ErrorRate, Op: perftest.AtMost, Limit: 1})[0].Point)
	require.Contains(t, out.String(), "interrupted")
}

// A search that its deadline ends is red, says what it has, and has written it.
func TestChildSearchStopsBeforeTheDeadline(t *testing.T) {
	t.Parallel()
	c := runChild(t, nil, "test", gate, "-run", "^TestSearch$", "-timeout", "15s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	require.Contains(t, c.output, "the search was cut short (deadline)")
	require.Contains(t, c.output, "INVALID max load at least 1 concurrency: the search could not end")
	files, err := filepath.Glob(filepath.Join(c.results, "TestSearch", "maxload-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// A sweep that is cut short while it cools down is no success, though every
// level that ran is one; and -run may choose a level that is not the first.
func TestChildSweep(t *testing.T) {
	t.Parallel()
	c := runChild(t, nil, "test", gate, "-run", "^TestLevels$", "-timeout", "10s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	require.Contains(t, c.output, "the cool-down before it was cut short (deadline)")
	require.Equal(t, "TestLevels/c=1", c.result(t).Name)

	one := runChild(t, nil, "test", gate, "-run", "^TestLevels$/^c=4$")
	require.Zero(t, one.code, one.output)
	require.Equal(t, 16, one.result(t).Counts.Succeeded)
}
