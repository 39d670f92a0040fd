package perftest

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// second is an answer a second, each of 100 ms to the first token.
func second(i int) record.Record {
	return answer(time.Duration(i)*time.Second, 100*time.Millisecond, 5)
}

// A mean over those that have a figure says nothing of those that never had
// their token: it misses every limit, as with failures.
func TestJudgeMeanWithoutTokens(t *testing.T) {
	r := resultOf(1, records(1000, func(i int) record.Record {
		r := second(i)
		if i == 500 { // it never came to an answer
			r.FirstAnswer = record.Absent
		}
		if i == 700 {
			r.FirstToken, r.FirstAnswer, r.SecondToken, r.LastToken, r.TokenEvents, r.Events = record.Absent, record.Absent, record.Absent, record.Absent, 0, nil
		}
		return r
	})...)
	for slo, reason := range map[SLO]string{
		{Metric: TTFA, Stat: Mean, Op: Below, Limit: 1}:      "2 of 1000 never had a TTFA, which no mean can bound",
		{Metric: TTFT, Stat: Mean, Op: Below, Limit: 1}:      "1 of 1000 never had a TTFT, which no mean can bound",
		{Metric: TTFT, Stat: Mean, Op: AtLeast, Limit: 0.01}: "1 of 1000 never had a TTFT, which no mean can bound",
	} {
		v := r.Judge(slo)[0]
		require.Equal(t, []Outcome{Fail, Fail}, []Outcome{v.Point, v.Outcome}, slo)
		require.Equal(t, reason, v.Reason)
	}
	require.Equal(t, Pass, r.Judge(SLO{Metric: TPOT, Stat: Mean, Op: Below, Limit: 1})[0].Outcome)
}

// Lower limits are proved and refuted as upper ones are, and so is one of 0.
// A thousand are worth 907, so that 0 over has the bound 1-0.05^(1/907) = 0.33 %.
func TestJudgeLowerLimits(t *testing.T) {
	r := resultOf(1, records(1000, second)...)
	for _, c := range []struct {
		slo  SLO
		want Outcome
	}{
		{SLO{Metric: OutputTokens, Stat: "p10", Op: AtLeast, Limit: 5}, Pass},
		{SLO{Metric: OutputTokens, Stat: "p1", Op: AtLeast, Limit: 5}, Pass},
		{SLO{Metric: OutputTokens, Stat: "p10", Op: Above, Limit: 5}, Fail},
		{SLO{Metric: OutputTokens, Stat: "p1", Op: AtLeast, Limit: 0}, Pass},
		{SLO{Metric: OutputTokens, Stat: "p99", Op: AtMost, Limit: 0}, Fail},
		{SLO{Metric: TTFT, Stat: "p10", Op: AtLeast, Limit: 0.05}, Pass},
		{SLO{Metric: TTFT, Stat: "p10", Op: Above, Limit: 0.1}, Fail},
	} {
		v := r.Judge(c.slo)[0]
		require.Equal(t, []Outcome{c.want, c.want}, []Outcome{v.Point, v.Outcome}, "%v: %s", c.slo, v.Evidence)
		require.Equal(t, Value(1), v.DesignEffect)
	}
	v := r.Judge(SLO{Metric: OutputTokens, Stat: "p10", Op: AtLeast, Limit: 5})[0]
	require.InDelta(t, 1-math.Pow(0.05, 1/float64(v.Effective)), float64(v.ShareUpper), 1e-9)
	require.InDelta(t, 1000*1.6464*1.6464/(1.7291*1.7291), float64(v.Effective), 0.1)
	require.Equal(t, Value(5), v.MeasuredBound)
}

// What the margin rule proves is told by that, and not by the bound of the
// share, which proves nothing: 300 in five minutes, the last ten of them slower.
func TestJudgeTellsTheMarginRule(t *testing.T) {
	v := resultOf(1, records(300, func(i int) record.Record {
		return answer(time.Duration(i)*time.Second, 100*time.Millisecond*time.Duration(1+i/290), 5)
	})...).Judge(SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1})[0]
	require.Equal(t, Pass, v.Outcome)
	require.Greater(t, float64(v.ShareUpper), 0.01)
	require.Equal(t, "0 of 300 over, and none comes near the limit in a minute or more", v.Evidence)
}

