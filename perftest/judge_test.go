package perftest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// answer is one success: TTFT in milliseconds and then gaps of 10 ms.
func answer(sent, ttft time.Duration, tokens int) record.Record {
	var r record.Record
	r.Reset()
	r.Scheduled, r.Sent = int64(sent), int64(sent)
	at := int64(sent + ttft)
	r.FirstToken, r.FirstAnswer = at, at
	for i := range tokens {
		if i == 1 {
			r.SecondToken = at
		}
		r.Events = append(r.Events, record.Event{At: at, Kind: record.KindChoices | record.KindAnswer})
		r.LastToken = at
		at += int64(10 * time.Millisecond)
	}
	if tokens > 1 {
		r.MaxGap = int64(10 * time.Millisecond)
	}
	r.Done = r.LastToken + int64(5*time.Millisecond)
	r.TokenEvents, r.DataEvents = tokens, tokens
	r.InputTokens, r.OutputTokens = 100, int64(tokens)
	return r
}

func failure(sent time.Duration, class string) record.Record {
	var r record.Record
	r.Reset()
	r.Scheduled, r.Sent, r.Done = int64(sent), int64(sent), int64(sent+time.Millisecond)
	r.Class, r.Message = class, class+" happened"
	return r
}

func resultOf(concurrency int, records ...record.Record) *Result {
	c := newCollector()
	for i := range records {
		c.add(&records[i])
	}
	r := &Result{Name: "T"}
	c.finish(r, concurrency)
	return r
}

// ninety is 90 answers with a TTFT of 101 to 190 ms and 10 failures.
func ninety() *Result {
	var rs []record.Record
	for i := range 90 {
		rs = append(rs, answer(time.Duration(i)*time.Second, time.Duration(101+i)*time.Millisecond, 5))
	}
	for i := range 10 {
		rs = append(rs, failure(time.Duration(90+i)*time.Second, record.ClassStatus))
	}
	return resultOf(1, rs...)
}

func TestJudgePercentileCountsFailuresAsOver(t *testing.T) {
	r := ninety()
	slo := func(stat Stat, op Op, limit float64) SLO { return SLO{Metric: TTFT, Stat: stat, Op: op, Limit: limit} }
	for _, c := range []struct {
		slo           SLO
		want          Outcome
		over, allowed int
	}{
		{slo("p90", Below, 1), Pass, 10, 10},     // the ten failures are just what p90 allows
		{slo("p95", Below, 1), Fail, 10, 5},      // and more than p95 does
		{slo("p90", Below, 0.190), Fail, 11, 10}, // 190 ms is not below 190 ms
		{slo("p90", AtMost, 0.190), Pass, 10, 10},
		{slo("p50", Below, 0.141), Fail, 60, 50}, // 40 are below: 50 answers and 10 failures are not
		{slo(Max, Below, 10), Fail, 10, 0},
		{slo("p10", AtLeast, 0.101), Pass, 10, 10}, // failures count against a lower limit too
	} {
		t.Run(c.slo.String(), func(t *testing.T) {
			got := r.Judge(c.slo)[0]
			require.Equal(t, c.want, got.Point, got.Reason)
			require.Equal(t, c.over, got.Over)
			require.Equal(t, c.allowed, got.Allowed)
			require.Equal(t, 100, got.Samples)
			require.Equal(t, 10, got.Failed)
		})
	}
}

