package perftest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// Every odd case has a named outcome and says why, and none is a pass.
func TestJudgeEdges(t *testing.T) {
	repeat := func(n int, make func(i int) record.Record) *Result {
		rs := records(n, make)
		return resultOf(1, rs...)
	}
	same := func(i int) record.Record { return answer(time.Duration(i)*time.Second, 100*time.Millisecond, 5) }
	failed := func(i int) record.Record { return failure(time.Duration(i)*time.Second, record.ClassReset) }
	ttft := func(stat Stat, op Op, limit float64) SLO { return SLO{Metric: TTFT, Stat: stat, Op: op, Limit: limit} }
	for name, c := range map[string]struct {
		r              *Result
		slo            SLO
		outcome, point Outcome
		says           string
	}{
		"none":                   {&Result{}, ttft("p99", Below, 1), Invalid, Invalid, "no request was measured"},
		"none, rate":             {&Result{}, SLO{Metric: ErrorRate, Op: AtMost}, Invalid, Invalid, "no request was measured"},
		"ten":                    {repeat(10, same), ttft("p99", Below, 1), Inconclusive, Pass, "0 of 10 over, p99 at 95% needs 299"},
		"ten, mean":              {repeat(10, same), ttft(Mean, Below, 1), Inconclusive, Pass, "10 samples are too few, mean at 95% needs 20"},
		"ten, rate":              {repeat(10, same), SLO{Metric: RequestRate, Op: AtLeast, Limit: 0.1}, Inconclusive, Pass, "10 samples are too few, request rate at 95% needs 100"},
		"ten, goodput":           {repeat(10, same), SLO{Metric: Goodput, Op: AtLeast, Limit: 0.9, Limits: Limits{TTFT: time.Second}}, Inconclusive, Pass, "0 of 10 not good"},
		"ten, max":               {repeat(10, same), ttft(Max, Below, 1), Inconclusive, Pass, "0 of 10 over, max at 95% needs 20"},
		"ten, no errors":         {repeat(10, same), SLO{Metric: ErrorRate, Op: AtMost}, Inconclusive, Pass, "0 of 10 failed, error rate at 95% needs 20"},
		"ten in a minute, p50":   {repeat(10, func(i int) record.Record { return same(10 * i) }), ttft("p50", Below, 1), Inconclusive, Pass, "0 of 10 over, p50 at 95% needs 20"},
		"all failed":             {repeat(300, failed), ttft("p99", Below, 1), Fail, Fail, "300 of 300 over"},
		"all failed, mean":       {repeat(300, failed), ttft(Mean, Below, 1), Fail, Fail, "300 of 300 failed, which no mean can bound"},
		"all failed, errors":     {repeat(300, failed), SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.01}, Fail, Fail, "300 of 300 failed"},
		"all failed, rate":       {repeat(300, failed), SLO{Metric: RequestRate, Op: AtLeast, Limit: 1}, Fail, Fail, "with 95% to 0 req/s"},
		"all failed, ITL":        {repeat(300, failed), SLO{Metric: ITL, Stat: "p99", Op: Below, Limit: 1}, Inconclusive, Fail, ""},
		"all on the limit":       {repeat(1000, same), ttft("p99", Below, 0.1), Fail, Fail, "1000 of 1000 over"},
		"mean on the limit":      {repeat(1000, same), ttft(Mean, Below, 0.1), Inconclusive, Fail, "with 95% only to 100ms"},
		"NaN":                    {repeat(1000, same), ttft("p99", Below, math.NaN()), Invalid, Invalid, "SLO.Limit is NaN"},
		"infinite":               {repeat(1000, same), ttft("p99", Below, math.Inf(1)), Invalid, Invalid, "SLO.Limit is +Inf"},
		"limit 0":                {repeat(1000, same), ttft("p99", Below, 0), Invalid, Invalid, "SLO.Limit is 0: set a duration above 0"},
		"confidence 95":          {repeat(1000, same), SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1, Confidence: 95}, Invalid, Invalid, "SLO.Confidence is 95"},
		"p100":                   {repeat(1000, same), ttft("p100", Below, 1), Invalid, Invalid, "SLO.Stat"},
		"a tag that nothing has": {repeat(1000, same), SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1, Tag: "x"}, Invalid, Invalid, "no request was measured"},
	} {
		t.Run(name, func(t *testing.T) {
			v := c.r.Judge(c.slo)[0]
			require.Equal(t, []Outcome{c.outcome, c.point}, []Outcome{v.Outcome, v.Point}, v.Reason+" / "+v.Evidence)
			require.Contains(t, v.Reason+" / "+v.Evidence, c.says)
		})
	}
}

