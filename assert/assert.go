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
// limit, where a failed request misses every limit. [SLOs] goes by what was
// measured and says what is proven; [Gate] passes only what is.
package assert

import "github.com/slogate/slogate/perftest"

// TestingT is what an assertion needs of a test: a *testing.T or *testing.B.
type TestingT interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// SLOs is the everyday check: it judges res by slos, stores the verdicts with
// the result, and reports whether all of them pass by what was measured. What
// that proves is said beside it: "PASS (unproven: 0 of 200 over, p99 at 95%
// needs 299)". One line is logged when all pass, else there is an error that
// shows all in one table; the test goes on either way. Without slos those of
// the scenario ([perftest.Scenario].SLOs) are judged.
//
// A check that checks nothing is an error: no result, no objectives, or a run
// that measured nothing. So is a run that cannot tell: one that ended early, or
// in which the client was the bottleneck.
func SLOs(t TestingT, res *perftest.Result, slos ...perftest.SLO) bool {
	t.Helper()
	return check(t, "assert.SLOs", false, res, slos)
}

// Gate is the check for a deploy: it passes only what the evidence proves. An
// objective that is not proven either way is INCONCLUSIVE, and fails the test
// as one that is missed does. It is as [SLOs] in all else.
//
// Name the objectives in the scenario, and Run refuses before any load a plan
// that could not prove them, and stops as soon as one of them must fail.
func Gate(t TestingT, res *perftest.Result, slos ...perftest.SLO) bool {
	t.Helper()
	return check(t, "assert.Gate", true, res, slos)
}

func check(t TestingT, name string, gate bool, res *perftest.Result, slos []perftest.SLO) bool {
	t.Helper()
	if res == nil {
		t.Errorf("%s: the result is nil: give it the result of perftest.Run", name)
		return false
	}
	if len(slos) == 0 {
		slos = res.Scenario.SLOs
	}
	if len(slos) == 0 {
		t.Errorf("%s: no objective is given: add one, such as assert.TTFT(assert.P99).Below(time.Second), here or to the scenario's SLOs", name)
		return false
	}
	if where := res.Elsewhere(); where != "" {
		t.Logf("%s: the verdict is %s", name, where)
		return true
	}
	verdicts := res.Judge(slos...)
	passed := true
	for i := range verdicts {
		verdicts[i].Gate = gate
		passed = passed && verdicts[i].Decided() == perftest.Pass
	}
	saved := res.SaveVerdicts(verdicts)
	if passed {
		t.Logf("%s", res.VerdictTable(verdicts))
	} else {
		t.Errorf("%s", res.VerdictTable(verdicts))
	}
	if saved != nil {
		t.Errorf("%s: the verdicts are not in the result: %v", name, saved)
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

// Sure asks for another confidence than 0.95 (0.99 from p99.9 on) in the proof
// of objectives: 0.99 for a release, say.
func Sure(confidence float64, slos ...perftest.SLO) []perftest.SLO {
	sure := make([]perftest.SLO, len(slos))
	for i, slo := range slos {
		sure[i] = slo
		sure[i].Confidence = confidence
	}
	return sure
}