// Of a rate the unknown are taken for good before it is refuted: 900 a 999.1 s
// are known to be good, and 1,000 may be. At least 0.95 can then not be told,
// 1.0005 is neither reached nor refuted by what is known alone.
func TestJudgeRateOfUnknown(t *testing.T) {
	r := resultOf(1, records(1000, func(i int) record.Record {
		r := second(i)
		if i%10 == 0 {
			r.OutputTokens = record.Absent
		}
		return r
	})...)
	rate := func(limit float64) Verdict {
		return r.Judge(SLO{Metric: GoodputRate, Op: AtLeast, Limit: limit, Limits: Limits{TPOT: time.Second}})[0]
	}
	require.Equal(t, Invalid, rate(0.95).Outcome)
	require.Equal(t, Fail, rate(1.1).Outcome)
	require.InDelta(t, 1, float64(rate(1.1).MeasuredBound), 0.01, "with those that may be good")
	require.Equal(t, Pass, rate(0.85).Outcome)
	share := func(op Op, limit float64) Verdict {
		return r.Judge(SLO{Metric: Goodput, Op: op, Limit: limit, Limits: Limits{TPOT: time.Second}})[0]
	}
	require.Equal(t, Pass, share(AtLeast, 0.8).Outcome)
	require.Equal(t, 100, share(AtLeast, 0.8).Over, "the unknown are not good")
	require.Equal(t, Fail, share(AtMost, 0.8).Outcome)
	require.Equal(t, 900, share(AtMost, 0.8).Over, "nor do they count against it")
}

// A request that was cancelled with the load, before its limit had passed, may
// have been over it. One whose user left is not asked.
func TestJudgeDrained(t *testing.T) {
	cut := func(cause error, at time.Duration) *Result {
		return resultOf(1, records(1000, func(i int) record.Record {
			if i < 980 {
				return second(i)
			}
			r := failure(time.Duration(i)*time.Second, record.ClassCancelled)
			r.Message, r.Done = "cancelled: "+cause.Error(), r.Sent+int64(at)
			return r
		})...)
	}
	slo := SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1}
	v := cut(load.ErrDrained, 500*time.Millisecond).Judge(slo)[0]
	require.Equal(t, []Outcome{Invalid, Invalid}, []Outcome{v.Point, v.Outcome})
	require.Contains(t, v.Reason, "20 requests were cancelled at the end of the load before the limit had passed")
	v = cut(load.ErrDrained, 500*time.Millisecond).Judge(SLO{Metric: TTFT, Stat: "p80", Op: Below, Limit: 1})[0]
	require.Equal(t, []Outcome{Pass, Pass}, []Outcome{v.Point, v.Outcome}, "with all 20 over, too")
	require.Greater(t, float64(v.ShareUpper), 0.02, "of which the bound knows")
	v = cut(load.ErrDrained, 2*time.Second).Judge(slo)[0]
	require.Equal(t, []any{Fail, 20}, []any{v.Point, v.Over}, "they were over it")
	v = cut(load.ErrAbandoned, 500*time.Millisecond).Judge(slo)[0]
	require.Equal(t, []any{Pass, Pass, 980}, []any{v.Point, v.Outcome, v.Samples})
	v = cut(load.ErrDrained, 2*time.Second).Judge(SLO{Metric: TTFT, Stat: Mean, Op: Below, Limit: 1})[0]
	require.Equal(t, []Outcome{Pass, Pass}, []Outcome{v.Point, v.Outcome}, "a mean is that of the successes")
}

