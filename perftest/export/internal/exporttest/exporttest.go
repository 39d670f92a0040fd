// Package exporttest runs loads for the tests of the exporters.
package exporttest

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/internal/export"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// Run measures ten requests of four tokens, of which one fails, with two of a
// warm-up before them.
func Run(t *testing.T, observers ...perftest.Observer) *perftest.Result {
	t.Helper()
	t.Setenv("PERFTEST_RESULTS", t.TempDir())
	t.Setenv("PERFTEST_REQUIRED", "")
	s := simserver.Start(t, simserver.Profile{TTFT: 5 * time.Millisecond, TPOT: time.Millisecond, Faults: []simserver.Fault{{Kind: simserver.Status503, Requests: []int{5}}}})
	return perftest.Run(t, perftest.Scenario{
		Name: "export", Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 4},
		Load: perftest.Closed{Concurrency: 1, Requests: 10, KeepEnds: true}, Warmup: perftest.Warmup{Requests: 2}, Observers: observers,
	})
}

// Hurry takes the patience that all exporters have with an endpoint that hangs from
// one of them, and gives it less, so that a machine that stalls does not make the
// run give the exporter up first.
func Hurry(t *testing.T, client *http.Client) {
	t.Helper()
	require.Equal(t, export.Patience, client.Timeout)
	client.Timeout = 500 * time.Millisecond
}

// Hung is the URL of a server that takes connections and says nothing.
func Hung(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return "http://user:hidden-password@" + l.Addr().String() + "/"
}

// Serve serves h until the test ends.
func Serve(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// WarnsOnce runs a load beside an exporter whose endpoint is of no use, and
// asks for one warning with that text, in a bounded time, and for no secret.
func WarnsOnce(t *testing.T, o perftest.Observer, want string) {
	t.Helper()
	begun := time.Now()
	res := Run(t, o)
	require.Less(t, time.Since(begun).Seconds()-float64(res.Window), 30., "the end of the run was held up")
	about := warnings(res)
	require.Len(t, about, 1, "%q", res.Warnings)
	require.Contains(t, about[0], want)
	data, err := os.ReadFile(filepath.Join(res.Dir, "result.json"))
	require.NoError(t, err)
	require.NotContains(t, string(data), "hidden")
}

// WarnsNot asks for no warning of an exporter's. A busy machine may earn others.
func WarnsNot(t *testing.T, res *perftest.Result) {
	t.Helper()
	require.Empty(t, warnings(res))
}

// warnings are those of the observers.
func warnings(res *perftest.Result) (about []string) {
	for _, w := range res.Warnings {
		if strings.Contains(w, "observer") {
			about = append(about, w)
		}
	}
	return about
}

// NotInCore fails where package perftest is built with one of these modules.
func NotInCore(t *testing.T, modules ...string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "github.com/slogate/slogate/perftest", "github.com/slogate/slogate/assert", "github.com/slogate/slogate/fixtures").CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, m := range modules {
		require.NotContains(t, string(out), m)
	}
}
