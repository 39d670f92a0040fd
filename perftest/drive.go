package perftest

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report"
)

// prepared is a request whose body is encoded, waiting for its turn.
type prepared struct {
	body    []byte
	encoded encoded
	planned int
	tag     string
}

// slowWriter is the queue before the writer from which a reader is told of it:
// the run is not slowed down by it, but takes memory.
const slowWriter = 10_000

// driver sends a run's phases.
type driver struct {
	*run
	collector *collector
	writer    *record.Writer
	put       func(*record.Record) // the writer's, bound once
	ahead     *load.Preparer[prepared]
	slots     []*client.Slot
	warmup    bool         // the phase under way; written between phases only
	index     atomic.Int64 // position in the phase's plan
	inFlight  atomic.Int64
}

// measure drives the load and gives what it measured, whatever ended it. The
// error is one of the set-up that only showed during the run.
func (r *run) measure(ctx context.Context) (*Result, error) {
	d := &driver{run: r, collector: newCollector()}
	writer, err := record.Create(filepath.Join(r.dir, requestsFile), d.collector.add)
	if err != nil {
		return r.result(), fmt.Errorf("results: %w", err)
	}
	d.writer, d.put = writer, writer.Put
	d.ahead = load.Prepare(ctx, max(64, 2*r.plan.Concurrency), d.prepare)
	for range r.plan.Concurrency {
		d.slots = append(d.slots, r.client.NewSlot())
	}
	res := r.result()
	progress := d.startProgress()
	d.ahead.Ready(ctx)
	ran := d.phases(ctx)
	r.client.Settle() // after which nothing is put into the writer any more
	progress.Stop()
	d.ahead.Close()
	writeErr := d.writer.Close()
	d.collector.finish(res, r.plan.Concurrency)
	res.Duration = Value(time.Since(r.epoch).Seconds())
	err = d.ahead.Err()
	if writeErr != nil {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%s is incomplete: %v", requestsFile, writeErr))
	}
	if n := d.writer.Stats().HighWater; n > slowWriter {
		res.Warnings = append(res.Warnings, fmt.Sprintf("up to %d requests waited to be written: the disk of %s is slower than the load", n, shortPath(r.dir)))
	}
	if n := d.ahead.Starved(); n > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("%d requests had to wait for their body: the workload is slower than the load", n))
	}
	if ran.Reason == load.ReasonExhausted && r.plan.Requests > 0 {
		res.Warnings = append(res.Warnings, fmt.Sprintf("the workload ended after %d of %d requests", res.Counts.Sent, r.plan.Requests))
	}
	if res.Ended = ended(ctx, err); res.Ended != endedComplete {
		res.Partial = ran.Reason == load.ReasonStopped || err != nil
	}
	if !res.Partial {
		res.Ended = endedComplete
	}
	return res, joinErrors(err, res.save())
}

// phases runs the warm-up, to its last answer, and then the load.
func (d *driver) phases(ctx context.Context) load.Report {
	if w := d.scenario.Warmup; w.Requests > 0 || w.Duration > 0 {
		d.warmup = true
		ran := load.Closed(ctx, d.epoch, load.Plan{Concurrency: d.plan.Concurrency, Requests: w.Requests, Duration: w.Duration}, grace, d.send)
		if ran.Reason == load.ReasonStopped {
			return ran
		}
		d.warmup = false
		d.index.Store(0)
	}
	return load.Closed(ctx, d.epoch, load.Plan(d.plan), grace, d.send)
}

// send sends one request. It is the hot path: nothing is made here but the
// request itself.
func (d *driver) send(ctx context.Context, slot int, scheduled int64) bool {
	p, ok := d.ahead.Take(ctx)
	if !ok {
		return false
	}
	rec := d.writer.Get()
	rec.Index = int(d.index.Add(1) - 1)
	rec.Warmup, rec.Slot, rec.Tag, rec.Scheduled = d.warmup, slot, p.tag, scheduled
	rec.AskedTokens, rec.IgnoreEOS, rec.PlannedInput = p.encoded.asked, p.encoded.ignoreEOS, p.planned
	d.inFlight.Add(1)
	d.slots[slot].Do(ctx, client.Call{Body: p.body, IgnoreEOS: p.encoded.ignoreEOS, N: p.encoded.choices}, rec, d.put)
	d.inFlight.Add(-1)
	return true
}

// prepare encodes the workload's next request.
func (d *driver) prepare() (prepared, error) {
	req, err := d.source.Next()
	if err == io.EOF {
		return prepared{}, err
	}
	if err != nil {
		return prepared{}, fmt.Errorf("workload: %w", err)
	}
	body, e, err := d.encode(req, d.params)
	if err != nil {
		return prepared{}, fmt.Errorf("workload: %w", err)
	}
	return prepared{body: body, encoded: e, planned: req.PlannedInput, tag: req.Tag}, nil
}

// startProgress shows the run while it goes on.
func (d *driver) startProgress() *report.Progress {
	var log io.Writer
	if testing.Testing() && testing.Verbose() {
		log = os.Stdout
	}
	started := time.Now()
	return report.StartProgress(func() report.Live {
		t := d.collector.totals()
		l := report.Live{
			Scenario: d.scenario.Name, Simulated: d.scenario.Target.Simulated,
			Done: t.done, Asked: d.plan.Requests, InFlight: int(d.inFlight.Load()), Failed: t.failed,
			Elapsed: time.Since(started), Limit: d.plan.Duration,
		}
		if window := float64(t.lastDone-t.firstSent) / 1e9; t.done > 0 && window > 0 {
			l.RequestRate = float64(t.done-t.failed-t.cancelled) / window
			l.OutputRate = float64(t.output) / window
		}
		if t.withTTFT > 0 {
			l.TTFT = t.ttft / float64(t.withTTFT) / 1e9
		}
		if t.withTPOT > 0 {
			l.TPOT = t.tpot / float64(t.withTPOT) / 1e9
		}
		return l
	}, log)
}
