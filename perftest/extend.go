package perftest

import (
	"context"
	"time"

	"github.com/slogate/slogate/internal/load"
)

// extend goes on, part by part, while the run is inconclusive and may.
func (d *driver) extend(ctx context.Context, ran load.Report) load.Report {
	e := d.scenario.Extend
	for n := d.plan.Requests; n < e.Requests && ran.Reason == load.ReasonComplete && ctx.Err() == nil; {
		if e.Duration > 0 && time.Duration(ran.End-ran.Start) >= e.Duration {
			break
		}
		d.client.Settle()
		d.writer.Sync()
		if !d.inconclusive() {
			break
		}
		p := d.plan
		p.Requests = min(n, e.Requests-n)
		n += p.Requests
		d.parts++
		d.offset = ran.Planned * max(1, d.settings.shard.Count)
		d.watch.planned = n * max(1, d.scenario.Repeat)
		ran = joined(ran, d.drive(ctx, &p, nil))
	}
	return ran
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