func TestJudgeOneNumber(t *testing.T) {
	r := ninety()
	for _, c := range []struct {
		slo      SLO
		want     Outcome
		measured Value
	}{
		{SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.1}, Pass, 0.1},
		{SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.09}, Fail, 0.1},
		// 50 answers of 100 requests have a TTFT of 101 to 150 ms.
		{SLO{Metric: Goodput, Op: AtLeast, Limit: 0.5, Limits: Limits{TTFT: 151 * time.Millisecond}}, Pass, 0.5},
		{SLO{Metric: Goodput, Op: Above, Limit: 0.5, Limits: Limits{TTFT: 151 * time.Millisecond}}, Fail, 0.5},
		{SLO{Metric: Goodput, Op: AtLeast, Limit: 0.9, Limits: Limits{TTFT: time.Second, ITL: 10 * time.Millisecond}}, Fail, 0},
		// Window: from 0 to the end of the last failure, 99.001 s.
		{SLO{Metric: RequestRate, Op: AtLeast, Limit: 0.9}, Pass, Value(90 / 99.001)},
		{SLO{Metric: OutputRate, Op: AtLeast, Limit: 5}, Fail, Value(450 / 99.001)},
		{SLO{Metric: TotalRate, Op: AtLeast, Limit: 90}, Pass, Value(9450 / 99.001)},
		// A mean with a failure in it has no bound; the figure is still shown.
		{SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 1}, Fail, 0.010},
	} {
		t.Run(c.slo.String(), func(t *testing.T) {
			got := r.Judge(c.slo)[0]
			require.Equal(t, c.want, got.Point, got.Reason)
			require.InDelta(t, float64(c.measured), float64(got.Measured), 1e-12)
		})
	}
}

func TestJudgeMeanOfSuccesses(t *testing.T) {
	r := resultOf(1, answer(0, 100*time.Millisecond, 5), answer(time.Second, 300*time.Millisecond, 5))
	require.Equal(t, Pass, r.Judge(SLO{Metric: TTFT, Stat: Mean, Op: AtMost, Limit: 0.2})[0].Point)
	require.Equal(t, Fail, r.Judge(SLO{Metric: TTFT, Stat: Mean, Op: Below, Limit: 0.2})[0].Point)
}

// A failed request counts as as many late gaps as a success has gaps: 4 of 8
// are over, where one for the request would be 1 of 5.
func TestJudgeITLWithFailures(t *testing.T) {
	r := resultOf(1, answer(0, time.Millisecond, 5), failure(time.Second, record.ClassReset))
	got := r.Judge(SLO{Metric: ITL, Stat: "p50", Op: Below, Limit: 0.011}, SLO{Metric: ITL, Stat: "p66", Op: Below, Limit: 0.011})
	require.Equal(t, []int{8, 4}, []int{got[0].Samples, got[0].Over})
	require.Equal(t, Pass, got[0].Point)
	require.Equal(t, Fail, got[1].Point)
	require.Equal(t, Value(0.010), got[0].Measured)
}

// TPOT of a one-token answer has no meaning and is left out; an answer that is
// all reasoning is over every TTFA limit.
func TestJudgeUndefined(t *testing.T) {
	thinking := answer(0, time.Millisecond, 3)
	thinking.FirstAnswer = record.Absent
	r := resultOf(1, answer(0, time.Millisecond, 1), answer(0, time.Millisecond, 3), thinking)
	got := r.Judge(SLO{Metric: TPOT, Stat: Max, Op: Below, Limit: 1}, SLO{Metric: TTFA, Stat: "p50", Op: Below, Limit: 1})
	require.Equal(t, []int{2, 0}, []int{got[0].Samples, got[0].Over})
	require.Equal(t, []int{3, 1}, []int{got[1].Samples, got[1].Over})
}

