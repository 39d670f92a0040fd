package perftest

import (
	"cmp"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/stats"
)

// peerPercentiles are those of a [PeerFigure].
var peerPercentiles = [...]int{50, 90, 95, 99}

// percentileRule is how a tool picks a percentile p of n ascending samples.
type percentileRule uint8

const (
	// ruleLinear interpolates (definition 7 of Hyndman and Fan): numpy's default.
	ruleLinear percentileRule = iota
	// ruleFloorIndex is the sample at index int(n*p/100) from 0: one further up
	// than the nearest rank whenever n*p/100 is whole.
	ruleFloorIndex
	// ruleInverseCDF is the smallest sample that at least p percent of the weight
	// does not exceed (definition 1).
	ruleInverseCDF
)

// figureRule says how a tool gets one figure. Values are in nanoseconds; NaN
// is a request that does not enter. Either of or gaps is set.
type figureRule struct {
	name   string
	metric Metric
	of     func(stamps) float64
	weight func(stamps) float64            // of a value of of; 1 each when nil
	gaps   func(r stamps, add func(int64)) // samples pooled over the requests
	note   string
}

// peerRules are all that is known of a tool.
type peerRules struct {
	peer       Peer
	source     string
	why        string
	percentile percentileRule
	drop       func(stamps) bool // requests that it leaves out; nil for none
	figures    []figureRule
}

// peerReader gathers the figures of one tool.
type peerReader struct {
	rules  *peerRules
	series []peerSeries
}

func newPeerReader(rules *peerRules) *peerReader {
	return &peerReader{rules: rules, series: make([]peerSeries, len(rules.figures))}
}

func (p *peerReader) add(rec *record.Record) {
	r := stamps{rec}
	if p.rules.drop != nil && p.rules.drop(r) {
		return
	}
	for i := range p.rules.figures {
		f, s := &p.rules.figures[i], &p.series[i]
		if f.gaps != nil {
			f.gaps(r, s.gaps.Add)
			continue
		}
		v, w := f.of(r), 1.0
		if f.weight != nil {
			w = f.weight(r)
		}
		if !math.IsNaN(v) && w > 0 {
			s.values = append(s.values, weightedValue{v, w})
		}
	}
}

func (p *peerReader) reading() Reading {
	r := Reading{Peer: p.rules.peer, Source: p.rules.source, Why: p.rules.why}
	for i := range p.rules.figures {
		f := &p.rules.figures[i]
		out := PeerFigure{Name: f.name, Metric: f.metric, Note: f.note}
		if f.gaps != nil {
			p.series[i].pooled(&out, p.rules.percentile)
		} else {
			p.series[i].perRequest(&out, p.rules.percentile)
		}
		r.Figures = append(r.Figures, out)
	}
	return r
}

// peerSeries are the samples of one figure: values a request, or pooled gaps.
type peerSeries struct {
	values []weightedValue
	gaps   stats.Distribution
}

type weightedValue struct{ value, weight float64 }

const perSecond = 1e9 // nanoseconds

// pooled describes the gaps, which have no weights. Percentiles are exact as
// long as the gaps are few enough to be kept.
func (s *peerSeries) pooled(f *PeerFigure, rule percentileRule) {
	d := s.gaps.Summary()
	n := d.N
	f.Count = n
	f.Mean, f.Min, f.Max = Value(d.Mean/perSecond), Value(d.Min/perSecond), Value(d.Max/perSecond)
	for _, p := range peerPercentiles {
		at := float64(p)
		if rule == ruleFloorIndex && n > 1 { // the place of the sample in the linear rule
			at = 100 * float64(floorIndex(n, p)) / float64(n-1)
		}
		f.Percentiles = append(f.Percentiles, Percentile{float64(p), Value(s.gaps.Percentile(at) / perSecond)})
	}
}

// perRequest describes the values.
func (s *peerSeries) perRequest(f *PeerFigure, rule percentileRule) {
	slices.SortFunc(s.values, func(a, b weightedValue) int { return cmp.Compare(a.value, b.value) })
	ascending := make([]float64, len(s.values))
	var sum, total float64
	for i, v := range s.values {
		ascending[i] = v.value
		sum += v.value * v.weight
		total += v.weight
	}
	f.Count = int(math.Round(total))
	f.Mean, f.Min, f.Max = Absent, Absent, Absent
	n := len(ascending)
	if n > 0 {
		f.Mean, f.Min, f.Max = Value(sum/total/perSecond), Value(ascending[0]/perSecond), Value(ascending[n-1]/perSecond)
	}
	for _, p := range peerPercentiles {
		v := Absent
		switch {
		case n == 0:
		case rule == ruleLinear:
			v = Value(stats.Percentile(ascending, float64(p)) / perSecond)
		case rule == ruleFloorIndex:
			v = Value(ascending[floorIndex(n, p)] / perSecond)
		default:
			v = Value(s.inverse(total*float64(p)/100) / perSecond)
		}
		f.Percentiles = append(f.Percentiles, Percentile{float64(p), v})
	}
}

// inverse is the first value up to which the given weight has come.
func (s *peerSeries) inverse(weight float64) float64 {
	var sum float64
	for _, v := range s.values {
		if sum += v.weight; sum >= weight {
			return v.value
		}
	}
	return s.values[len(s.values)-1].value
}

// floorIndex is the index of rule ruleFloorIndex among n samples.
func floorIndex(n, p int) int { return min(n*p/100, n-1) }
