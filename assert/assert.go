// Package assert holds a run's result against service-level objectives and
// reports to a test.
//
// An objective is a figure and the limit that it has to keep, in one line whose
// types keep the units right:
//
//	assert.SLOs(t, res,
//		assert.TTFT(assert.P99).Below(time.Second),
//		assert.TPOT(assert.Mean).Below(50*time.Millisecond),
//		assert.ErrorRate().AtMost(0),
//	)
//
// How each metric is measured is said in package perftest; how an objective is
// judged, at [perftest.Result.Judge]: by the share of requests that miss the
// limit, where a failed request misses every limit.
package assert

import "github.com/slogate/slogate/perftest"

// TestingT is what an assertion needs of a test: a *testing.T or *testing.B.
type TestingT interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// SLOs judges res by slos, stores the verdicts with the result, and reports
// whether all of them pass: with one logged line when they do, else with an
// error that shows all of them in one table. The test goes on either way.
//
// A check that checks nothing is an error: no result, no objectives, or a run
// that measured nothing.
func SLOs(t TestingT, res *perftest.Result, slos ...perftest.SLO) bool {
	t.Helper()
	switch {
	case res == nil:
		t.Errorf("assert.SLOs: the result is nil: give it the result of perftest.Run")
		return false
	case len(slos) == 0:
		t.Errorf("assert.SLOs: no objective is given: add one, such as assert.TTFT(assert.P99).Below(time.Second)")
		return false
	}
	verdicts := res.Judge(slos...)
	passed := true
	for _, v := range verdicts {
		passed = passed && v.Outcome == perftest.Pass
	}
	saved := res.SaveVerdicts(verdicts)
	if passed {
		t.Logf("%s", res.VerdictTable(verdicts))
	} else {
		t.Errorf("%s", res.VerdictTable(verdicts))
	}
	if saved != nil {
		t.Errorf("assert.SLOs: the verdicts are not in the result: %v", saved)
	}
	return passed && saved == nil
}

// Tagged limits objectives to the requests that the workload gave a tag, such
// as one of the kinds of a mix.
func Tagged(tag string, slos ...perftest.SLO) []perftest.SLO {
	tagged := make([]perftest.SLO, len(slos))
	for i, slo := range slos {
		tagged[i] = slo
		tagged[i].Tag = tag
	}
	return tagged
}
