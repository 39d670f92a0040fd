// Package examples has one folder a task. Its own test runs every command that
// the README shows.
package examples

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/stretchr/testify/require"
)

const root = ".."

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "README.md"))
	require.NoError(t, err)
	return string(data)
}

// blocks are the README's fenced blocks of one language.
func blocks(text, language string) (found []string) {
	inside, block, of := false, "", ""
	for line := range strings.Lines(text) {
		fence, ok := strings.CutPrefix(line, "```")
		switch {
		case ok && inside:
			if inside = false; of == language {
				found = append(found, block)
			}
		case ok:
			inside, block, of = true, "", strings.TrimSpace(fence)
		case inside:
			block += line
		}
	}
	return found
}

// shell runs a command as a reader would, without settings of the caller's.
func shell(t *testing.T, dir, command string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "bash", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PERFTEST_") || strings.HasPrefix(v, "OPENAI_") || strings.HasPrefix(v, "GITHUB_") || strings.HasPrefix(v, "GOFLAGS=")
	}), "CI=true", "PERFTEST_BOTTLENECK=warn") // the tests share their machine
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The commands work in a fresh clone: against the simulated server, and
// against one at the README's address, in whose place another port is used.
func TestREADMECommands(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	source, err := filepath.Abs(root)
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(source, ".git")); err != nil {
		t.Skip("not a git checkout: there is nothing to clone")
	}
	s := simserver.Start(t, simserver.Profile{Model: "Qwen3-32B", TTFT: 5 * time.Millisecond, TPOT: 100 * time.Microsecond})
	dir := t.TempDir()
	var ran []string
	for _, block := range blocks(readme(t), "sh") {
		for line := range strings.Lines(block) {
			command := strings.TrimSpace(line)
			ran = append(ran, command)
			real := strings.Contains(command, "PERFTEST_URL=")
			switch {
			case strings.HasPrefix(command, "git clone "):
				command = strings.Replace(command, "https://github.com/slogate/slogate", "--quiet "+source, 1)
				command = strings.Replace(command, " && cd slogate", " slogate", 1)
			case strings.Contains(command, " ./..."): // the test command: this test is a part of it
				script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
				require.NoError(t, err)
				ordered := strings.Replace(command, " ./...", " ./perftest/... ./...", 1)
				require.Contains(t, string(script), "\n"+ordered+"\n", ".ci/run does not run the README's test command")
				continue
			case strings.HasPrefix(command, "go run "):
				servesByHand(t, dir, command)
				continue
			}
			before := s.Requests()
			output, err := shell(t, dir, strings.Replace(command, "http://127.0.0.1:8000", s.URL(), 1))
			require.NoError(t, err, "%s\n%s", command, output)
			if strings.HasPrefix(command, "git clone ") {
				dir = filepath.Join(dir, "slogate")
				continue
			}
			require.Equal(t, real, s.Requests() > before, "%s\n%s", command, output)
			if real {
				require.NotContains(t, output, "SIMULATED")
			}
			results, err := filepath.Glob(filepath.Join(dir, "scenarios", ".perftest", "TestQwen3", "*", "*", "result.json"))
			require.NoError(t, err)
			require.NotEmpty(t, results, "%s\n%s", command, output)
		}
	}
	require.Len(t, ran, 6, "the README's commands: %q", ran)
	require.FileExists(t, filepath.Join(dir, "junit.xml"))
}

// servesByHand runs the command of a simulated server, built, so that it can be
// ended, and on a free port.
func servesByHand(t *testing.T, dir, command string) {
	t.Helper()
	words := strings.Fields(strings.Replace(command, "127.0.0.1:8000", "127.0.0.1:0", 1))
	program := filepath.Join(t.TempDir(), "server.exe")
	output, err := shell(t, dir, "go build -o '"+program+"' "+words[2])
	require.NoError(t, err, output)
	server := exec.CommandContext(t.Context(), program, words[3:]...)
	stdout, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	defer server.Wait()
	defer server.Process.Kill()
	line, err := bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.Regexp(t, `^SIMULATED Qwen3-8B on http://127\.0\.0\.1:\d+ \(profile qwen3-8b-h200: `, line)
}

// The README in Chinese has the same commands, which the test above runs.
func TestChineseREADME(t *testing.T) {
	chinese, err := os.ReadFile(filepath.Join(root, "README.zh-CN.md"))
	require.NoError(t, err)
	if d := cmp.Diff(blocks(readme(t), "sh"), blocks(string(chinese), "sh")); d != "" {
		t.Errorf("the commands of README.zh-CN.md (-README.md +README.zh-CN.md):\n%s", d)
	}
}

// The failing run that the README shows is what its test prints, but for the
// figures.
func TestREADMEFailingRun(t *testing.T) {
	shown := blocks(readme(t), "")
	var want string
	for _, b := range shown {
		if strings.Contains(b, "--- FAIL") {
			want = b
		}
	}
	require.NotEmpty(t, want, "the README shows no failing run")
	t.Setenv("PERFTEST_RESULTS", "")
	output, err := shell(t, root, "go test -count=1 ./perftest/childtest/testdata/gate -run '^TestMissed$'")
	require.Error(t, err)
	if d := cmp.Diff(figures(want), figures(cutSummary(output))); d != "" {
		t.Errorf("the README's failing run (-README +printed):\n%s", d)
	}
}

// cutSummary leaves out the summary before the verdicts, as the README does.
func cutSummary(output string) string {
	start, end := strings.Index(output, "    gate_test.go"), strings.LastIndex(output, "    gate_test.go")
	if start < 0 {
		return output
	}
	return output[:start] + "    …\n" + output[end:]
}

// figures replaces every figure, and the spaces whose number depends on them.
func figures(s string) string {
	s = regexp.MustCompile(`\d{8}T[\d.]+Z`).ReplaceAllString(s, "TIME")
	s = regexp.MustCompile(`/\S*/gate/`).ReplaceAllString(s, "/…/gate/")
	s = regexp.MustCompile(`\d[\d.]*(ms|µs|s|%)?`).ReplaceAllString(s, "N")
	s = strings.ReplaceAll(s, "(N times)", "(+N)") // on a slow machine the limit is missed by more
	s = regexp.MustCompile(`-{2,}`).ReplaceAllString(s, "--")
	return regexp.MustCompile(`[ \t]+`).ReplaceAllString(s, " ")
}