func TestJudgeNothingIsNoPass(t *testing.T) {
	empty := resultOf(1)
	failed := resultOf(1, failure(0, record.ClassConnect))
	oneToken := resultOf(1, answer(0, time.Millisecond, 1))
	cancelled := resultOf(1, failure(0, record.ClassCancelled))
	for name, c := range map[string]struct {
		r    *Result
		slo  SLO
		want Outcome
	}{
		"empty ttft":        {empty, SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1}, Invalid},
		"empty error rate":  {empty, SLO{Metric: ErrorRate, Op: AtMost, Limit: 0}, Invalid},
		"cancelled":         {cancelled, SLO{Metric: ErrorRate, Op: AtMost, Limit: 0}, Invalid},
		"failed ttft":       {failed, SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1}, Fail},
		"failed mean":       {failed, SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 1}, Fail},
		"failed rate":       {failed, SLO{Metric: OutputRate, Op: AtLeast, Limit: 1}, Fail},
		"no tpot":           {oneToken, SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 1}, Invalid},
		"no percentile":     {oneToken, SLO{Metric: TTFT, Stat: "p100", Op: Below, Limit: 1}, Invalid},
		"no stat":           {oneToken, SLO{Metric: TTFT, Op: Below, Limit: 1}, Invalid},
		"no op":             {oneToken, SLO{Metric: TTFT, Stat: Mean, Limit: 1}, Invalid},
		"no limit":          {oneToken, SLO{Metric: TTFT, Stat: Mean, Op: Below}, Invalid},
		"no metric":         {oneToken, SLO{Stat: Mean, Op: Below, Limit: 1}, Invalid},
		"goodput of naught": {oneToken, SLO{Metric: Goodput, Op: AtLeast, Limit: 1}, Invalid},
		"max from below":    {oneToken, SLO{Metric: TTFT, Stat: Max, Op: AtLeast, Limit: 1}, Invalid},
		"stat on a rate":    {oneToken, SLO{Metric: ErrorRate, Stat: Mean, Op: AtMost}, Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.r.Judge(c.slo)[0]
			require.Equal(t, c.want, got.Point, got.Reason)
			require.NotEmpty(t, got.Reason+fmt.Sprint(got.Measured))
		})
	}
}

func TestPartialRunCanFailButNotPass(t *testing.T) {
	r := ninety()
	r.Partial, r.Ended = true, endedInterrupted
	got := r.Judge(SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 1}, SLO{Metric: TTFT, Stat: "p95", Op: Below, Limit: 1})
	require.Equal(t, Invalid, got[0].Point)
	require.Contains(t, got[0].Reason, "interrupted")
	require.Equal(t, Fail, got[1].Point)
}

// Eight slots, each with eight answers of 1 s: the window is 8 s, and the
// steady part is from the last of the first eight sendings (0) to the last
// sending (7 s), in which 56 answers ended.
func TestRatesAndSteadyPart(t *testing.T) {
	var rs []record.Record
	for round := range 8 {
		for range 8 {
			r := answer(time.Duration(round)*time.Second, 500*time.Millisecond, 10)
			r.Done = r.Sent + int64(time.Second)
			rs = append(rs, r)
		}
	}
	r := resultOf(8, rs...)
	want := Rates{Input: 800, Items: Absent, Requests: 8, Output: 80, Total: 880, Errors: 0, Concurrency: 8, OutputPerAccelerator: Absent, TotalPerAccelerator: Absent}
	if d := cmp.Diff(want, r.Rates); d != "" {
		t.Errorf("rates (-want +got):\n%s", d)
	}
	if d := cmp.Diff(Steady{Window: 7, Requests: 8, Output: 80, Total: 880}, r.Steady); d != "" {
		t.Errorf("steady (-want +got):\n%s", d)
	}
}

func TestSLOString(t *testing.T) {
	for want, slo := range map[string]SLO{
		"TTFT p99 < 1s":     {Metric: TTFT, Stat: "p99", Op: Below, Limit: 1},
		"TPOT mean <= 50ms": {Metric: TPOT, Stat: Mean, Op: AtMost, Limit: 0.05},
		"error rate <= 0%":  {Metric: ErrorRate, Op: AtMost},
		"goodput(TTFT < 1s, TPOT < 50ms) >= 99%": {Metric: Goodput, Op: AtLeast, Limit: 0.99,
			Limits: Limits{TTFT: time.Second, TPOT: 50 * time.Millisecond}},
	} {
		require.Equal(t, want, slo.String())
	}
}

