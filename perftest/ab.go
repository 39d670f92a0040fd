package perftest

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"
)

// pairsOfAB is how many runs AB makes of each scenario unless it says another
// number: four and four can prove a change (p = .014 at best), three and three
// only just (.05).
const pairsOfAB = 4

// AB runs two scenarios in turns, a b b a a b b a, so that what changes with
// time changes both, and gives a result of each with all its runs: the deploy
// gate of a canary against production.
//
//	production, canary := perftest.AB(t, a, b)
//	assert.NoRegression(t, canary, assert.Baseline{Result: production})
//
// Both have the same load and workload, which is checked; they differ in their
// targets, for instance. Repeat is the number of runs of each, 4 by default. The
// runs of a pair have the same arrivals, and the same requests of the workload
// unless both targets are one server, whose cache would know them.
func AB(t testing.TB, a, b Scenario) (resultA, resultB *Result) {
	t.Helper()
	if err := checkAB(a, b); err != nil {
		t.Fatalf("%s: %v", t.Name(), err)
	}
	sides := [2]Scenario{a, b}
	var from [2]passage
	var done [2][]*Result
	for i := range sides {
		sides[i].Name = cmp.Or(sides[i].Name, t.Name()+"/"+string(rune('a'+i)))
	}
	oneServer := sameServer(a.Target, b.Target)
	pairs := cmp.Or(a.Repeat, b.Repeat, pairsOfAB)
	for i := range sides {
		sides[i].Repeat = pairs // which SLOs are judged together
	}
	stopped := false
	for pair := 0; pair < pairs && !stopped; pair++ {
		for turn := range 2 {
			side := turn ^ pair%2 // a b, then b a
			t.Logf("pair %d of %d: %s", pair+1, pairs, sides[side].Name)
			res := runOnce(t, sides[side], from[side])
			done[side] = append(done[side], res)
			from[side] = from[side].after(res)
			if oneServer {
				from[1-side].skip = from[side].skip
			}
			if stopped = res.Ended != endedComplete || interrupted.Load(); stopped {
				break
			}
		}
		// The padding of a closed loop differs from run to run.
		from[0].skip = max(from[0].skip, from[1].skip)
		from[1].skip = from[0].skip
	}
	if len(done[0]) == 0 || len(done[1]) == 0 {
		t.Fatalf("%s: it was stopped before both sides had run", t.Name())
	}
	resultA, resultB = together(t, done[0]), together(t, done[1])
	resultA.mustBeJudged(t)
	resultB.mustBeJudged(t)
	return resultA, resultB
}

// checkAB refuses what could not be compared.
func checkAB(a, b Scenario) error {
	const remedy = "give both the same: what differs is the target, or how the server is asked"
	if readSettings().replay == "" {
		// Else a side is found to have no address after the other's first run.
		for i, side := range []Target{a.Target, b.Target} {
			if _, err := parseURL(side.URL, "", ""); err != nil {
				return fmt.Errorf("side %c: %w", 'a'+i, err)
			}
		}
	}
	switch {
	case a.Repeat != b.Repeat && a.Repeat != 0 && b.Repeat != 0:
		return badField("Repeat", fmt.Sprintf("%d and %d", a.Repeat, b.Repeat), "give both the same")
	case a.Load == nil || b.Load == nil || a.Workload == nil || b.Workload == nil:
		return nil // the run says it
	case typeName(a.Load) != typeName(b.Load) || !bytes.Equal(describe(a.Load), describe(b.Load)):
		return badField("Load", fmt.Sprintf("%s and %s", describe(a.Load), describe(b.Load)), remedy)
	case typeName(a.Workload) != typeName(b.Workload) || !bytes.Equal(describe(a.Workload), describe(b.Workload)):
		return badField("Workload", fmt.Sprintf("%.200s and %.200s", describe(a.Workload), describe(b.Workload)), remedy)
	case a.Warmup != b.Warmup:
		return badField("Warmup", fmt.Sprintf("%+v and %+v", a.Warmup, b.Warmup), remedy)
	}
	return nil
}

// sameServer reports whether two targets lead to one host. Where a test dials
// itself, that is not known, and they do not.
func sameServer(a, b Target) bool {
	if a.Dial != nil || b.Dial != nil {
		return false
	}
	host := func(t Target) string {
		e, err := parseURL(t.URL, "", "")
		if err != nil {
			return ""
		}
		return oneName(e.host)
	}
	return host(a) == host(b)
}
