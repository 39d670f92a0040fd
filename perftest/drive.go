package perftest

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/health"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
)

// slowWriter is the queue before the writer from which a reader is told of it:
// the run is not slowed down by it, but takes memory.
const slowWriter = 10_000

// driver sends a run's phases.
type driver struct {
	*run
	stop      context.Context // done: no more starts
	collector *collector
	observers feeds
	writer    *record.Writer
	put       func(*record.Record) // the writer's, bound once
	ahead     *load.Preparer[*prepared]
	peeked    chan *prepared // of ahead, the first ones of a trace; nil without one
	peeks     int            // of them, those that were waited for
	slots     slots
	warmup    atomic.Bool  // the phase under way
	began     atomic.Int64 // when the phase began, nanoseconds after the epoch
	loaded    atomic.Int64 // when the load began, after the warm-up, in the same way
	instant   int64        // at which all shards begin the load, in the same way; 0 where they do not meet
	next      atomic.Int64 // position of the request that is prepared next
	inFlight  atomic.Int64
	canary    *canary               // nil without one
	places    chan struct{}         // of turns in flight; nil without a limit
	cut       atomic.Bool           // a conversation was, when the run was stopped
	turnErr   atomic.Pointer[error] // of a later turn of a conversation
	watch     watch                 // of the objectives; the writing goroutine's own, and of no use where shards meet
	parts     int                   // of an extended run that went before the one under way
	first     int                   // position of its first request, in the whole load
}

// measure drives the load and gives what it measured, whatever ended it. The
// error is one of the set-up that only showed during the run.
func (r *run) measure(ctx context.Context) (*Result, error) {
	if r.looksOn {
		return r.lookOn(ctx)
	}
	ctx, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	d := &driver{run: r, stop: ctx, collector: newCollector(), slots: slots{client: r.client}}
	d.collector.tokens.tokenizer = r.scenario.Tokenizer
	d.collector.whole = r.api == Embeddings || r.api == Rerank
	d.watch = watch{slos: r.scenario.SLOs, planned: r.plan.Requests * max(1, r.scenario.Repeat), looks: r.scenario.looks(r.plan), lost: func() { lose(errMustFail) }}
	if root := r.root(); root != nil {
		d.watch.lost = func() { r.cancel(errMustFail) } // shards may still send when this one has ended
		defer context.AfterFunc(ctx, func() { root.Stop(ended(ctx, nil)) })()
	}
	writer, err := record.Create(filepath.Join(r.dir, requestsFile), d.fold)
	if err != nil {
		return r.result(), fmt.Errorf("results: %w", err)
	}
	d.writer, d.put = writer, writer.Put
	if m := r.member(); m != nil {
		m.Follow(filepath.Join(r.dir, requestsFile))
		m.Show(d.sums)
	}
	if n := r.scenario.TurnsInFlight; n > 0 {
		d.places = make(chan struct{}, n)
	}
	depth := max(64, 2*r.slots())
	if n := r.settings.shard.Requests(r.asks()); n > 0 {
		depth = min(depth, n)
	}
	burst := min(depth, max(r.slots(), r.warmupConnections(), 1))
	d.ahead = load.Prepare(ctx, depth, burst, d.prepare)
	d.slots.get(burst - 1)
	res := r.result()
	progress := d.startProgress()
	d.observers = observe(r.watchers(), d.snapshots(res))
	d.ahead.Ready(ctx)
	var ran load.Report
	var readings health.Readings
	timeless := d.peek(ctx)
	if timeless == nil {
		ran, readings = d.phases(ctx)
	}
	if d.canary != nil {
		res.Health.CanaryLag, res.Health.CanaryTTFT, res.Health.Canaries = d.canary.readings()
	}
	d.stopScraper(res)
	r.client.Settle() // after which nothing is put into the writer any more
	progress.Stop()
	if !d.ahead.CloseWithin(r.grace) {
		res.Warnings = append(res.Warnings, "the workload did not give its next request when the run had ended: it was left alone")
		r.source = nil // which is busy, and cannot be closed
	}
	res.taken = int(d.next.Load())
	writeErr := d.writer.Close()
	r.lost, r.torn = d.watch.why, writeErr
	res.Counts.Dropped, res.Counts.Unsent = ran.Dropped, ran.Unsent
	res.Counts.Planned = max(res.Counts.Planned, ran.Planned)
	d.collector.finish(res, r.slots())
	res.Duration = Value(time.Since(r.epoch).Seconds())
	d.stopObservers(res)
	if err = cmp.Or(timeless, d.ahead.Err()); err == nil {
		if turn := d.turnErr.Load(); turn != nil {
			err = *turn
		}
	}
	res.Environment.Clock = r.client.Clock()
	if res.Health.OutOfFiles = r.client.OutOfFiles(); res.Health.OutOfFiles > 0 {
		res.Health.FileLimit = health.FileLimit()
	}
	res.Health.Thinks = r.plan.Think.Time > 0 || res.Counts.Conversations > 0
	res.setHealth(ran, r.client.ReadLag(), readings, r.scenario.ClientLimits, r.settings.warnsOfBottleneck())
	d.findings(res, ran, writeErr)
	if res.Ended = ended(ctx, err); res.Ended != endedComplete {
		res.Partial = ran.Reason == load.ReasonStopped || err != nil || d.cut.Load()
	}
	if !res.Partial {
		res.Ended = endedComplete
	}
	return res, joinErrors(err, res.save())
}

