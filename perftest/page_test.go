package perftest_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// hostile is what a server might say to a page or a terminal.
const hostile = `</script><img src=x onerror="document.documentElement.dataset.hacked=1"><script>document.documentElement.dataset.hacked=1</script>` + "\x1b]0;hacked\a\x1b[31m"

// hostileServer streams short answers, and fails one request in five with a
// hostile text.
func hostileServer(t *testing.T) string {
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Method == http.MethodPost && n.Add(1)%5 == 4 {
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, hostile)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 6 {
			time.Sleep(time.Millisecond)
			fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"token %d \"}}]}\n\n", i)
			w.(http.Flusher).Flush()
		}
		_, _ = io.WriteString(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":6}}\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func hostileScenario(t *testing.T) perftest.Scenario {
	return perftest.Scenario{
		Name:     hostile,
		Target:   perftest.Target{URL: hostileServer(t), Model: hostile},
		Workload: fixtures.Builtin{Output: 6},
		Load:     perftest.Closed{Concurrency: 4, Requests: 60},
		Warmup:   perftest.Warmup{Requests: 4},
	}
}

// quiet is a test whose missed objectives are no failure of ours.
type quiet struct{ testing.TB }

func (quiet) Errorf(string, ...any) {}

// The pages of a run, of a sweep and of a comparison, from a hostile server,
// as files and in a browser.
func TestPages(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PERFTEST_RESULTS", root)
	t.Setenv("PERFTEST_BOTTLENECK", "warn")
	var runs []*perftest.Result
	t.Run("runs", func(t *testing.T) {
		for range 3 {
			res := perftest.Run(t, hostileScenario(t))
			assert.SLOs(quiet{t}, res, assert.TTFT(assert.P90).Below(time.Second), assert.TPOT(assert.Mean).Below(time.Second), assert.ErrorRate().AtMost(0.5))
			runs = append(runs, res)
		}
	})
	s := hostileScenario(t)
	s.Name = ""
	perftest.Sweep(t, s, perftest.Levels{Loads: perftest.Concurrencies(15, 1, 4)}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res, assert.TTFT(assert.P50).Below(time.Second))
	})
	sweeps, err := filepath.Glob(filepath.Join(root, "TestPages", "*", "report.html"))
	require.NoError(t, err)
	require.Len(t, sweeps, 1)
	compared := filepath.Join(root, "compared")
	require.NoError(t, perftest.Compare(compared, runs...))

	for name, c := range map[string]struct {
		file   string
		charts int // 4 percentile curves and 5 over time, 3 of levels; a timeline and a heat map a run
		says   []string
	}{
		"run":        {filepath.Join(runs[0].Dir, "report.html"), 9 + 2, []string{"TTFT p90 &lt; 1s", "warm-up", "EvalScope", "500"}},
		"sweep":      {sweeps[0], 9 + 3 + 2*2, []string{"c=1", "c=4", "Sweep of 2 levels"}},
		"comparison": {filepath.Join(compared, "report.html"), 9 + 3 + 3*2, []string{"3 runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			html, err := os.ReadFile(c.file)
			require.NoError(t, err)
			for _, text := range c.says {
				require.True(t, strings.Contains(string(html), text), text) // Contains would print the page
			}
			require.False(t, strings.Contains(string(html), "<img"))
			require.False(t, strings.Contains(string(html), "\x1b"))
			require.Equal(t, 2, strings.Count(string(html), "</script>"))
			dom, messages := browse(t, c.file)
			require.NotContains(t, messages, "CONSOLE")
			require.True(t, strings.Contains(dom, `data-ready="true"`))
			require.False(t, strings.Contains(dom, `data-hacked="`))
			require.False(t, strings.Contains(dom, "<img"))
			require.Equal(t, c.charts, strings.Count(dom, `data-drawn="true"`), "charts drawn")
		})
	}
}

// Were a text not escaped, its scripts would not run all the same.
func TestPagePolicy(t *testing.T) {
	dir := t.TempDir()
	res, err := perftest.ReadResult("testdata/worked")
	require.NoError(t, err)
	require.NoError(t, perftest.Compare(dir, res))
	name := filepath.Join(dir, "report.html")
	html, err := os.ReadFile(name)
	require.NoError(t, err)
	html = bytes.Replace(html, []byte("<main"), []byte(hostile+"<main"), 1)
	require.NoError(t, os.WriteFile(name, html, 0o644))
	dom, messages := browse(t, name)
	require.Contains(t, messages, "CONSOLE") // so that its absence means something
	require.Contains(t, messages, "Content Security Policy")
	require.False(t, strings.Contains(dom, `data-hacked="`))
}

// browse opens a file in headless Chromium, without a network, and gives the
// document as it then is and what the browser says.
func browse(t *testing.T, file string) (dom, messages string) {
	t.Helper()
	var browser string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			browser = path
			break
		}
	}
	if browser == "" {
		t.Skip("no browser: install chromium (apt-get install chromium) to see that the page draws its charts")
	}
	profile, err := os.MkdirTemp("", "browser") // not t.TempDir: a process of the browser's may still write when it has ended
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(profile) })
	args := []string{"--headless", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=" + profile, "--proxy-server=127.0.0.1:1", "--disable-background-networking",
		"--enable-logging=stderr", "--window-size=1280,900", "--dump-dom"}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox") // which Chromium needs of root
	}
	cmd := exec.CommandContext(t.Context(), browser, append(args, "file://"+filepath.ToSlash(file))...)
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	require.NoError(t, cmd.Run(), "%s", &said)
	return out.String(), said.String()
}
