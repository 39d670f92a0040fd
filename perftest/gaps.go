package perftest

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// gaps are those between token events of successes, in nanoseconds.
type gaps struct {
	events stats.Distribution
	tokens stats.Distribution // the same a token, where the server says how many an event carries
	untold int                // gaps before events of which it does not
}

// mostTokens bounds what one event may weigh among the gaps a token: no engine
// puts more into one, whatever a server says.
const mostTokens = 1024

// each calls f for every gap of a record: with the tokens of the event after
// it, 0 where the server does not say.
func eachGap(r *record.Record, f func(gap int64, tokens int)) {
	last, unseen := record.Absent, 0 // unseen: tokens since then of which nothing was to be seen yet, such as half a character
	for _, e := range r.Events {
		if e.Kind&record.KindOutput == 0 {
			unseen += int(e.Tokens)
			continue
		}
		if last != record.Absent {
			n := 0
			if e.Tokens > 0 {
				n = int(e.Tokens) + unseen
			}
			f(e.At-last, n)
		}
		last, unseen = e.At, 0
	}
}

func (g *gaps) add(r *record.Record) {
	eachGap(r, func(gap int64, tokens int) {
		g.events.Add(gap)
		if tokens > 0 {
			g.tokens.AddN(gap/int64(tokens), min(tokens, mostTokens))
		} else {
			g.untold++
		}
	})
}

const (
	// minRequestsOfGaps is the least number of requests whose gaps are tested:
	// the gaps of one are of one piece, and batches of fewer than five say
	// nothing of how they vary.
	minRequestsOfGaps = 100
	// mostGaps bounds the memory of a test: of a larger run it takes each k-th
	// request.
	mostGaps = 1 << 23
)

// gapsInOrder are the gaps of m (ITL or ITLPerToken), in seconds, in the order
// of their requests' intended starts. They are read from requests.jsonl, since
// a result keeps no gaps; nil when that cannot be read. A failed request has as
// many infinite ones as a success has on average; pessimist has one for each
// gap of which the server does not say how many tokens it is for, too.
func (r *Result) gapsInOrder(m Metric) (gaps, pessimist []float64) {
	type request struct {
		scheduled int64
		gaps      []float64
		untold    int
	}
	if r.parts != nil {
		for _, part := range r.parts {
			more, worst := part.gapsInOrder(m)
			gaps, pessimist = append(gaps, more...), append(pessimist, worst...)
		}
		return gaps, pessimist
	}
	if r.Dir == "" {
		return nil, nil
	}
	all := &r.samples.gaps.events
	if m == ITLPerToken {
		all = &r.samples.gaps.tokens
	}
	late := make([]float64, r.gapsEach(all.N()))
	for i := range late {
		late[i] = math.Inf(1)
	}
	stride, seen := all.N()/mostGaps+1, 0
	var requests []request
	_, err := eachRecord(filepath.Join(r.Dir, requestsFile), func(rec *record.Record) {
		if rec.Part != record.Measured || rec.Class == record.ClassCancelled || r.tag != "" && rec.Tag != r.tag {
			return
		}
		if seen++; seen%stride != 0 {
			return
		}
		q := request{scheduled: rec.Scheduled, gaps: late}
		if rec.OK() {
			q.gaps = nil
			eachGap(rec, func(gap int64, tokens int) {
				switch {
				case m == ITL:
					q.gaps = append(q.gaps, float64(gap)/1e9)
				case tokens == 0:
					q.untold++
				default:
					each := float64(gap/int64(tokens)) / 1e9
					for range min(tokens, mostTokens) {
						q.gaps = append(q.gaps, each)
					}
				}
			})
		}
		requests = append(requests, q)
	})
	if err != nil {
		return nil, nil
	}
	slices.SortStableFunc(requests, func(a, b request) int { return cmp.Compare(a.scheduled, b.scheduled) })
	untold := 0
	for _, q := range requests {
		gaps = append(gaps, q.gaps...)
		untold += q.untold
	}
	if untold == 0 {
		return gaps, gaps
	}
	for _, q := range requests {
		pessimist = append(pessimist, q.gaps...)
		for range q.untold {
			pessimist = append(pessimist, math.Inf(1))
		}
	}
	return gaps, pessimist
}