// fold takes a finished request in, in the goroutine that writes them.
func (d *driver) fold(rec *record.Record) {
	d.collector.add(rec)
	if d.meeting == nil {
		d.watch.look(d.collector)
	}
	d.observers.put(rec)
}

// findings adds what a reader has to know of how the run went.
func (d *driver) findings(res *Result, ran load.Report, writeErr error) {
	say := func(yes bool, format string, args ...any) {
		if yes {
			res.Warnings = append(res.Warnings, fmt.Sprintf(format, args...))
		}
	}
	waiting, starved := d.writer.Stats().HighWater, d.ahead.Starved()-d.peeks
	say(writeErr != nil, "%s is incomplete: %v", requestsFile, writeErr)
	say(waiting > slowWriter, "up to %d requests waited to be written: the disk of %s, or the Tokenizer, is slower than the load", waiting, d.dir)
	say(starved > 0, "%d requests had to wait for their body: the workload is slower than the load", starved)
	if ran.Reason == load.ReasonExhausted {
		say(ran.Started < res.Counts.Planned, "the workload ended after %d of %d requests", ran.Started, res.Counts.Planned)
		say(res.Counts.Planned == 0 && d.plan.length() > 0, "the workload ended after %d requests, before the load's %v had passed", ran.Started, d.plan.length())
	}
	say(d.plan.Requests > 0 && d.plan.Requests < d.plan.slots(), "%d requests are fewer than the %d slots: the asked concurrency was never reached", d.plan.Requests, d.plan.slots())
	say(ran.Dropped > 0, "%d of %d requests were dropped, because %d were in flight already", ran.Dropped, ran.Offered, d.plan.InFlight)
	say(ran.Unsent > 0, "%d of %d requests still waited to be sent at the end", ran.Unsent, ran.Offered)
}

