package gather

import (
	"cmp"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report/figure"
)

// timeline keeps one in every so many requests, and of those between the
// failures, as long as there is room for them.
type timeline struct {
	room   int // for failures between
	every  int
	seen   int
	tick   int64 // nanoseconds
	bars   []figure.Bar
	class  map[string]uint8
	names  []string
	passed int // requests that are left out
}

func (t *timeline) init(o Options) {
	t.class = map[string]uint8{}
	// Half of a column's range, so that no sum of two columns overflows it.
	t.tick = max(1000, o.End/(math.MaxUint32/2)+1)
	if o.Bars < 1 {
		t.every = math.MaxInt
		return
	}
	t.every, t.room = 1, 0
	if o.Requests > o.Bars {
		t.room = o.Bars / 10
		t.every = (o.Requests + o.Bars - t.room - 1) / (o.Bars - t.room)
	}
}

func (t *timeline) add(r *record.Record) {
	if r.Sent == record.Absent || t.every == math.MaxInt {
		return
	}
	failed := !r.OK() && r.Class != record.ClassCancelled
	keep := t.seen%t.every == 0
	t.seen++
	if !keep && failed && t.room > 0 {
		keep = true
		t.room--
	}
	if !keep {
		t.passed++
		return
	}
	start := r.Scheduled
	if start == record.Absent || start > r.Sent {
		start = r.Sent
	}
	b := figure.Bar{
		Start: t.ticks(start), Queue: t.ticks(r.Sent - start), First: figure.NoToken, Length: t.ticks(max(r.Done-r.Sent, 0)),
		Tokens: uint32(min(max(r.OutputTokens, 0), math.MaxUint32)), Index: uint32(r.Index), Part: uint8(r.Part),
	}
	if r.FirstToken != record.Absent {
		b.First = t.ticks(max(r.FirstToken-r.Sent, 0))
	}
	if r.Class != "" {
		b.Class = t.classOf(r.Class)
	}
	t.bars = append(t.bars, b)
}

func (t *timeline) ticks(ns int64) uint32 {
	return uint32(min(max(ns+t.tick/2, 0)/t.tick, math.MaxUint32-1))
}

// classOf numbers the failure classes from 1; the project has ten, and a bar
// has room for 63.
func (t *timeline) classOf(name string) uint8 {
	n, ok := t.class[name]
	if !ok && len(t.names) < 63 {
		t.names = append(t.names, name)
		n = uint8(len(t.names))
		t.class[name] = n
	}
	return n
}

// Timeline gives a bar a request, and how many requests have none.
func (g *Run) Timeline() (_ figure.Timeline, leftOut int) {
	t := &g.timeline
	slices.SortStableFunc(t.bars, func(a, b figure.Bar) int { return cmp.Compare(a.Start, b.Start) })
	return figure.Timeline{Tick: float64(t.tick) / 1e9, Classes: t.names, Parts: partNames(), Bars: t.bars}, t.passed
}

func partNames() (names []string) {
	for p := record.Measured; p <= record.Padding; p++ {
		names = append(names, p.String())
	}
	return names
}
