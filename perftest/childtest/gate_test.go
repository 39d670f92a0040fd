//go:build unix

package childtest

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A gate's verdicts as go test and gotestsum show them: proven is green, not
// proven and lost are red, and what the plan could not prove sends nothing.
func TestChildGates(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "junit.xml")
	c := runChild(t, nil, "tool", "gotestsum", "--format", "standard-verbose", "--junitfile", file, "--", "-run", "^Test(Proven|Unproven|Lost|CannotProve)$", gate)
	require.Equal(t, 1, c.code, c.output)
	failures := map[string]string{}
	for _, tc := range readJUnit(t, file) {
		failures[tc.Name] = tc.Failure
	}
	require.Len(t, failures, 4)
	require.Empty(t, failures["TestProven"])
	require.Regexp(t, `PASS 1 SLO proven: TTFT p90 \S+ \(bound \S+\) < 1m|PASS 1 SLO proven: TTFT p90 \S+ < 1m \(bound`, c.output)
	for name, wants := range map[string][]string{
		"TestUnproven":    {"INCONCLUSIVE TestUnproven: 1 of 1 SLO not proven (20 requests, 0 failed) SIMULATED", "0 of 20 over, p90 at 95% needs"},
		"TestLost":        {"FAIL TestLost: 1 of 1 SLO missed", "PARTIAL: must fail after", "whatever the rest of 2000 do"},
		"TestCannotProve": {"Load is 20 requests: they cannot prove TTFT p99 < 1m (299)", "measure at least 299"},
	} {
		for _, want := range wants {
			require.Contains(t, failures[name], want)
			require.Contains(t, c.output, want)
		}
	}

	short := runChild(t, nil, "test", "-v", "-short", "-run", "^TestCannotProve$", gate)
	require.Zero(t, short.code, short.output)
	require.Contains(t, short.output, "--- SKIP: TestCannotProve")
	required := runChild(t, []string{"PERFTEST_REQUIRED=1"}, "test", "-short", "-run", "^TestCannotProve$", gate)
	require.Equal(t, 1, required.code, required.output)
}
