package assert_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema/schematest"
)

// recorder is a test that keeps what is reported to it.
type recorder struct{ logs, errors []string }

func (r *recorder) Helper() {}
func (r *recorder) Logf(format string, args ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, args...))
}
func (r *recorder) Errorf(format string, args ...any) {
	r.errors = append(r.errors, fmt.Sprintf(format, args...))
}

// measured is the result of a small run.
func measured(t *testing.T) *perftest.Result {
	t.Helper()
	results := t.TempDir()
	schematest.AtEnd(t, results)
	t.Setenv("PERFTEST_RESULTS", results)
	t.Setenv("PERFTEST_REQUIRED", "")
	return perftest.Run(t, perftest.Scenario{
		Target:   simserver.Start(t, simserver.Profile{Name: "fast"}).Target(),
		Workload: fixtures.Builtin{Output: 4},
		Load:     perftest.Closed{Concurrency: 2, Requests: 20},
	})
}

func TestSLOs(t *testing.T) {
	res := measured(t)

	var r recorder
	require.True(t, assert.SLOs(&r, res,
		assert.Latency(assert.Max).Below(time.Hour),
		assert.ErrorRate().AtMost(0),
	))
	require.Empty(t, r.errors)
	require.Len(t, r.logs, 1)
	require.Regexp(t, `^PASS 2 SLOs: latency max .* < 1h, error rate 0% <= 0% \(20 requests, 0 failed\) SIMULATED$`, r.logs[0])

	r = recorder{}
	require.False(t, assert.SLOs(&r, res,
		assert.Latency(assert.Max).Below(time.Hour),
		assert.OutputTokens(assert.P50).Below(4),
	))
	require.Empty(t, r.logs)
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], "FAIL TestSLOs: 1 of 2 SLOs missed")
	require.Regexp(t, `FAIL +output tokens p50 < 4 +4 .*20 +20 \(10 allowed\)`, r.errors[0])
	require.Regexp(t, `PASS +latency max < 1h`, r.errors[0])

	stored, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	var outcomes []perftest.Outcome
	for _, v := range stored.Verdicts {
		outcomes = append(outcomes, v.Point)
	}
	require.Equal(t, []perftest.Outcome{perftest.Pass, perftest.Pass, perftest.Pass, perftest.Fail}, outcomes)
}

// A check that checks nothing is red.
func TestSLOsVacuous(t *testing.T) {
	slo := assert.TTFT(assert.P99).Below(time.Second)
	for _, c := range []struct {
		name string
		res  *perftest.Result
		slos []perftest.SLO
		want string
	}{
		{"no result", nil, []perftest.SLO{slo}, "the result is nil"},
		{"no objective", &perftest.Result{}, nil, "no objective is given"},
		{"nothing measured", &perftest.Result{}, []perftest.SLO{slo}, "INVALID"},
	} {
		var r recorder
		require.False(t, assert.SLOs(&r, c.res, c.slos...), c.name)
		require.Len(t, r.errors, 1, c.name)
		require.Contains(t, r.errors[0], c.want, c.name)
		require.Empty(t, r.logs, c.name)
	}
}

// Verdicts that cannot be stored are an error: CI reads them from the file.
func TestSLOsNotSaved(t *testing.T) {
	res := measured(t)
	res.Dir = "none/such"
	var r recorder
	require.False(t, assert.SLOs(&r, res, assert.ErrorRate().AtMost(0)))
	require.Len(t, r.errors, 1)
	require.Contains(t, r.errors[0], "the verdicts are not in the result")
}

