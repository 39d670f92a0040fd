package perftest

import (
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// overTally is how the requests (for ITL: the gaps) stand to an SLO's limit.
type overTally struct {
	n, over, failed int
	unit            string // what n counts where it is not requests
	measured        Value  // the figure over the successes
}

// overLimit counts what does not keep slo's limit.
func (r *Result) overLimit(slo SLO) overTally {
	switch slo.Metric {
	case ITL:
		return r.gapsOverLimit(&r.samples.gaps, slo)
	case ITLPerToken:
		return r.gapsOverLimit(&r.samples.tokenGaps, slo)
	}
	var t overTally
	values := make([]float64, 0, len(r.samples.all))
	for i := range r.samples.all {
		s := &r.samples.all[i]
		switch v := s.of(slo.Metric); {
		case s.cancelled:
			if over, known := s.cutShort(slo); known {
				t.n++
				if over {
					t.over++
				}
			}
		case s.failed:
			t.n++
			t.over++
			t.failed++
		case v.Known():
			t.n++
			if !slo.Op.holds(float64(v), slo.Limit) {
				t.over++
			}
			values = append(values, float64(v))
		case s.lacks(slo.Metric):
			t.n++
			t.over++
		}
	}
	slices.Sort(values)
	t.measured = figure(slo.Stat, len(values), func() stats.Summary { return stats.Summarize(values) },
		func(p float64) float64 { return stats.Percentile(values, p) })
	return t
}

// gapsOverLimit counts gaps between token events. A failed request counts as
// as many gaps over the limit as a success has on average: left out, or
// counted as one gap, it would vanish among the thousands of the others.
func (r *Result) gapsOverLimit(g *stats.Distribution, slo SLO) overTally {
	t := overTally{unit: "gaps", n: g.Summary().N, failed: r.Counts.Failed}
	limit := int64(math.Round(slo.Limit * 1e9))
	switch slo.Op {
	case Below: // over: gap >= limit
		t.over = g.CountAtLeast(limit)
	case AtMost: // over: gap > limit
		t.over = g.CountAtLeast(limit + 1)
	case AtLeast: // over: gap < limit
		t.over = t.n - g.CountAtLeast(limit)
	case Above: // over: gap <= limit
		t.over = t.n - g.CountAtLeast(limit+1)
	}
	if t.failed > 0 {
		each := 1
		if r.Counts.Succeeded > 0 {
			each = max(1, int(math.Ceil(float64(t.n)/float64(r.Counts.Succeeded))))
		}
		t.n += each * t.failed
		t.over += each * t.failed
	}
	t.measured = figure(slo.Stat, g.Summary().N, func() stats.Summary {
		s := g.Summary()
		s.Mean, s.Max = s.Mean/1e9, s.Max/1e9
		return s
	}, func(p float64) float64 { return g.Percentile(p) / 1e9 })
	return t
}

// figure is the number that stands for stat; absent without values.
func figure(stat Stat, n int, summary func() stats.Summary, percentile func(float64) float64) Value {
	if n == 0 {
		return Absent
	}
	p, ok := stat.percentile()
	switch {
	case ok:
		return Value(percentile(p))
	case stat == Max:
		return Value(summary().Max)
	}
	return Value(summary().Mean)
}

// cutShort is how a cancelled request stands to an upper limit, where that is
// known: its first token came, or by the time it was cancelled it was over the
// limit already.
func (s *sample) cutShort(slo SLO) (over, known bool) {
	from, reached := s.sent, record.Absent
	switch slo.Metric {
	case TTFT:
		reached = s.firstToken
	case TTFA:
		reached = s.firstAnswer
	case Latency:
	case Response:
		from = s.scheduled
	default:
		return false, false
	}
	if from == record.Absent || s.done == record.Absent || slo.Op != Below && slo.Op != AtMost {
		return false, false
	}
	if reached != record.Absent {
		return !slo.Op.holds(float64(reached-from)/1e9, slo.Limit), true
	}
	over = !slo.Op.holds(float64(s.done-from)/1e9, slo.Limit)
	return over, over
}

// lacks reports whether a success misses the token that m is about, which is
// worse than any limit, rather than having no meaning for m.
func (s *sample) lacks(m Metric) bool {
	switch m {
	case TTFT, ITL:
		return s.tokenEvents == 0
	case TTFA:
		return true // the answer never came
	}
	return false
}

// good counts the requests that keep every limit.
func (r *Result) good(l Limits) int {
	n := 0
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.failed || s.cancelled {
			continue
		}
		within := func(m Metric, limit float64) bool {
			if limit == 0 {
				return true
			}
			v := s.of(m)
			return v.Known() && float64(v) < limit || !v.Known() && !s.lacks(m)
		}
		gap := l.ITL == 0 || s.maxGap == record.Absent || s.maxGap < int64(l.ITL)
		if gap && within(TTFT, l.TTFT.Seconds()) && within(TTFA, l.TTFA.Seconds()) && within(TPOT, l.TPOT.Seconds()) &&
			within(Latency, l.Latency.Seconds()) && within(Response, l.Response.Seconds()) {
			n++
		}
	}
	return n
}
