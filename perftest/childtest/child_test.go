//go:build unix

package childtest

import (
	"errors"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

const (
	gate  = "./testdata/gate"
	other = "./testdata/other"
)

// child is a real go test on one of the packages below testdata.
type child struct {
	results string // folder of its results
	output  string
	code    int
}

// command is a go command with a clean PERFTEST_ environment.
func command(t *testing.T, results string, env []string, args ...string) *exec.Cmd {
	schematest.AtEnd(t, results)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PERFTEST_") || strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "GITHUB_") || strings.HasPrefix(v, "GOFLAGS=")
	})
	cmd.Env = append(cmd.Env, "PERFTEST_RESULTS="+results, "CI=true")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

func runChild(t *testing.T, env []string, args ...string) child {
	t.Helper()
	c := child{results: t.TempDir()}
	cmd := command(t, c.results, env, args...)
	out, err := cmd.CombinedOutput()
	c.output = string(out)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		c.code = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	return c
}

// resultDirs are the folders of results below root.
func resultDirs(t *testing.T, root string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "requests.jsonl" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return err
	}))
	return dirs
}

// result is the only one that the child left.
func (c child) result(t *testing.T) *perftest.Result {
	t.Helper()
	dirs := resultDirs(t, c.results)
	require.Len(t, dirs, 1, c.output)
	r, err := perftest.ReadResult(dirs[0])
	require.NoError(t, err, c.output)
	return r
}

func TestChildHeldIsNeverCached(t *testing.T) {
	t.Parallel()
	for range 2 {
		c := runChild(t, nil, "test", gate, "-run", "^TestHeld$")
		require.Zero(t, c.code, c.output)
		require.NotContains(t, c.output, "(cached)")
		require.Equal(t, 20, c.result(t).Counts.Succeeded)
	}
}

func TestChildMissedExitsOneWithATable(t *testing.T) {
	t.Parallel()
	c := runChild(t, nil, "test", gate, "-run", "^TestMissed$")
	require.Equal(t, 1, c.code, c.output)
	for _, want := range []string{"FAIL", "TTFT p90 < 1ms", "objective", "measured", "off by", "samples", "SIMULATED", "result.json"} {
		require.Contains(t, c.output, want)
	}
	r := c.result(t)
	require.True(t, r.Simulated)
	require.Equal(t, []perftest.Outcome{perftest.Fail, perftest.Pass}, []perftest.Outcome{r.Verdicts[0].Point, r.Verdicts[1].Point})
	require.Equal(t, 20, r.Verdicts[0].Over)
	for _, unasked := range []string{"::error", "### "} { // what is for a CI's page
		require.NotContains(t, c.output, unasked)
	}
}

func TestChildJUnitHoldsTableAndProperties(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "junit.xml")
	c := runChild(t, nil, "tool", "gotestsum", "--junitfile", file, "--", "-run", "^TestMissed$|^TestHeld$", gate)
	require.Equal(t, 1, c.code, c.output)
	cases := readJUnit(t, file)
	require.Len(t, cases, 2)
	for _, tc := range cases {
		properties := map[string]string{}
		for _, p := range tc.Properties {
			properties[p.Name] = p.Value
		}
		require.Equal(t, "true", properties["perftest.simulated"])
		require.Equal(t, "20", properties["perftest.requests"])
		require.FileExists(t, properties["perftest.result"])
		for _, name := range []string{"perftest.ttft_p99_s", "perftest.tpot_mean_s", "perftest.output_tokens_per_s"} {
			require.NotEmpty(t, properties[name], name)
		}
		if tc.Name == "TestMissed" {
			require.Contains(t, tc.Failure, "TTFT p90 < 1ms")
			require.Contains(t, tc.Failure, "20 (2 allowed)")
		} else {
			require.Empty(t, tc.Failure)
		}
	}
}

func TestChildVacuousGreenIsRed(t *testing.T) {
	t.Parallel()
	typo := runChild(t, []string{"PERFTEST_REQUIRED=1"}, "test", gate, "-run", "^TestTypo$")
	require.Equal(t, 1, typo.code, typo.output)
	require.Contains(t, typo.output, "no scenario ran")

	simulated := runChild(t, []string{"PERFTEST_REQUIRED=1"}, "test", gate, "-run", "^TestHeld$")
	require.Equal(t, 1, simulated.code, simulated.output)
	require.Contains(t, simulated.output, "PERFTEST_URL")
	require.Empty(t, resultDirs(t, simulated.results))

	flags := runChild(t, nil, "test", gate, "-run", "^TestTypo$", "-args", "-perf.required")
	require.Equal(t, 1, flags.code, flags.output)
}

