package perftest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/meet"
)

// extend goes on, part by part, while the run is inconclusive and may. Where
// shards meet, shard 0 decides, and all begin each part together.
func (d *driver) extend(ctx context.Context, ran load.Report) load.Report {
	for d.extent = d.plan.Requests; d.extent < d.scenario.Extend.Requests; {
		more := d.more(ctx, ran)
		if more == 0 {
			break
		}
		p := d.plan
		p.Requests = more
		d.parts++
		d.first, d.extent = d.extent, d.extent+more
		d.plans(d.extent * max(1, d.scenario.Repeat))
		var err error
		if d.instant, err = d.begin(ctx, fmt.Sprintf("part %d of the load", d.parts+1)); err != nil {
			ran.Reason = load.ReasonStopped
			break
		}
		ran = joined(ran, d.drive(ctx, &p, nil))
	}
	return ran
}

// more is by how many requests of all shards the run goes on; 0 ends it.
func (d *driver) more(ctx context.Context, ran load.Report) (requests int) {
	root, e := d.root(), d.scenario.Extend
	if root != nil {
		defer func() { root.Resume(requests) }()
	}
	if ran.Reason != load.ReasonComplete || ctx.Err() != nil {
		return 0
	}
	m := d.member()
	if m == nil && e.Duration > 0 && time.Duration(ran.End-ran.Start) >= e.Duration {
		return 0
	}
	d.client.Settle()
	d.writer.Sync()
	so := d.soFar(ran)
	open := false
	switch {
	case m != nil:
		data, err := json.Marshal(so)
		if err == nil {
			requests, err = m.Pause(ctx, meet.Delivery{Result: data, Taken: int(d.next.Load())})
		}
		if err != nil {
			return 0 // the run ends, which says why
		}
		return requests
	case root != nil:
		parts, all := root.Pause(ctx)
		if !all {
			return 0
		}
		open = d.allOpen(so, parts)
	default:
		open = so.open()
	}
	if !open {
		return 0
	}
	return min(d.extent, e.Requests-d.extent)
}

// plans tells those who watch for a loss how many requests are planned.
func (d *driver) plans(n int) {
	d.watch.planned = n
	d.all.plans(n)
}

// soFar is what the run has measured until the end of a part. All records have
// been folded in.
func (d *driver) soFar(ran load.Report) *Result {
	res := d.result()
	res.Counts.Planned, res.Counts.Dropped, res.Counts.Unsent = ran.Planned, ran.Dropped, ran.Unsent
	d.collector.finish(res, d.run.slots())
	// The client is judged by the same limits as at the end.
	h := &res.Health
	h.Limits, h.OnlyWarns = d.scenario.ClientLimits, d.settings.warnsOfBottleneck()
	h.Thinks = d.plan.Think.Time > 0 || res.Counts.Conversations > 0
	return res
}

// open reports whether the evidence so far leaves objectives open and refutes
// none.
func (r *Result) open() bool {
	open := false
	for _, v := range r.Judge(r.Scenario.SLOs...) {
		switch v.Outcome {
		case Fail, Invalid:
			return false
		case Inconclusive:
			open = true
		}
	}
	return open
}

// lookDir is the folder, among those of the parts, in which they are merged to be
// looked at.
const lookDir = "look"

// allOpen is open of all shards together, which are merged as at the end.
func (d *driver) allOpen(own *Result, parts []meet.Part) bool {
	dir := filepath.Join(d.whole, partsDir, lookDir)
	defer os.RemoveAll(dir)
	res, err := d.mergeParts(own, parts, dir)
	if err != nil {
		d.broken(fmt.Errorf("what all shards have measured so far cannot be judged: %w", err))
		return false
	}
	return res.open()
}

// joined is the report of two parts of one load, one after the other.
func joined(a, b load.Report) load.Report {
	out := b
	out.Start = a.Start
	out.Planned += a.Planned
	out.Offered += a.Offered
	out.Started += a.Started
	out.Dropped += a.Dropped
	out.Unsent += a.Unsent
	out.Abandoned += a.Abandoned
	out.Drained += a.Drained
	out.Starting += a.Starting
	out.Padded += a.Padded
	out.Slots = max(a.Slots, b.Slots)
	out.GaveUp = a.GaveUp || b.GaveUp
	out.Wake, out.Late, out.Waited = later(a.Wake, b.Wake), later(a.Late, b.Late), later(a.Waited, b.Waited)
	mean := func(x, y float64) float64 {
		if n := float64(a.Started + b.Started); n > 0 {
			return (x*float64(a.Started) + y*float64(b.Started)) / n
		}
		return y
	}
	out.Concurrency, out.AskedConcurrency = mean(a.Concurrency, b.Concurrency), mean(a.AskedConcurrency, b.AskedConcurrency)
	out.Rate, out.AskedRate = mean(a.Rate, b.Rate), mean(a.AskedRate, b.AskedRate)
	return out
}

// later joins two lags to the worse of each figure.
func later(a, b load.Lag) load.Lag {
	return load.Lag{Count: a.Count + b.Count, Mean: max(a.Mean, b.Mean), P50: max(a.P50, b.P50), P99: max(a.P99, b.P99), Max: max(a.Max, b.Max)}
}
