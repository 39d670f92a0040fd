package perftest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// named is a result of the test T.
func named(name string) *Result {
	r := resultOf(1, answer(0, 100*time.Millisecond, 5))
	r.Package, r.Test, r.Name = "example.com/p", "T", name
	return r
}

// A test's runs stand beside each other in the file of figures, whichever comes
// first, and in the place of those that the test had there before.
func TestMetricsOfSeveralRuns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "metrics.txt")
	runs := func(t *testing.T, names ...string) (found []string) {
		n := &notes{t: t}
		for _, name := range names {
			n.results = append(n.results, named(name))
		}
		require.NoError(t, n.metrics(file))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for line := range strings.Lines(string(text)) {
			if labels, is := strings.CutPrefix(line, `slogate_requests_per_second{package="example.com/p",test="T"`); is {
				labels, _, _ = strings.Cut(labels, "}")
				found = append(found, labels)
			}
		}
		return found
	}
	require.Equal(t, []string{`,scenario="old"`}, runs(t, "old"))
	require.Equal(t, []string{"", `,scenario="x"`}, runs(t, "x", "T"))
	require.Equal(t, []string{"", `,scenario="x"`}, runs(t, "T", "x"))
}

// What is appended begins a line of its own, and a part of a summary a block of
// Markdown: what other tools have left may end anywhere.
func TestAppendTo(t *testing.T) {
	for _, c := range []struct{ before, sep, want string }{
		{"", "\n\n", "x"}, {"a", "\n\n", "a\n\nx"}, {"a\n", "\n\n", "a\n\nx"}, {"a\n\n", "\n\n", "a\n\nx"}, {"\n", "\n\n", "\n\nx"},
		{"a", "\n", "a\nx"}, {"a\n", "\n", "a\nx"},
	} {
		file := filepath.Join(t.TempDir(), "f")
		require.NoError(t, os.WriteFile(file, []byte(c.before), 0o600))
		require.NoError(t, appendTo(file, c.sep, func(written int) string {
			require.Equal(t, len(c.want)-1, written)
			return "x"
		}))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, c.want, string(text))
	}
	file := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(file, []byte("a"), 0o600))
	require.NoError(t, appendTo(file, "\n", func(int) string { return "" }))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "a", string(text), "nothing to say leaves it alone")
}

// Parts that are written at the same time stay whole, and below the bound over
// which GitHub shows none of them.
func TestSummariesTogetherFit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.md")
	var writers sync.WaitGroup
	for range 20 {
		writers.Go(func() {
			n := &notes{t: t, texts: []string{"table\n" + strings.Repeat("x", 90_000)}}
			if err := n.stepSummary(file); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.LessOrEqual(t, len(text), mostOfSummary)
	require.Equal(t, 20, strings.Count(string(text), "### PASS "), "each is named, if no more fits")
	require.Equal(t, 9, strings.Count(string(text), "</details>"), "900,000 bytes have room for nine of 90,000")
}

// loggedT is a test of which the log is kept.
type loggedT struct {
	testing.TB
	log []string
}

func (l *loggedT) Helper()             {}
func (l *loggedT) Attr(string, string) {}
func (l *loggedT) Log(args ...any)     { l.log = append(l.log, fmt.Sprint(args...)) }

// Files that cannot be written to fail no test, and are told of by their names.
func TestPublishToNowhere(t *testing.T) {
	folder := t.TempDir()
	names := []string{"GITHUB_STEP_SUMMARY", "PERFTEST_METRICS", "PERFTEST_BENCH"}
	for _, name := range names {
		t.Setenv(name, folder)
	}
	l := &loggedT{TB: t}
	n := &notes{t: l, results: []*Result{named("T")}}
	n.publish()
	require.Len(t, l.log, 3)
	for i, name := range names {
		require.Contains(t, l.log[i], fmt.Sprintf("%s is %q: it is not written to (", name, folder))
		require.Contains(t, l.log[i], "): name a file that can be")
	}
	for _, name := range names {
		t.Setenv(name, "")
	}
	l.log = nil
	n.publish()
	require.Empty(t, l.log, "what is not asked for is not missed")
}
