//go:build unix

package childtest

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files in testdata/ci anew")

// golden compares text, but for its figures and places, with testdata/name.
func golden(t *testing.T, name, text string) {
	t.Helper()
	for _, c := range [][2]string{
		{`\d{8}T[\d.]+Z(-\d+)?`, "TIME"}, {`/\S*/TestMissed/`, "/…/TestMissed/"}, {`/\S*/TestHeld/`, "/…/TestHeld/"},
		{`\d[\d.]*(e-?\d+)?(ms|µs|ns|s|%)?\b`, "N"}, {`[+-]?N%?`, "N"}, {`\(N times\)`, "(N)"}, {`-{2,}`, "--"}, {`[ \t]+`, " "}, {`(?m) +$`, ""}, {`(?m)^cpu: .*`, "cpu: CPU"},
		{`(?m)^(goos|goarch): .*`, "$1: …"}, {`(measure at least N).*`, "$1…"},
	} {
		text = regexp.MustCompile(c[0]).ReplaceAllString(text, c[1])
	}
	path := filepath.Join("testdata", "ci", name)
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if d := cmp.Diff(string(want), text); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

// What a run on GitHub leaves, under go test and under gotestsum: the summary of
// the step, an annotation a failed test at its assertion, figures for GitLab and
// lines for benchstat.
func TestChildInCI(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	require.NoError(t, err)
	dir := t.TempDir()
	env := []string{
		"GITHUB_ACTIONS=true", "GITHUB_WORKSPACE=" + root, "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary.md"),
		"PERFTEST_METRICS=" + filepath.Join(dir, "metrics.txt"), "PERFTEST_BENCH=" + filepath.Join(dir, "new.txt"),
	}
	const chosen = "^Test(Missed|Held|CannotProve)$"
	plain := runChild(t, env, "test", gate, "-run", chosen)
	require.Equal(t, 1, plain.code, plain.output)
	var commands []string
	for line := range strings.Lines(plain.output) {
		if strings.HasPrefix(line, "::") {
			commands = append(commands, line)
		}
	}
	golden(t, "annotations.txt", strings.Join(commands, ""))
	source, err := os.ReadFile(filepath.Join(gate, "gate_test.go"))
	require.NoError(t, err)
	for i, at := range []string{"\tassert.SLOs(t, res,", "perftest.Run(t, gated(t, 20, assert.TTFT(assert.P99)"} {
		m := regexp.MustCompile(`file=perftest/childtest/testdata/gate/gate_test\.go,line=(\d+),`).FindStringSubmatch(commands[i])
		require.NotNil(t, m, commands[i])
		var line int
		fmt.Sscan(m[1], &line)
		require.Contains(t, strings.Split(string(source), "\n")[line-1], at)
	}

	// The same again in events: nothing is lost or doubled, but for the summary
	// and the benchmark's lines, which grow.
	junit := filepath.Join(dir, "junit.xml")
	events := runChild(t, env, "tool", "gotestsum", "--junitfile", junit, "--", "-run", chosen, gate)
	require.Equal(t, 1, events.code, events.output)
	require.Equal(t, 2, strings.Count(events.output, "\n::error file=perftest/childtest/testdata/gate/gate_test.go,line="), events.output)

	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(data)
	}
	metrics := read("metrics.txt")
	golden(t, "metrics.txt", metrics)
	require.Contains(t, metrics, `slo_verdict{package="github.com/slogate/slogate/perftest/childtest/testdata/gate",test="TestMissed",slo="TTFT p90 < 1ms"} 0`+"\n")
	summary := read("summary.md")
	require.Equal(t, 2, strings.Count(summary, "### FAIL TestMissed SIMULATED"))
	summary = regexp.MustCompile(`(?s)<pre>.*?</pre>`).ReplaceAllString(summary, "<pre>\n…\n</pre>")
	first, _, _ := strings.Cut(summary, "\n### PASS TestHeld") // of the second run
	golden(t, "summary.md", first)
	golden(t, "benchmark.txt", strings.Join(slices.Collect(strings.Lines(read("new.txt")))[:18], ""))
	golden(t, "junit.xml", properties(t, junit))

	require.NoError(t, os.Rename(filepath.Join(dir, "new.txt"), filepath.Join(dir, "old.txt")))
	require.Zero(t, runChild(t, env, "test", gate, "-run", "^TestHeld$").code)
	out, err := exec.CommandContext(t.Context(), "go", "tool", "benchstat", filepath.Join(dir, "old.txt"), filepath.Join(dir, "new.txt")).CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "pkg: github.com/slogate/slogate/perftest/childtest/testdata/gate\n")
	require.Contains(t, string(out), " p99-ttft-sec ")
	require.Regexp(t, `(?m)^Held .* \(p=\d.* n=2\+1\)`, string(out))
	require.NotContains(t, string(out), "syntax")
}

// Packages that are tested at the same time fill one file of figures, and one of
// lines, without losing or mixing any.
func TestChildPackagesShareCIFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	metrics, bench := filepath.Join(dir, "metrics.txt"), filepath.Join(dir, "bench.txt")
	env := []string{"PERFTEST_METRICS=" + metrics, "PERFTEST_BENCH=" + bench}
	c := runChild(t, env, "test", "-p", "2", "-run", "^TestHeld$", gate, other)
	require.Zero(t, c.code, c.output)
	for name, want := range map[string]int{metrics: 1, bench: 2} {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, want, strings.Count(string(data), map[string]string{metrics: "# EOF\n", bench: "\nBenchmarkHeld "}[name]))
		for _, pkg := range []string{"gate", "other"} {
			require.Contains(t, string(data), "slogate/perftest/childtest/testdata/"+pkg)
		}
	}
}

// properties are the test cases of a JUnit file with their properties and
// failures.
func properties(t *testing.T, name string) string {
	t.Helper()
	var b strings.Builder
	for _, c := range readJUnit(t, name) {
		fmt.Fprintf(&b, "%s\n", c.Name)
		for _, p := range c.Properties {
			fmt.Fprintf(&b, "  %s = %s\n", p.Name, p.Value)
		}
		if i := strings.Index(c.Failure, "FAIL "+c.Name); i >= 0 {
			before, _, _ := strings.Cut(c.Failure[i:], "\n=== ATTR")
			fmt.Fprintf(&b, "%s\n", before)
		}
	}
	return b.String()
}

// Eleven failed tests have ten annotations, the worst first.
func TestChildAnnotatesTheWorst(t *testing.T) {
	t.Parallel()
	c := runChild(t, []string{"GITHUB_ACTIONS=true", "CHILD_TESTS=11"}, "test", gate, "-run", "^TestMany$")
	require.Equal(t, 1, c.code, c.output)
	var limits []string
	for _, m := range regexp.MustCompile(`(?m)^::error file=\S+,title=TestMany/(\d+)%3A output tokens p90::FAIL output tokens p90 < .*$`).FindAllStringSubmatch(c.output, -1) {
		limits = append(limits, m[1])
	}
	require.Equal(t, []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}, limits, c.output)
	require.Equal(t, 1, strings.Count(c.output, "%0Aand 1 more failed tests\n"))
}