// Gaps of which the server does not say how many tokens they are for may be
// over the limit: with 30 of 3,000 such, all in one batch of twenty, p98 is not
// proved.
func TestJudgeGapsOfUnknownTokens(t *testing.T) {
	r := resultOf(1, records(1000, func(i int) record.Record {
		r := second(i)
		for j := range r.Events {
			if i < 990 {
				r.Events[j].Tokens = 1
			}
		}
		return r
	})...)
	dir := t.TempDir()
	w, err := record.Create(filepath.Join(dir, requestsFile), nil)
	require.NoError(t, err)
	for i := range 1000 {
		rec := w.Get()
		a := second(i)
		*rec = a
		for j := range rec.Events {
			if i < 990 {
				rec.Events[j].Tokens = 1
			}
		}
		w.Put(rec)
	}
	require.NoError(t, w.Close())
	slo := SLO{Metric: ITLPerToken, Stat: "p98", Op: Below, Limit: 1}
	v := r.Judge(slo)[0]
	require.Equal(t, Inconclusive, v.Outcome)
	require.Equal(t, "the gaps cannot be read from requests.jsonl", v.Evidence)
	r.Dir = dir
	v = r.Judge(slo)[0]
	require.Equal(t, []Outcome{Pass, Inconclusive}, []Outcome{v.Point, v.Outcome}, v.Evidence)
	require.Equal(t, Pass, r.Judge(SLO{Metric: ITL, Stat: "p98", Op: Below, Limit: 1})[0].Outcome)
}

// What is needed to refute one objective of many is by Holm's level.
func TestJudgeNeededOfAFamily(t *testing.T) {
	rs := func(n int) *Result {
		return resultOf(1, records(n, func(i int) record.Record {
			return answer(time.Duration(i)*time.Second, 100*time.Millisecond+2*time.Second*time.Duration(boolInt(i%8 == 0)), 5)
		})...)
	}
	slo := SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 1}
	family := []SLO{slo}
	for _, p := range []Stat{"p20", "p30", "p40", "p50", "p60"} {
		family = append(family, SLO{Metric: TTFT, Stat: p, Op: Below, Limit: 1})
	}
	alone, many := rs(160).Judge(slo)[0], rs(160).Judge(family...)[0]
	require.Equal(t, []Outcome{Inconclusive, Inconclusive}, []Outcome{alone.Outcome, many.Outcome})
	require.Greater(t, many.Needed, alone.Needed)
	whole := func(n int) int { return (n + 159) / 160 * 160 } // at the same share, evenly
	require.Equal(t, Fail, rs(whole(alone.Needed)).Judge(slo)[0].Outcome)
	require.Equal(t, Fail, rs(whole(many.Needed)).Judge(family...)[0].Outcome)
	require.Equal(t, Inconclusive, rs(whole(alone.Needed)).Judge(family...)[0].Outcome)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A stored result whose requests were changed is refused.
func TestReadResultOfChangedRequests(t *testing.T) {
	r := resultOf(1, records(10, second)...)
	r.Schema, r.Version, r.Dir = ResultSchema, ResultVersion, t.TempDir()
	w, err := record.Create(filepath.Join(r.Dir, requestsFile), nil)
	require.NoError(t, err)
	for i := range 10 {
		rec := w.Get()
		*rec = second(i)
		if i == 3 {
			*rec = failure(time.Duration(i)*time.Second, record.ClassReset)
		}
		w.Put(rec)
	}
	require.NoError(t, w.Close())
	require.NoError(t, r.save())
	_, err = ReadResult(r.Dir)
	require.ErrorContains(t, err, "holds 9 successes and 1 failures, result.json says 10 and 0")
	require.NoError(t, os.Remove(filepath.Join(r.Dir, requestsFile)))
	_, err = ReadResult(r.Dir)
	require.ErrorContains(t, err, requestsFile)
}

// The turns in flight are part of the load, and of its fingerprint.
func TestFingerprintHasTurnsInFlight(t *testing.T) {
	a, b := &Result{}, &Result{}
	b.Scenario.TurnsInFlight = 4
	x, err := a.Fingerprint()
	require.NoError(t, err)
	y, err := b.Fingerprint()
	require.NoError(t, err)
	require.False(t, x.same(y))
	require.True(t, strings.Contains(y.differs(x), "turns_in_flight"))
}

// Run twice at very different rates: the mean of the windows is not that of
// the time, and no proof says the opposite of the figure.
func TestProofDoesNotContradictTheFigure(t *testing.T) {
	v := Verdict{SLO: SLO{Metric: RequestRate, Op: AtLeast, Limit: 7.8}, Point: Fail}
	v.settle(1) // stats.Pass
	require.Equal(t, Inconclusive, v.Outcome)
}
