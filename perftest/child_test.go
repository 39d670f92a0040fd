//go:build unix

package perftest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema/schematest"
)

const (
	gate  = "./testdata/child/gate"
	other = "./testdata/child/other"
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
	for range 2 {
		c := runChild(t, nil, "test", gate, "-run", "^TestHeld$")
		require.Zero(t, c.code, c.output)
		require.NotContains(t, c.output, "(cached)")
		require.Equal(t, 20, c.result(t).Counts.Succeeded)
	}
}

func TestChildMissedExitsOneWithATable(t *testing.T) {
	c := runChild(t, nil, "test", gate, "-run", "^TestMissed$")
	require.Equal(t, 1, c.code, c.output)
	for _, want := range []string{"FAIL", "TTFT p90 < 1ms", "objective", "measured", "off by", "samples", "SIMULATED", "result.json"} {
		require.Contains(t, c.output, want)
	}
	r := c.result(t)
	require.True(t, r.Simulated)
	require.Equal(t, []perftest.Outcome{perftest.Fail, perftest.Pass}, []perftest.Outcome{r.Verdicts[0].Point, r.Verdicts[1].Point})
	require.Equal(t, 20, r.Verdicts[0].Over)
}

func TestChildJUnitHoldsTableAndProperties(t *testing.T) {
	file := filepath.Join(t.TempDir(), "junit.xml")
	c := runChild(t, nil, "tool", "gotestsum", "--junitfile", file, "--", "-run", "^TestMissed$|^TestHeld$", gate)
	require.Equal(t, 1, c.code, c.output)
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var report struct {
		Cases []struct {
			Name       string `xml:"name,attr"`
			Failure    string `xml:"failure"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
		} `xml:"testsuite>testcase"`
	}
	require.NoError(t, xml.Unmarshal(data, &report))
	require.Len(t, report.Cases, 2)
	for _, tc := range report.Cases {
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

func TestChildStopsBeforeTheDeadline(t *testing.T) {
	c := runChild(t, nil, "test", gate, "-run", "^TestLong$", "-timeout", "6s")
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
	c := runChild(t, nil, "test", gate, "-run", "^TestStuck$", "-timeout", "5s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	r := c.result(t)
	require.Equal(t, "deadline", r.Ended)
	require.Equal(t, 2, r.Counts.Cancelled)
	require.Contains(t, strings.Join(r.Warnings, "\n"), "the workload did not give its next request")
}

func TestChildInterrupted(t *testing.T) {
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
	}, time.Minute, 50*time.Millisecond)
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

func TestChildVacuousGreenIsRed(t *testing.T) {
	t.Parallel() // beside other children: it waits for the go command more than it works
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

// Two packages that measure one server at the same time take turns: the
// server never sees more than one scenario's two requests at once.
func TestChildPackagesTakeTurns(t *testing.T) {
	s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: 5 * time.Millisecond, TPOT: time.Millisecond})
	c := runChild(t, []string{"PERFTEST_URL=" + s.URL(), "PERFTEST_BOTTLENECK=warn"}, "test", "-p", "2", "-run", "^TestHeld$", gate, other) // the machine may be busy
	require.Zero(t, c.code, c.output)
	require.NotContains(t, c.output, "SIMULATED")
	require.Len(t, resultDirs(t, c.results), 2)
	require.LessOrEqual(t, s.Peak(), 2)
	sent, never := 0, 0 // padding may be cancelled before it is sent
	for _, dir := range resultDirs(t, c.results) {
		r, err := perftest.ReadResult(dir)
		require.NoError(t, err)
		require.Equal(t, []int{20, 2}, []int{r.Counts.Succeeded, r.Counts.Start})
		sent += 1 + r.Counts.Start + r.Counts.Sent // 1 of the preflight
		never += r.Counts.Padding
	}
	require.GreaterOrEqual(t, s.Requests(), sent)
	require.LessOrEqual(t, s.Requests(), sent+never)
}

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

// A baseline that PERFTEST_UPDATE has made holds back a server that is five
// times slower, in a table that CI reads.
func TestChildRegressed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "T.jsonl")
	against := func(tpot time.Duration, env ...string) []string {
		s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: tpot, TPOT: tpot})
		return append(env, "PERFTEST_URL="+s.URL(), "CHILD_BASELINE="+file, "PERFTEST_BOTTLENECK=warn")
	}
	made := runChild(t, against(10*time.Millisecond, "PERFTEST_UPDATE=1"), "test", gate, "-run", "^TestNoSlower$")
	require.Zero(t, made.code, made.output)
	require.FileExists(t, file)

	report := filepath.Join(t.TempDir(), "junit.xml")
	c := runChild(t, against(50*time.Millisecond), "tool", "gotestsum", "--junitfile", report, "--", "-run", "^TestNoSlower$", gate)
	require.Equal(t, 1, c.code, c.output)
	junit, err := os.ReadFile(report)
	require.NoError(t, err)
	for _, text := range []string{c.output, string(junit)} {
		require.Regexp(t, `REGRESSED TestNoSlower: 3 of 3 figures proved more than 50% worse \(3 runs against 3 of the baseline\)`, text)
		require.Regexp(t, `REGRESSED +TPOT mean`, text)
		require.Contains(t, text, "PERFTEST_UPDATE=1 go test")
	}
}

// A search that its deadline ends is red, says what it has, and has written it.
func TestChildSearchStopsBeforeTheDeadline(t *testing.T) {
	c := runChild(t, nil, "test", gate, "-run", "^TestSearch$", "-timeout", "8s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	require.Contains(t, c.output, "the search was cut short (deadline)")
	require.Contains(t, c.output, "INVALID max load at least 1 concurrency: the search could not end")
	files, err := filepath.Glob(filepath.Join(c.results, "TestSearch", "maxload-*.json"))
	require.NoError(t, err)
	require.Len(t, files, 1)
}

// A key that comes from the environment reaches the server, and no file and no
// output, also when the server repeats it.
func TestChildKeepsTheKey(t *testing.T) {
	t.Parallel() // beside other children: it waits for the go command more than it works
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

// A hundred thousand requests need less than 200 MiB and lose no line.
func TestChildHugeRunStaysSmall(t *testing.T) {
	t.Parallel() // beside other children: it waits for the go command more than it works
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
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var line struct {
			Index int     `json:"index"`
			Phase string  `json:"phase"`
			Class *string `json:"class"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &line))
		if line.Phase != "measured" {
			continue // the start burst and the padding have indices of their own
		}
		require.False(t, seen[line.Index], "request %d is there twice", line.Index)
		require.Nil(t, line.Class)
		seen[line.Index] = true
	}
	require.NotContains(t, seen, false)
	if peak := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindStringSubmatch(c.output); peak != nil {
		kib, err := strconv.Atoi(peak[1])
		require.NoError(t, err)
		require.Less(t, kib, 200<<10)
	}
}

// A sweep that is cut short while it cools down is no success, though every
// level that ran is one; and -run may choose a level that is not the first.
func TestChildSweep(t *testing.T) {
	t.Parallel() // beside other children: it waits for the go command more than it works
	c := runChild(t, nil, "test", gate, "-run", "^TestLevels$", "-timeout", "4s")
	require.Equal(t, 1, c.code, c.output)
	require.NotContains(t, c.output, "panic: test timed out")
	require.Contains(t, c.output, "the cool-down before it was cut short (deadline)")
	require.Equal(t, "TestLevels/c=1", c.result(t).Name)

	one := runChild(t, nil, "test", gate, "-run", "^TestLevels$/^c=4$")
	require.Zero(t, one.code, one.output)
	require.Equal(t, 16, one.result(t).Counts.Succeeded)
}
