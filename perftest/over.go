package perftest

import (
	"cmp"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// overTally is how the requests (for ITL: the gaps) stand to an SLO's limit.
type overTally struct {
	n, over, failed int
	// lacking is how many successes have not the token that the figure is
	// about: they are over every limit, and in no mean.
	lacking int
	// unknown, which are not in n, may be on either side of the limit:
	// successes whose figure the server's silence hides, and drained requests,
	// which were given up with the load before they were over it.
	unknown, drained int
	measured         Value // the figure over the successes
	// values are those of the n requests in the order of their intended start,
	// +Inf for one that is over every limit; pessimist has the unknown ones as
	// such too. Nil for ITL, whose gaps are not kept in memory.
	values, pessimist []float64
}

// inOrder are the measured requests in the order of their intended start.
func (r *Result) inOrder() []*sample {
	if len(r.samples.order) != len(r.samples.all) {
		r.samples.order = make([]*sample, len(r.samples.all))
		for i := range r.samples.all {
			r.samples.order[i] = &r.samples.all[i]
		}
		slices.SortStableFunc(r.samples.order, func(a, b *sample) int { return cmp.Compare(a.scheduled, b.scheduled) })
	}
	return r.samples.order
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
	var successes []float64
	for _, s := range r.inOrder() {
		if s.cancelled && slo.Stat == Mean {
			continue // of which the figure is that of the successes
		}
		y, known := s.standing(slo)
		switch {
		case !known && s.drained && s.limitsWait(slo):
			t.drained++
			t.pessimist = append(t.pessimist, math.Inf(1))
			continue
		case !known:
			if s.untold(slo.Metric) && !s.failed && !s.cancelled {
				t.unknown++
				t.pessimist = append(t.pessimist, math.Inf(1))
			}
			continue
		case s.failed:
			t.failed++
		case !s.cancelled && math.IsInf(y, 1):
			t.lacking++
		case !s.cancelled:
			successes = append(successes, y)
		}
		t.n++
		if !slo.Op.holds(y, slo.bound()) || math.IsInf(y, 1) { // what has no value misses a lower limit too
			t.over++
		}
		t.values, t.pessimist = append(t.values, y), append(t.pessimist, y)
	}
	slices.Sort(successes)
	t.measured = figure(slo.Stat, len(successes), func() stats.Summary { return stats.Summarize(successes) },
		func(p float64) float64 { return stats.Percentile(successes, p) })
	return t
}

// standing is the value by which a request is held against an objective: +Inf
// when it is over every limit. It is not known of what is left out.
func (s *sample) standing(slo SLO) (y float64, known bool) {
	switch v := s.of(slo.Metric); {
	case s.cancelled:
		return s.cutShort(slo)
	case s.failed:
		return math.Inf(1), true
	case v.Known():
		return float64(v), true
	case s.lacks(slo.Metric):
		return math.Inf(1), true
	}
	return 0, false
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
		each := r.gapsEach(t.n)
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

// gapsEach is how many gaps a failed request counts as, where the successes
// have n.
func (r *Result) gapsEach(n int) int {
	if r.Counts.Succeeded == 0 {
		return 1
	}
	return max(1, int(math.Ceil(float64(n)/float64(r.Counts.Succeeded))))
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
func (s *sample) cutShort(slo SLO) (y float64, known bool) {
	if !s.limitsWait(slo) {
		return 0, false
	}
	from, reached := s.sent, record.Absent
	switch slo.Metric {
	case TTFT:
		reached = s.firstToken
	case TTFA:
		reached = s.firstAnswer
	case Response:
		from = s.scheduled
	}
	if from == record.Absent || s.done == record.Absent {
		return 0, false
	}
	if reached != record.Absent {
		return float64(reached-from) / 1e9, true
	}
	over := !slo.Op.holds(float64(s.done-from)/1e9, slo.bound())
	return math.Inf(1), over
}

// limitsWait reports whether an objective is an upper limit of a time that has
// begun when a request is sent, so that a cancelled one may be over it.
func (*sample) limitsWait(slo SLO) bool {
	switch slo.Metric {
	case TTFT, TTFA, Latency, Response:
		return !slo.lower()
	}
	return false
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

// keeping says whether a request is good by every limit, and whether that is
// known.
func (s *sample) keeping(l Limits) (good, known bool) {
	if s.cancelled {
		over, _ := s.cutBy(l)
		return false, over
	}
	if s.failed {
		return false, true
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
	return kept && told, told || !kept
}

// cutBy is how a cancelled request stands to limits: over one of a wait that it
// had passed, or open, where it was drained before it had passed or kept each of
// them. Of others it is left out, as it is of objectives on these.
func (s *sample) cutBy(l Limits) (over, open bool) {
	for _, limit := range l.named() {
		slo := SLO{Metric: limit.metric, Op: Below, Limit: limit.limit.Seconds()}
		if limit.limit == 0 || !s.limitsWait(slo) {
			continue
		}
		switch y, known := s.cutShort(slo); {
		case !known:
			open = open || s.drained
		case !slo.Op.holds(y, slo.bound()):
			over = true
		}
	}
	return over, open && !over
}

// counts reports whether a cancelled request is among those that an objective on
// a share is about.
func (s *sample) counts(slo SLO) bool {
	over, open := s.cutBy(slo.Limits)
	return slo.Metric == Goodput && (over || open)
}

// goodTally is how the requests stand to limits that a good one keeps.
type goodTally struct {
	good    int
	unknown int // successes of which the server's silence hides it
	over    int // cancelled when they were over a limit
	open    int // drained before they were over or had kept the limits
}

// good counts the requests that keep every limit.
func (r *Result) good(l Limits) (t goodTally) {
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.cancelled {
			switch over, open := s.cutBy(l); {
			case over:
				t.over++
			case open:
				t.open++
			}
			continue
		}
		kept, known := s.keeping(l)
		switch {
		case kept:
			t.good++
		case !known:
			t.unknown++
		}
	}
	return t
}
