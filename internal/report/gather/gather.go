// Package gather turns the records of one run into what its charts show, in
// one pass and in memory that is bounded but for some 40 bytes a request.
package gather

import (
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report/figure"
	"github.com/slogate/slogate/internal/stats"
)

// Options say what is coming.
type Options struct {
	End      int64 // the last stamp, nanoseconds after the run's start; later ones count as it
	Requests int   // about how many records, of all parts
	Bars     int   // the most that the timeline may have; 0 means none
}

// Run gathers one run. Make it with [New].
type Run struct {
	opts   Options
	width  int64 // of a time slice, nanoseconds
	slices []slice
	busy   []float64 // by slice, how many requests more are in flight for all of it

	ttft, tpot, latency []float64 // of measured successes, seconds
	itl                 stats.Distribution
	warmupEnd           int64
	failures            []failureMark
	heat                heat
	timeline            timeline
}

// slice is what falls into one part of the run's time. Requests of all
// parts count, since the server works on them too.
type slice struct {
	sent, done, failed int
	tokens             float64
	busy               float64 // seconds of requests in flight, of those that do not fill the slice
	ttft, tpot         []float32
}

// failureMark is a failed request in the charts over time.
type failureMark struct{ at float64 }

// mostFailures bounds the marks in a chart; more would be a solid line.
const mostFailures = 2000

// mostSlices is about the number of points that a chart's width can show, and
// aSlice the number of requests that a slice should have on average, so that
// its rate is more than noise.
const (
	mostSlices = 240
	leastSlice = 12
	aSlice     = 10
)

// New makes a Run.
func New(o Options) *Run {
	o.End = max(o.End, 1)
	n := min(max(o.Requests/aSlice, leastSlice), mostSlices)
	width := niceWidth(o.End, n)
	count := int((o.End + width - 1) / width)
	g := &Run{opts: o, width: width, slices: make([]slice, count), busy: make([]float64, count+1)}
	g.heat.init(o.End)
	g.timeline.init(o)
	return g
}

// niceWidth is 1, 2 or 5 times a power of ten nanoseconds, so that end has at
// most about n of them.
func niceWidth(end int64, n int) int64 {
	least := max(end/int64(n), 1)
	for power := int64(1); ; power *= 10 {
		for _, m := range [...]int64{1, 2, 5} {
			if m*power >= least {
				return m * power
			}
		}
	}
}

// Add folds one record in, which it does not keep.
func (g *Run) Add(r *record.Record) {
	g.timeline.add(r)
	if r.Sent == record.Absent {
		return
	}
	end := max(r.Done, r.Sent)
	if r.Part == record.Warmup {
		g.warmupEnd = max(g.warmupEnd, end)
	}
	g.at(r.Sent).sent++
	g.flight(r.Sent, end)
	last := g.at(end)
	switch r.Class {
	case "":
		last.done++
	case record.ClassCancelled:
	default:
		last.failed++
		if len(g.failures) < mostFailures {
			g.failures = append(g.failures, failureMark{float64(end) / 1e9})
		}
	}
	g.events(r)
	if r.OK() {
		g.success(r)
	}
}

// success keeps the figures of an answer: by its sending for the charts over
// time, and for the curves when it is a measured one.
func (g *Run) success(r *record.Record) {
	s := g.at(r.Sent)
	keep := func(ns float64, over *[]float32, all *[]float64) {
		if math.IsNaN(ns) || ns < 0 { // record.Absent is negative
			return
		}
		if over != nil {
			*over = append(*over, float32(ns/1e9))
		}
		if r.Part == record.Measured {
			*all = append(*all, ns/1e9)
		}
	}
	keep(float64(r.TTFT()), &s.ttft, &g.ttft)
	keep(r.TPOT(), &s.tpot, &g.tpot)
	keep(float64(r.Latency()), nil, &g.latency)
}

// events spreads the answer's tokens over its token events and counts the gaps
// between them. Where the server does not say how many an event carries, each
// carries the same share of the answer's.
func (g *Run) events(r *record.Record) {
	share := 0.0
	if r.TokenEvents > 0 && r.OutputTokens > 0 {
		share = float64(r.OutputTokens) / float64(r.TokenEvents)
	}
	last := record.Absent
	for _, e := range r.Events {
		if e.Kind&record.KindOutput == 0 {
			continue
		}
		if e.Tokens > 0 {
			g.at(e.At).tokens += float64(e.Tokens)
		} else {
			g.at(e.At).tokens += share
		}
		if last != record.Absent && r.OK() {
			gap := max(e.At-last, 0)
			g.heat.add(e.At, gap)
			if r.Part == record.Measured {
				g.itl.Add(gap)
			}
		}
		last = e.At
	}
	if last == record.Absent && r.OK() && r.OutputTokens > 0 && r.Done != record.Absent { // an answer in one piece
		g.at(r.Done).tokens += float64(r.OutputTokens)
	}
}

func (g *Run) place(at int64) int {
	return int(min(max(at/g.width, 0), int64(len(g.slices)-1)))
}

func (g *Run) at(at int64) *slice { return &g.slices[g.place(at)] }

// flight adds a request in flight from a to b.
func (g *Run) flight(a, b int64) {
	i, j := g.place(a), g.place(b)
	if i == j {
		g.slices[i].busy += float64(b-a) / 1e9
		return
	}
	g.slices[i].busy += float64(int64(i+1)*g.width-a) / 1e9
	g.slices[j].busy += float64(b-int64(j)*g.width) / 1e9
	g.busy[i+1]++
	g.busy[j]--
}

// Curves are the percentiles of one metric, at [figure.Tails].
func (g *Run) Curves() (ttft, tpot, itl, latency figure.Values) {
	return curve(g.ttft), curve(g.tpot), itlCurve(&g.itl), curve(g.latency)
}

func curve(values []float64) figure.Values {
	slices.Sort(values)
	return tails(len(values), func(p float64) float64 { return stats.Percentile(values, p) })
}

func itlCurve(d *stats.Distribution) figure.Values {
	return tails(d.N(), func(p float64) float64 { return d.Percentile(p) / 1e9 })
}

// tails are the percentiles that n values can carry: one in 1/(1-p/100) is
// above it. The slack absorbs rounding.
func tails(n int, at func(float64) float64) figure.Values {
	var out figure.Values
	for _, p := range figure.Tails() {
		v := math.NaN()
		if n > 0 && float64(n)*(1-p/100) >= 1-1e-9 {
			v = at(p)
		}
		out = append(out, v)
	}
	return out
}
