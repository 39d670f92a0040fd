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
	unknown         int   // successes whose figure the server's silence hides; not in n
	measured        Value // the figure over the successes
}

// overLimit counts what does not keep slo's limit.
func (r *Result) overLimit(slo SLO) overTally {
	switch slo.Metric {
	case ITL:
		return r.gapsOverLimit(&r.samples.gaps.events, slo)
	case ITLPerToken:
		return r.gapsOverLimit(&r.samples.gaps.tokens, slo)
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
			if !slo.Op.holds(float64(v), slo.bound()) {
				t.over++
			}
			values = append(values, float64(v))
		case s.lacks(slo.Metric):
			t.n++
			t.over++
		case s.untold(slo.Metric):
			t.unknown++
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
	t := overTally{n: g.N(), failed: r.Counts.Failed}
	if slo.Metric == ITLPerToken {
		t.unknown = r.samples.gaps.untold
	}
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
	t.measured = figure(slo.Stat, g.N(), func() stats.Summary {
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
		return !slo.Op.holds(float64(reached-from)/1e9, slo.bound()), true
	}
	over = !slo.Op.holds(float64(s.done-from)/1e9, slo.bound())
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

// untold reports whether a success has no m only because the server did not
// say how many tokens there were, or sent them in one event.
func (s *sample) untold(m Metric) bool {
	switch m {
	case TPOT:
		return s.firstToken != record.Absent && (s.output == record.Absent || s.output > 1)
	case OutputTokens:
		return s.output == record.Absent
	case InputTokens:
		return s.input == record.Absent
	}
	return false
}

// good counts the requests that keep every limit, and those of which it is not
// known.
func (r *Result) good(l Limits) (good, unknown int) {
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.failed || s.cancelled {
			continue
		}
		kept, told := true, true
		for _, limit := range l.named() {
			if limit.limit == 0 {
				continue
			}
			v := s.of(limit.metric)
			if limit.metric == ITL {
				v = seconds(s.maxGap)
			}
			switch {
			case v.Known():
				kept = kept && float64(v) < float64(limit.limit)/1e9
			case s.lacks(limit.metric):
				kept = false
			case s.untold(limit.metric):
				told = false
			}
		}
		switch {
		case kept && told:
			good++
		case kept:
			unknown++
		}
	}
	return good, unknown
}