// withoutUsage is an answer whose tokens the server did not count.
func withoutUsage(sent, ttft time.Duration, tokens int) record.Record {
	r := answer(sent, ttft, tokens)
	r.InputTokens, r.OutputTokens = record.Absent, record.Absent
	return r
}

// What the server did not count is neither kept nor missed: a verdict that
// turns on it is INVALID, one that holds either way stands.
func TestJudgeUnknownCounts(t *testing.T) {
	few := []record.Record{}
	for i := range 18 {
		few = append(few, answer(time.Duration(i)*time.Second, time.Millisecond, 5))
	}
	few = append(few, withoutUsage(18*time.Second, time.Millisecond, 5), withoutUsage(19*time.Second, time.Millisecond, 5))
	r := resultOf(1, few...)
	burst := answer(0, time.Millisecond, 1)
	burst.OutputTokens = 100 // in one event
	held := resultOf(1, burst)
	for name, c := range map[string]struct {
		r    *Result
		slo  SLO
		want Outcome
	}{
		"p80 holds even if both are slow":    {r, SLO{Metric: TPOT, Stat: "p80", Op: Below, Limit: 0.011}, Pass},
		"p95 turns on them":                  {r, SLO{Metric: TPOT, Stat: "p95", Op: Below, Limit: 0.011}, Invalid},
		"missed even if both are fast":       {r, SLO{Metric: TPOT, Stat: "p80", Op: Below, Limit: 0.009}, Fail},
		"a mean turns on them":               {r, SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 0.011}, Invalid},
		"output tokens":                      {r, SLO{Metric: OutputTokens, Stat: Mean, Op: AtLeast, Limit: 5}, Invalid},
		"a rate that is high enough already": {r, SLO{Metric: OutputRate, Op: AtLeast, Limit: 4}, Pass},
		"a rate that may be high enough":     {r, SLO{Metric: OutputRate, Op: AtLeast, Limit: 5}, Invalid},
		"a rate that may be too high":        {r, SLO{Metric: OutputRate, Op: AtMost, Limit: 6}, Invalid},
		"goodput that may be reached":        {r, SLO{Metric: Goodput, Op: AtLeast, Limit: 0.95, Limits: Limits{TPOT: time.Second}}, Invalid},
		"goodput that is reached":            {r, SLO{Metric: Goodput, Op: AtLeast, Limit: 0.9, Limits: Limits{TPOT: time.Second}}, Pass},
		"goodput that is out of reach":       {r, SLO{Metric: Goodput, Op: AtLeast, Limit: 0.9, Limits: Limits{TPOT: 1}}, Fail},
		"tokens all at once have no TPOT":    {held, SLO{Metric: TPOT, Stat: "p90", Op: Below, Limit: 1}, Invalid},
		"and no good TPOT":                   {held, SLO{Metric: Goodput, Op: AtLeast, Limit: 1, Limits: Limits{TPOT: time.Second}}, Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.r.Judge(c.slo)[0]
			require.Equal(t, c.want, got.Point, got.Reason)
		})
	}
}

// What lies on a limit does, whatever float64 makes of it: 1.352 s and 1.551 s
// are among the values whose seconds differ in the last bit by the way that
// they are computed.
func TestJudgeOnTheLimit(t *testing.T) {
	for ms := range 3000 {
		d := time.Duration(ms+1) * time.Millisecond
		r := resultOf(1, answer(0, d, 1))
		slo := func(op Op) SLO { return SLO{Metric: TTFT, Stat: Max, Op: op, Limit: d.Seconds()} }
		require.Equal(t, Pass, r.Judge(slo(AtMost))[0].Point, d)
		require.Equal(t, Fail, r.Judge(slo(Below))[0].Point, d)
		good := SLO{Metric: Goodput, Op: AtLeast, Limit: 1, Limits: Limits{TTFT: d}}
		require.Equal(t, Fail, r.Judge(good)[0].Point, d)
	}
}