// Two packages that measure one server at the same time take turns: no request
// of the one comes between two of the other. Each gives up no request at its end,
// which the server could see later.
func TestChildPackagesTakeTurns(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var turns []string
	asked := map[string]int{}
	s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: 5 * time.Millisecond, TPOT: time.Millisecond, Observe: func(_ *http.Request, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		who := regexp.MustCompile(`"user":"(\w+)"`).FindSubmatch(body)
		if asked[string(who[1])]++; len(turns) == 0 || turns[len(turns)-1] != string(who[1]) {
			turns = append(turns, string(who[1]))
		}
	}})
	c := runChild(t, []string{"PERFTEST_URL=" + s.URL(), "PERFTEST_BOTTLENECK=warn"}, "test", "-p", "2", "-run", "^TestTurns$", gate, other) // the machine may be busy
	require.Zero(t, c.code, c.output)
	require.NotContains(t, c.output, "SIMULATED")
	require.Len(t, resultDirs(t, c.results), 2)
	for _, dir := range resultDirs(t, c.results) {
		r, err := perftest.ReadResult(dir)
		require.NoError(t, err)
		require.Equal(t, 20, r.Counts.Succeeded)
	}
	s.Close()
	require.Len(t, turns, 2)
	require.Equal(t, map[string]int{"gate": 1 + 20, "other": 1 + 20}, asked, "with the preflight")
}

// A baseline that PERFTEST_UPDATE has made holds back a server that is five
// times slower, in a table that CI reads.
func TestChildRegressed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "T.jsonl")
	against := func(tpot time.Duration, env ...string) []string {
		s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: tpot, TPOT: tpot})
		return append(env, "PERFTEST_URL="+s.URL(), "CHILD_BASELINE="+file, "PERFTEST_BOTTLENECK=warn")
	}
	made := runChild(t, against(5*time.Millisecond, "PERFTEST_UPDATE=1"), "test", gate, "-run", "^TestNoSlower$")
	require.Zero(t, made.code, made.output)
	asOnAQuietMachine(t, file)

	report := filepath.Join(t.TempDir(), "junit.xml")
	c := runChild(t, against(25*time.Millisecond), "tool", "gotestsum", "--junitfile", report, "--", "-run", "^TestNoSlower$", gate)
	require.Equal(t, 1, c.code, c.output)
	junit, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, text := range []string{c.output, string(junit)} {
		require.Regexp(t, `REGRESSED TestNoSlower: 3 of 3 figures proved more than 50% worse \(3 runs against 3 of the baseline\)`, text)
		require.Regexp(t, `REGRESSED +TPOT mean`, text)
		require.Contains(t, text, "PERFTEST_UPDATE=1 go test")
	}
}

// asOnAQuietMachine gives the runs of TestNoSlower's baseline the figures that
// they have on a machine that does nothing else: one stall, and they are so far
// apart that nothing can be proved to be slower. Two slots get four tokens each
// in 5 + 3·5 ms.
func asOnAQuietMachine(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	for name, figure := range map[string]string{"ttft_p50_s": "0.005", "tpot_mean_s": "0.005", "output_tokens_per_s": "400"} {
		is := regexp.MustCompile(`"` + name + `":[^,}]+`)
		require.Len(t, is.FindAll(data, -1), 3, name)
		data = is.ReplaceAll(data, []byte(`"`+name+`":`+figure))
	}
	require.NoError(t, os.WriteFile(file, data, 0o644))
}

// A key that comes from the environment reaches the server, and no file and no
// output, also when the server repeats it.
func TestChildKeepsTheKey(t *testing.T) {
	t.Parallel()
	const key = "sk-very-hidden-0123456789"
	s := simserver.Start(t, simserver.Profile{Model: "m", APIKey: key, TPOT: time.Millisecond})
	ok := runChild(t, []string{"PERFTEST_URL=" + s.URL(), "PERFTEST_API_KEY=" + key, "PERFTEST_BOTTLENECK=warn"}, "test", "-v", gate, "-run", "^TestHeld$")
	require.Zero(t, ok.code, ok.output)
	wrong := runChild(t, []string{"PERFTEST_URL=" + s.URL(), "OPENAI_API_KEY=" + key + "x"}, "test", "-v", gate, "-run", "^TestHeld$")
	require.Equal(t, 1, wrong.code, wrong.output)
	require.Contains(t, wrong.output, "401")
	for _, c := range []child{ok, wrong} {
		require.NotContains(t, c.output, key)
		require.NoError(t, filepath.WalkDir(c.results, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			require.NotContains(t, string(data), key, path)
			return err
		}))
	}
}
