package perftest

import (
	"testing"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// stopsAt gives the number of records after which a watch gives up; 0 for never.
func stopsAt(w watch, rs []record.Record) (at int) {
	c := newCollector()
	w.lost = func() { at = c.counts.Sent }
	for i := range rs {
		c.add(&rs[i])
		w.look(c)
	}
	return at
}

// slow is a request a second, of which each every-th takes 2 s to its first token.
func slow(every int) func(i int) record.Record {
	return func(i int) record.Record {
		if i%every == 0 {
			return answer(time.Duration(i)*time.Second, 2*time.Second, 5)
		}
		return second(i)
	}
}

// 20 of 100 refute p88 with p = 0.018 (see TestJudgeFamily): at 5 % and not at 1 %,
// at which an SLO that asks for 99 % is judged, nor as one of five, nor with three looks.
func TestWatchStopsAtTheLevelOfTheVerdict(t *testing.T) {
	slo := SLO{Metric: TTFT, Stat: "p88", Op: Below, Limit: 1}
	sure := slo
	sure.Confidence = 0.99
	easy := SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 1}
	rs := records(100, slow(5))
	for name, c := range map[string]struct {
		slos  []SLO
		looks int
		stops bool
	}{
		"alone": {[]SLO{slo}, 0, true},
		"sure":  {[]SLO{sure}, 0, false},
		"five":  {[]SLO{slo, easy, easy, easy, easy}, 0, false},
		"looks": {[]SLO{slo}, 3, false},
	} {
		at := stopsAt(watch{slos: c.slos, planned: 100, looks: c.looks}, rs)
		require.Equal(t, c.stops, at > 0, "%s: at %d", name, at)
		r := resultOf(1, rs...)
		r.Scenario.Looks = c.looks
		require.Equal(t, c.stops, r.Judge(c.slos...)[0].Outcome == Fail, name)
	}
}

// A hundred planned conversations have more than a hundred requests: that all
// of the first ones are over p50 decides nothing, where it would of a hundred
// requests. What a single request can miss is lost all the same.
func TestWatchOfConversations(t *testing.T) {
	p50 := SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 1}
	turns := func(rs []record.Record) []record.Record {
		for i := range rs {
			rs[i].Turn = 1 + i%5
		}
		return rs
	}
	w := watch{slos: []SLO{p50}, planned: 100}
	require.NotZero(t, stopsAt(w, records(100, slow(1))))
	require.Zero(t, stopsAt(w, turns(records(100, slow(1)))))
	w.slos = []SLO{p50, {Metric: TTFT, Stat: Max, Op: Below, Limit: 1}}
	require.Equal(t, 1, stopsAt(w, turns(records(100, slow(1)))))
}

// How many requests a load of a minute has is not known: it is stopped by what
// one request can miss, and by nothing else.
func TestWatchOfALoadByTime(t *testing.T) {
	failing := func(i int) record.Record {
		if i == 30 {
			return failure(time.Duration(i)*time.Second, record.ClassReset)
		}
		return second(i)
	}
	for _, c := range []struct {
		slo   SLO
		stops bool
	}{
		{SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 0.01}, false},
		{SLO{Metric: RequestRate, Op: AtLeast, Limit: 100}, false},
		{SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.01}, false},
		{SLO{Metric: ErrorRate, Op: AtMost}, true},
		{SLO{Metric: TTFT, Stat: Max, Op: Below, Limit: 1}, true},
		{SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 1}, true},
		{SLO{Metric: ITL, Stat: Mean, Op: Below, Limit: 1}, false},
	} {
		at := stopsAt(watch{slos: []SLO{c.slo}}, records(200, failing))
		require.Equal(t, c.stops, at > 0, "%v: at %d", c.slo, at)
		if c.stops {
			require.LessOrEqual(t, at, 34, "within a twentieth")
			r := resultOf(1, records(at, failing)...)
			r.Partial, r.Ended = true, endedMustFail
			require.Equal(t, Fail, r.Judge(c.slo)[0].Outcome)
		}
	}
}

// A scenario of three runs that do not fit before the deadline is refused at
// the first, where each of them would fit.
func TestTimeOfAllRuns(t *testing.T) {
	r := &run{scenario: Scenario{Repeat: 3, SLOs: []SLO{{}}, Warmup: Warmup{Duration: time.Minute}}, plan: Plan{Duration: 9 * time.Minute}}
	require.ErrorContains(t, r.checkTime(25*time.Minute), "the plan takes at least 30m0s")
	r.from.repeat = 1
	require.NoError(t, r.checkTime(25*time.Minute))
	require.Error(t, r.checkTime(19*time.Minute))
}
