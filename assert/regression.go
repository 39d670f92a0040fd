package assert

import (
	"github.com/slogate/slogate/perftest"
)

// Baseline is what runs are compared with, and how; zero works.
type Baseline = perftest.Baseline

// NoRegression compares the runs of res with a baseline, see
// [perftest.Result.Against], stores the comparison with the result, and reports
// whether the test may be green:
//
//	REGRESSED     a figure is proved worse than Tolerance: an error
//	OK, IMPROVED  none is worse than Margin: a message
//	INCONCLUSIVE  neither is proved: a message that asks for more runs, and an
//	              error with Baseline.Proved
//	INCOMPARABLE  the runs did not do what the baseline's did: an error with the
//	              difference, unless Baseline.LogIncomparable
//	INVALID       a run ended early, failed, or had its client as bottleneck: an error
//	NO BASELINE   an error that says how to make one
//
// INCOMPARABLE and NO BASELINE are messages for a simulated server that stands
// in where no server was given, unless PERFTEST_REQUIRED asks for one.
//
// With PERFTEST_UPDATE=1 (or -perf.update) the runs are appended to the
// baseline's file, and what they changed is a message. Runs that are INVALID, or
// of a test that has failed or whose result has missed an SLO, are not appended,
// which is an error: let assert.SLOs go first.
func NoRegression(t TestingT, res *perftest.Result, b Baseline) bool {
	t.Helper()
	if res == nil {
		t.Errorf("assert.NoRegression: the result is nil: give it the result of perftest.Run")
		return false
	}
	if where := res.Elsewhere(); where != "" {
		t.Logf("assert.NoRegression: the verdict is %s", where)
		return true
	}
	if b.Result == nil && perftest.UpdateBaselines() {
		return updateBaseline(t, res, b)
	}
	c, err := res.Against(b)
	if err != nil {
		t.Errorf("assert.NoRegression: %v", err)
		return false
	}
	saved := res.SaveComparison(c)
	ok := green(res, b, c)
	if ok {
		t.Logf("%s", res.ComparisonTable(c))
	} else {
		t.Errorf("%s", res.ComparisonTable(c))
	}
	if saved != nil {
		t.Errorf("assert.NoRegression: the comparison is not in the result: %v", saved)
	}
	return ok && saved == nil
}

// green reports whether an outcome is no error.
func green(res *perftest.Result, b Baseline, c perftest.Comparison) bool {
	switch c.Outcome {
	case perftest.Unchanged, perftest.Improved:
		return true
	case perftest.Inconclusive:
		return !b.Proved
	case perftest.Incomparable:
		return b.LogIncomparable || standsIn(res, b)
	case perftest.NoBaseline:
		return standsIn(res, b)
	}
	return false
}

// standsIn reports whether res is of a simulated server where a real one has
// the baseline.
func standsIn(res *perftest.Result, b Baseline) bool {
	return res.Simulated && b.Result == nil && !perftest.Required()
}

func updateBaseline(t TestingT, res *perftest.Result, b Baseline) bool {
	t.Helper()
	if f, ok := t.(interface{ Failed() bool }); ok && f.Failed() {
		t.Errorf("assert.NoRegression: the baseline stays as it is, since the test has failed")
		return false
	}
	c, err := res.AppendBaseline(b)
	if err != nil {
		t.Errorf("assert.NoRegression: the baseline stays as it is: %v", err)
		return false
	}
	saved := res.SaveComparison(c)
	if c.Outcome == perftest.NoBaseline {
		t.Logf("%d runs are appended to %s, a new baseline: commit that file", c.Candidate, c.File)
	} else {
		t.Logf("%d runs are appended to %s. What they say of those before:\n%s", c.Candidate, c.File, res.ComparisonTable(c))
	}
	if saved != nil {
		t.Errorf("assert.NoRegression: the comparison is not in the result: %v", saved)
	}
	return saved == nil
}