func TestConstructors(t *testing.T) {
	limits := perftest.Limits{TTFT: time.Second}
	for _, c := range []struct{ got, want perftest.SLO }{
		{assert.TTFT(assert.P99).Below(time.Second), perftest.SLO{Metric: perftest.TTFT, Stat: "p99", Op: "<", Limit: 1}},
		{assert.TTFA(assert.P95).AtMost(time.Second), perftest.SLO{Metric: perftest.TTFA, Stat: "p95", Op: "<=", Limit: 1}},
		{assert.TTST(assert.P999).AtLeast(time.Millisecond), perftest.SLO{Metric: perftest.TTST, Stat: "p99.9", Op: ">=", Limit: 0.001}},
		{assert.TPOT(assert.Mean).Above(50 * time.Millisecond), perftest.SLO{Metric: perftest.TPOT, Stat: "mean", Op: ">", Limit: 0.05}},
		{assert.ITL(assert.Max).Below(time.Minute), perftest.SLO{Metric: perftest.ITL, Stat: "max", Op: "<", Limit: 60}},
		{assert.Latency(assert.P50).Below(1500 * time.Millisecond), perftest.SLO{Metric: perftest.Latency, Stat: "p50", Op: "<", Limit: 1.5}},
		{assert.Response(assert.Percentile(99.5)).Below(1), perftest.SLO{Metric: perftest.Response, Stat: "p99.5", Op: "<", Limit: 1e-9}},
		{assert.InputTokens(assert.P66).Below(100), perftest.SLO{Metric: perftest.InputTokens, Stat: "p66", Op: "<", Limit: 100}},
		{assert.OutputTokens(assert.P75).AtLeast(100), perftest.SLO{Metric: perftest.OutputTokens, Stat: "p75", Op: ">=", Limit: 100}},
		{assert.ErrorRate().AtMost(0.01), perftest.SLO{Metric: perftest.ErrorRate, Op: "<=", Limit: 0.01}},
		{assert.OutputRate().Above(1000), perftest.SLO{Metric: perftest.OutputRate, Op: ">", Limit: 1000}},
		{assert.TotalRate().AtLeast(1000), perftest.SLO{Metric: perftest.TotalRate, Op: ">=", Limit: 1000}},
		{assert.RequestRate().AtLeast(2.5), perftest.SLO{Metric: perftest.RequestRate, Op: ">=", Limit: 2.5}},
		{assert.Goodput(limits).AtLeast(0.99), perftest.SLO{Metric: perftest.Goodput, Op: ">=", Limit: 0.99, Limits: limits}},
		{assert.GoodputRate(limits).AtLeast(3), perftest.SLO{Metric: perftest.GoodputRate, Op: ">=", Limit: 3, Limits: limits}},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	require.Equal(t, []perftest.Stat{"mean", "p50", "p66", "p75", "p80", "p90", "p95", "p98", "p99", "p99.9", "max"},
		[]perftest.Stat{assert.Mean, assert.P50, assert.P66, assert.P75, assert.P80, assert.P90, assert.P95, assert.P98, assert.P99, assert.P999, assert.Max})
	require.Equal(t, assert.P99, assert.Percentile(99))
	require.Equal(t, assert.P999, assert.Percentile(99.9))
}

// A gate is red for what an everyday check lets pass, and green for what is
// proven: twenty requests prove no percentile above p86 (0.86^20 is 0.049), and
// below a hundred only a minute's run proves any.
func TestGate(t *testing.T) {
	res := measured(t)
	slo := assert.Latency(assert.P99).Below(time.Hour)

	var r recorder
	require.True(t, assert.SLOs(&r, res, slo))
	require.Regexp(t, `^PASS 1 SLO: latency p99 .* < 1h \(unproven: 0 of 20 over, p99 at 95% needs \d+\) \(20 requests`, r.logs[0])

	r = recorder{}
	require.False(t, assert.Gate(&r, res, slo))
	require.Empty(t, r.logs)
	require.Contains(t, r.errors[0], "INCONCLUSIVE TestGate: 1 of 1 SLO not proven")
	require.Regexp(t, `INCONCLUSIVE latency p99 < 1h: 0 of 20 over, p99 at 95% needs \d+`, r.errors[0])

	r = recorder{}
	require.True(t, assert.Gate(&r, res, assert.ErrorRate().AtMost(0)))
	require.Regexp(t, `^PASS 1 SLO proven: error rate 0% <= 0% `, r.logs[0])

	stored, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	require.Equal(t, []bool{false, true, true}, []bool{stored.Verdicts[0].Gate, stored.Verdicts[1].Gate, stored.Verdicts[2].Gate})
	require.Equal(t, []perftest.Outcome{"PASS", "INCONCLUSIVE", "PASS"},
		[]perftest.Outcome{stored.Verdicts[0].Decided(), stored.Verdicts[1].Decided(), stored.Verdicts[2].Decided()})
}

// The scenario's objectives are judged where none are given.
func TestScenarioSLOs(t *testing.T) {
	res := measured(t)
	res.Scenario.SLOs = []perftest.SLO{assert.OutputTokens(assert.Mean).Below(4)}
	var r recorder
	require.False(t, assert.SLOs(&r, res))
	require.Contains(t, r.errors[0], "output tokens mean < 4")
}

func TestSure(t *testing.T) {
	for _, slo := range assert.Sure(0.99, assert.TTFT(assert.P99).Below(time.Second)) {
		require.Equal(t, 0.99, slo.Confidence)
	}
}