// phases runs the warm-up, to its last answer, and then the load.
// The client's health is that of the load alone.
func (d *driver) phases(ctx context.Context) (load.Report, health.Readings) {
	warmedUp := false
	if w := d.scenario.Warmup; w.Requests > 0 || w.Duration > 0 {
		d.warmup.Store(true)
		p := Plan{Concurrency: d.warmupSlots(), Requests: w.Requests, Duration: w.Duration, KeepEnds: true}
		if ran := d.drive(ctx, &p, nil); ran.Reason == load.ReasonStopped {
			return ran, health.Readings{}
		}
		d.warmup.Store(false)
		warmedUp = true
	}
	if _, err := d.begin(ctx, phaseConnections); err != nil {
		return load.Report{Reason: load.ReasonStopped}, health.Readings{}
	}
	if d.scraper != nil {
		d.scraper.start(ctx, filepath.Join(d.dir, serverFile))
	}
	defer d.dialAhead(ctx)()
	if d.scenario.Canary && !d.bubble {
		var err error
		if d.canary, err = startCanary(); err != nil {
			d.broken(err)
			return load.Report{Reason: load.ReasonStopped}, health.Readings{}
		}
	}
	var err error
	if d.instant, err = d.begin(ctx, phaseLoad); err != nil {
		return load.Report{Reason: load.ReasonStopped}, health.Readings{}
	}
	d.watchShards()
	d.client.ResetReadLag()
	watch := health.Start(d.watching())
	d.loaded.Store(int64(time.Since(d.epoch)))
	ran := d.drive(ctx, &d.plan, d.trace(warmedUp))
	ran = d.extend(ctx, ran)
	return ran, watch.Stop()
}

// watching says how the machine is watched: in a bubble without a clock that
// ticks, which would keep the bubble's time going for ever.
func (d *driver) watching() health.Options {
	if d.bubble {
		return health.Options{Tick: -1}
	}
	return health.Options{}
}

// drive runs one plan.
func (d *driver) drive(ctx context.Context, p *Plan, read func() (time.Duration, any, bool)) load.Report {
	d.began.Store(int64(time.Since(d.epoch)))
	return p.loop(d.scenario.Seed+d.from.repeat+uint64(d.parts)<<32, d.settings.shard, d.first, d.instant, d.grace, read).Run(ctx, d.epoch, d.send)
}

// send sends one request. It is the hot path: nothing is made here but the
// request itself.
func (d *driver) send(ctx context.Context, t *load.Turn) bool {
	p, ok := t.Item.(*prepared)
	if !ok {
		if p, ok = d.take(t.Wait); !ok {
			return false
		}
	}
	return d.converse(ctx, t, p)
}

// exchange is one request and its answer.
func (d *driver) exchange(ctx context.Context, slot *client.Slot, t *load.Turn, turn start, p *prepared) {
	rec := d.writer.Get()
	rec.Index, rec.Part, rec.Slot, rec.Tag, rec.Scheduled, rec.Ready = t.Index, d.part(t), t.Slot, p.tag, turn.scheduled, turn.ready
	if p.then != nil || turn.turn > 1 {
		rec.Turn = turn.turn
	}
	rec.AskedTokens, rec.IgnoreEOS, rec.PlannedInput, rec.Row, rec.Items, rec.Choices = p.encoded.asked, p.encoded.ignoreEOS, p.planned, p.row, p.items, p.encoded.choices
	rec.Prompt, rec.PromptIDs = p.encoded.prompt, p.encoded.promptIDs
	d.inFlight.Add(1)
	slot.Do(ctx, client.Call{
		Body: p.body, IgnoreEOS: p.encoded.ignoreEOS, N: p.encoded.choices, Prompts: p.encoded.prompts, FirstToken: d.firstToken(t), KeepAnswer: p.then != nil,
	}, rec, d.put)
	d.inFlight.Add(-1)
}

// part is that of a run that a turn belongs to.
func (d *driver) part(t *load.Turn) record.Part {
	switch {
	case d.warmup.Load():
		return record.Warmup
	case t.Part == load.Starting:
		return record.Start
	case t.Part == load.Padding:
		return record.Padding
	}
	return record.Measured
}

// firstToken tells the load of a request's first token, where the load bounds
// those that wait for theirs.
func (d *driver) firstToken(t *load.Turn) func() {
	if d.plan.PrefillConcurrency == 0 || d.warmup.Load() {
		return nil
	}
	return t.FirstToken
}