func records(n int, make func(i int) record.Record) (rs []record.Record) {
	for i := range n {
		rs = append(rs, make(i))
	}
	return rs
}

// No variance at all, far from the limit: a thousand are worth 905, which prove
// p99; in a run of a thousand seconds the margin rule needs but 299.
func TestJudgeWithoutVariance(t *testing.T) {
	for n, want := range map[int]Outcome{298: Inconclusive, 299: Pass, 1000: Pass} {
		v := resultOf(1, records(n, func(i int) record.Record { return answer(time.Duration(i)*time.Second, 100*time.Millisecond, 5) })...).
			Judge(SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1})[0]
		require.Equal(t, want, v.Outcome, n)
	}
	quick := resultOf(1, records(327, func(i int) record.Record { return answer(time.Duration(i)*time.Millisecond, 100*time.Millisecond, 5) })...)
	v := quick.Judge(SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1})[0]
	require.Equal(t, Inconclusive, v.Outcome)
	require.Equal(t, 328, v.Needed) // ln 0.05/ln 0.99 is 298.07; 328 (1.6495/1.7291)^2 is 298.5, and 327 of them 297.6
	require.Equal(t, Value(1), v.DesignEffect)
}

// Of three objectives the one nearest to its limit binds, and one that is
// missed by failures alone is beyond it.
func TestJudgeBinding(t *testing.T) {
	r := ninety()
	for _, c := range []struct {
		slos []SLO
		want int
	}{
		{[]SLO{{Metric: TTFT, Stat: "p50", Op: Below, Limit: 1}, {Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.2}, {Metric: ErrorRate, Op: AtMost, Limit: 0.5}}, 1},
		{[]SLO{{Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.2}, {Metric: TTFT, Stat: "p95", Op: Below, Limit: 10}}, 1},
	} {
		for i, v := range r.Judge(c.slos...) {
			require.Equal(t, i == c.want, v.Binding, v.SLO)
		}
	}
}

// Nothing binds in a run that can tell nothing: the table has no line for it.
func TestJudgeBindingOfNothing(t *testing.T) {
	slos := []SLO{{Metric: TTFT, Stat: "p50", Op: Below, Limit: 1}, {Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.01}}
	lag := func(d time.Duration) *Result { return lagging(d, nil) }
	early := lag(0)
	early.Partial, early.Ended = true, endedInterrupted
	repeated := lag(0)
	repeated.earlier = []*Result{lag(50 * time.Millisecond)}
	for name, c := range map[string]struct {
		r    *Result
		slos []SLO
		want int
	}{
		"a sound run":              {lag(0), slos, 1},
		"a client that is slow":    {lag(50 * time.Millisecond), slos, -1},
		"one run with such client": {repeated, slos, -1},
		"ended early":              {early, slos[:1], -1},
		"ended early with a miss":  {early, slos, 1},
	} {
		t.Run(name, func(t *testing.T) {
			verdicts := c.r.Judge(c.slos...)
			for i, v := range verdicts {
				require.Equal(t, i == c.want, v.Binding, v.SLO)
			}
			if len(c.slos) > 1 {
				require.Equal(t, c.want >= 0, strings.Contains(c.r.VerdictTable(verdicts), "binding: "))
			}
		})
	}
}

// Holm: 20 evenly spread of 100 refute p88 with p = 0.018 (by the normal curve:
// they are worth 92, of which 18.4 are over where 11.1 may be), which fails it
// alone, and not as one of five objectives, at 0.05/5.
func TestJudgeFamily(t *testing.T) {
	rs := records(100, func(i int) record.Record {
		ttft := 100 * time.Millisecond
		if i%5 == 0 {
			ttft = 2 * time.Second
		}
		return answer(time.Duration(i)*time.Second, ttft, 5)
	})
	slo := SLO{Metric: TTFT, Stat: "p88", Op: Below, Limit: 1}
	alone := resultOf(1, rs...).Judge(slo)[0]
	family := resultOf(1, rs...).Judge(slo, SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 1}, SLO{Metric: TTFT, Stat: "p60", Op: Below, Limit: 1},
		SLO{Metric: TTFT, Stat: "p65", Op: Below, Limit: 1}, SLO{Metric: TTFT, Stat: "p66", Op: Below, Limit: 1})[0]
	require.Equal(t, []Outcome{Fail, Fail}, []Outcome{alone.Point, alone.Outcome}, alone.Evidence)
	require.Equal(t, []Outcome{Fail, Inconclusive}, []Outcome{family.Point, family.Outcome}, family.Evidence)
}