// Objectives that hold, or miss, whatever is measured are mistakes of scale.
func TestJudgeRefusesWhatCannotDecide(t *testing.T) {
	r := ninety()
	for want, slo := range map[string]SLO{
		"1% is 0.01":               {Metric: ErrorRate, Op: AtMost, Limit: 5},
		"error_rate <= 1 would":    {Metric: ErrorRate, Op: AtMost, Limit: 1},
		"goodput >= 99 would":      {Metric: Goodput, Op: AtLeast, Limit: 99, Limits: Limits{TTFT: 1}},
		"goodput >= 0 would":       {Metric: Goodput, Op: AtLeast, Limit: 0, Limits: Limits{TTFT: 1}},
		"p99, not p0.99":           {Metric: TTFT, Stat: "p0.99", Op: Below, Limit: 1},
		"limits of 0 (none) or mo": {Metric: Goodput, Op: AtLeast, Limit: 1, Limits: Limits{TTFT: -1}},
	} {
		v := r.Judge(slo)[0]
		require.Equal(t, Invalid, v.Point)
		require.Contains(t, v.Reason, want)
	}
	require.Equal(t, Fail, r.Judge(SLO{Metric: ErrorRate, Op: AtMost})[0].Point, "no failure at all can be asked for")
}

// Objectives on a tag see its requests alone, over the run's window.
func TestJudgeByTag(t *testing.T) {
	var rs []record.Record
	for i := range 10 {
		r := answer(time.Duration(i)*time.Second, 100*time.Millisecond, 5)
		r.Tag = "chat"
		if i%2 == 1 {
			r = answer(time.Duration(i)*time.Second, 900*time.Millisecond, 3)
			r.Tag = "code"
		}
		rs = append(rs, r)
	}
	bad := failure(9*time.Second, record.ClassReset)
	bad.Tag = "code"
	r := resultOf(1, append(rs, bad)...)
	window := float64(r.Window)
	for _, c := range []struct {
		slo     SLO
		want    Outcome
		samples int
	}{
		{SLO{Metric: TTFT, Stat: Max, Op: Below, Limit: 0.5, Tag: "chat"}, Pass, 5},
		{SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.5, Tag: "code"}, Fail, 6},
		{SLO{Metric: ErrorRate, Op: AtMost, Tag: "chat"}, Pass, 5},
		{SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.1, Tag: "code"}, Fail, 6},
		{SLO{Metric: ITL, Stat: Max, Op: AtMost, Limit: 0.01, Tag: "chat"}, Pass, 20},
		{SLO{Metric: OutputRate, Op: AtLeast, Limit: 25/window - 1e-9, Tag: "chat"}, Pass, 5},
		{SLO{Metric: OutputRate, Op: Above, Limit: 25/window + 1e-9, Tag: "chat"}, Fail, 5},
		{SLO{Metric: TTFT, Stat: Max, Op: Below, Limit: 5, Tag: "other"}, Invalid, 0},
	} {
		v := r.Judge(c.slo)[0]
		require.Equal(t, c.want, v.Point, "%s: %s", c.slo, v.Reason)
		require.Equal(t, c.samples, v.Samples, c.slo.String())
	}
	require.Equal(t, "code: TTFT p50 < 500ms", SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.5, Tag: "code"}.String())
}

func TestPlannedAndServedInput(t *testing.T) {
	a, b := answer(0, time.Millisecond, 1), answer(time.Second, time.Millisecond, 1)
	a.PlannedInput, b.PlannedInput = 100, 96 // both served as 100
	r := resultOf(1, a, b)
	require.Equal(t, []int64{2, 196, 200, 4}, []int64{int64(r.Counts.PlannedServed), r.Counts.PlannedInput, r.Counts.ServedInput, r.Counts.LargestDeviation})
	require.Contains(t, r.Warnings[0], "the server counts 100 input tokens a request where 98 were planned (+2%; at most +4)")
}
