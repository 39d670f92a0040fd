package perftest

import (
	"os"
	"path/filepath"
	"strings"
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