// Goodput counts a request that was given up when it was over a limit, and one
// that was drained before that as what may be either; what its user gave up in
// time, or had its wait within the limit, is left out. Ten are good.
func TestGoodputOfCancelled(t *testing.T) {
	cut := func(after time.Duration, message string, token time.Duration) func(i int) record.Record {
		return func(i int) record.Record {
			r := failure(time.Duration(100+i)*time.Second, record.ClassCancelled)
			r.Message, r.Done = message, r.Sent+int64(after)
			if token > 0 {
				r.FirstToken = r.Sent + int64(token)
			}
			return r
		}
	}
	drained, byUser := load.ErrDrained.Error(), load.ErrAbandoned.Error()
	both := Limits{TTFT: time.Second, TPOT: 50 * time.Millisecond}
	for name, c := range map[string]struct {
		cut     func(i int) record.Record
		limits  Limits
		least   float64
		want    Outcome
		samples int
		reason  string
	}{
		"drained over the limit":         {cut(2*time.Second, drained, 0), both, 0.9, Fail, 12, "goodput"}, // 10 of 12
		"given up by users over it":      {cut(2*time.Second, byUser, 0), both, 0.9, Fail, 12, "goodput"},
		"a late token is over it too":    {cut(3*time.Second, drained, 2*time.Second), both, 0.9, Fail, 12, "goodput"},
		"drained before, which decides":  {cut(time.Millisecond, drained, 0), both, 0.9, Invalid, 12, "2 requests were cancelled at the end of the load"},
		"drained before, and no matter":  {cut(time.Millisecond, drained, 0), both, 0.8, Pass, 12, "goodput"},
		"given up by users before":       {cut(time.Millisecond, byUser, 0), both, 0.99, Pass, 10, "goodput"},
		"drained within the limit":       {cut(2*time.Second, drained, time.Millisecond), both, 0.99, Pass, 10, "goodput"},
		"of tokens nothing is told":      {cut(2*time.Second, drained, 0), Limits{TPOT: 50 * time.Millisecond}, 0.99, Pass, 10, "goodput"},
		"over one of a latency":          {cut(2*time.Second, drained, time.Millisecond), Limits{TTFT: time.Second, Latency: 2 * time.Second}, 0.99, Fail, 12, "goodput"},
		"not yet over one of a latency":  {cut(time.Second, drained, time.Millisecond), Limits{Latency: 2 * time.Second}, 0.99, Invalid, 12, "set the load's Drain.After"},
		"over one, the other still open": {cut(time.Second, drained, 0), Limits{TTFT: time.Second, Latency: 2 * time.Second}, 0.99, Fail, 12, "goodput"},
	} {
		t.Run(name, func(t *testing.T) {
			rs := records(10, func(i int) record.Record { return answer(time.Duration(i)*time.Second, 100*time.Millisecond, 5) })
			v := resultOf(1, append(rs, records(2, c.cut)...)...).Judge(SLO{Metric: Goodput, Op: AtLeast, Limit: c.least, Limits: c.limits})[0]
			require.Equal(t, c.want, v.Point, v.Reason)
			require.Equal(t, c.samples, v.Samples)
			require.Contains(t, v.Reason, c.reason)
			if c.want != Invalid {
				require.InDelta(t, 10/float64(c.samples), float64(v.Measured), 1e-12)
				require.Equal(t, c.samples-10, v.Over)
			}
		})
	}
}

// A failure that is in no figure is still told; one that was cancelled with the
// end of the run is none.
func TestFailuresAtTheEndsAreToldOf(t *testing.T) {
	at := func(part record.Part, r record.Record) record.Record {
		r.Part = part
		return r
	}
	r := resultOf(1,
		at(record.Start, failure(0, record.ClassStatus)), at(record.Start, answer(0, time.Millisecond, 2)),
		answer(time.Second, time.Millisecond, 2),
		at(record.Padding, failure(2*time.Second, record.ClassReset)), at(record.Padding, failure(2*time.Second, record.ClassCancelled)),
	)
	require.Equal(t, []int{1, 0, 2, 1, 2}, []int{r.Counts.Succeeded, r.Counts.Failed, r.Counts.Start, r.Counts.StartFailed, r.Counts.Padding})
	require.Contains(t, r.Warnings, "1 of the 2 requests of the start burst failed, which is in no figure")
	require.Contains(t, r.Warnings, "1 of the 2 requests that kept slots busy to the end failed, which is in no figure")
}
