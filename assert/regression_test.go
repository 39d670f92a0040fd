package assert_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// repeated is the result of three runs of a server whose tokens come so fast.
func repeated(t *testing.T, tpot time.Duration) (res *perftest.Result) {
	t.Setenv("PERFTEST_RESULTS", t.TempDir())
	t.Setenv("PERFTEST_REQUIRED", "")
	t.Setenv("PERFTEST_UPDATE", "")
	synctest.Test(t, func(t *testing.T) {
		target := simserver.StartPipe(t, simserver.Profile{TTFT: 5 * tpot, TPOT: tpot}).Target()
		res = perftest.Run(t, perftest.Scenario{
			Target: target, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 9},
			Load: perftest.Closed{Concurrency: 2, Requests: 50}, Repeat: 3,
		})
	})
	return res
}

// real is a result as of a server that is not simulated.
func real(res *perftest.Result) *perftest.Result { res.Simulated = false; return res }

// One file through its life: none, made, kept, regressed, accepted.
func TestNoRegression(t *testing.T) {
	b := assert.Baseline{File: filepath.Join(t.TempDir(), "T.jsonl")}
	fast, slow := repeated(t, 10*time.Millisecond), repeated(t, 13*time.Millisecond)

	var r recorder
	require.True(t, assert.NoRegression(&r, fast, b), "a simulated server stands in")
	require.Regexp(t, `^NO BASELINE `, r.logs[0])
	t.Setenv("PERFTEST_REQUIRED", "1")
	r = recorder{}
	require.False(t, assert.NoRegression(&r, fast, b))
	require.Contains(t, r.errors[0], "PERFTEST_UPDATE=1 go test")
	require.NoFileExists(t, b.File)

	t.Setenv("PERFTEST_UPDATE", "1")
	r = recorder{}
	require.True(t, assert.NoRegression(&r, fast, b))
	require.Regexp(t, `^3 runs are appended to .*T\.jsonl, a new baseline: commit that file$`, r.logs[0])
	data, err := os.ReadFile(b.File)
	require.NoError(t, err)
	require.Equal(t, 3, strings.Count(string(data), "\n"))

	t.Setenv("PERFTEST_UPDATE", "")
	r = recorder{}
	require.True(t, assert.NoRegression(&r, fast, b))
	require.Regexp(t, `^OK .*: no figure is more than 10% worse \(3 runs against 3 of the baseline\) SIMULATED`, r.logs[0])
	require.Equal(t, perftest.Unchanged, fast.Comparison.Outcome)

	r = recorder{}
	require.False(t, assert.NoRegression(&r, slow, b))
	require.Regexp(t, `^REGRESSED .*: 3 of 3 figures proved more than 5% worse`, r.errors[0])
	require.Regexp(t, `REGRESSED +TPOT mean +10\.0ms +13\.0ms +\+30%`, r.errors[0])
	stored, err := perftest.ReadResult(slow.Dir)
	require.NoError(t, err)
	require.Equal(t, perftest.Regressed, stored.Comparison.Outcome)

	t.Setenv("PERFTEST_UPDATE", "1")
	r = recorder{}
	require.True(t, assert.NoRegression(&r, slow, b), "the change is wanted")
	require.Contains(t, r.logs[0], "REGRESSED")
	t.Setenv("PERFTEST_UPDATE", "")
	require.True(t, assert.NoRegression(new(recorder), slow, b))

	r = recorder{}
	require.True(t, assert.NoRegression(&r, fast, assert.Baseline{Result: slow}))
	require.Regexp(t, `^IMPROVED `, r.logs[0])
}

// What is no proof of a regression and no silent pass either.
func TestNoRegressionIsNeverSilent(t *testing.T) {
	file := filepath.Join(t.TempDir(), "T.jsonl")
	b := assert.Baseline{File: file}
	fast, slower := repeated(t, 10*time.Millisecond), real(repeated(t, 10700*time.Microsecond))
	_, err := fast.AppendBaseline(b)
	require.NoError(t, err)

	var r recorder
	require.False(t, assert.NoRegression(&r, slower, b), "a real server has no simulated baseline")
	require.Regexp(t, `^INCOMPARABLE `, r.errors[0])
	require.Regexp(t, `(?s)fingerprints \(-baseline \+now\):.*-.*"simulated":.*true.*\+.*"simulated":.*false`, r.errors[0])
	b.LogIncomparable = true
	r = recorder{}
	require.True(t, assert.NoRegression(&r, slower, b))
	require.Regexp(t, `^INCOMPARABLE `, r.logs[0])

	// Slower by 7 %, with no variance: more than tolerated, less than the margin.
	slower.Simulated = true
	noisy := assert.Baseline{File: file, Tolerance: 0.06, Margin: 0.07}
	r = recorder{}
	require.True(t, assert.NoRegression(&r, slower, noisy))
	require.Regexp(t, `^INCONCLUSIVE `, r.logs[0])
	noisy.Proved = true
	r = recorder{}
	require.False(t, assert.NoRegression(&r, slower, noisy))
	require.Len(t, r.errors, 1)

	r = recorder{}
	require.False(t, assert.NoRegression(&r, nil, b))
	require.False(t, assert.NoRegression(&r, fast, assert.Baseline{Tolerance: -1}))
	require.NoError(t, os.WriteFile(file, []byte("{\n"), 0o644))
	require.False(t, assert.NoRegression(&r, fast, b))
	require.Len(t, r.errors, 3)
	require.Contains(t, r.errors[2], "T.jsonl:1: it is no run")

	// A test that has failed makes no baseline.
	require.NoError(t, os.Remove(file))
	t.Setenv("PERFTEST_UPDATE", "1")
	f := failed{recorder: new(recorder)}
	require.False(t, assert.NoRegression(f, fast, b))
	require.Contains(t, f.errors[0], "since the test has failed")
	require.NoFileExists(t, file)
}

// failed is a test that has failed.
type failed struct{ *recorder }

func (failed) Failed() bool { return true }
