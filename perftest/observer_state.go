package perftest

import (
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/record"
)

// snapshots gives how the run of res stands, whenever it is asked.
func (d *driver) snapshots(res *Result) func() Snapshot {
	run := ObservedRun{
		Name: validText(res.Name), Test: validText(res.Test), Package: res.Package, Simulated: res.Simulated,
		Started: res.Started, Target: res.Target, Load: res.Scenario.Load,
	}
	run.Target.Model = validText(run.Target.Model)
	return func() Snapshot {
		return Snapshot{Run: run, At: Value(time.Since(d.epoch).Seconds()), Live: d.live()}
	}
}

// validText is s for what takes UTF-8 alone, as the labels of a metric.
func validText(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// watchers are the scenario's observers, and the live page.
func (r *run) watchers() []Observer {
	if r.live == nil {
		return r.scenario.Observers
	}
	return append(slices.Clone(r.scenario.Observers), r.live)
}

// stopObservers ends them with the run, and says in res what they missed.
func (d *driver) stopObservers(res *Result) {
	warnings, stacks := d.observers.stop(d.grace)
	res.Warnings = append(res.Warnings, warnings...)
	for _, stack := range stacks {
		d.logf("an observer's panic:\n%s", stack)
	}
}

// sums are the totals of this process so far.
func (d *driver) sums() meet.Live {
	t := d.collector.totals()
	return meet.Live{
		Warmup: d.warmup.Load(), InFlight: int(d.inFlight.Load()), Done: t.done, Failed: t.failed, Cancelled: t.cancelled,
		WarmupDone: t.warmupDone, WarmupFailed: t.warmupFailed, Output: t.output, Window: max(0, t.lastDone-t.firstSent),
		TTFT: t.ttft, WithTTFT: t.withTTFT, TPOT: t.tpot, WithTPOT: t.withTPOT,
	}
}

// live is the run's figures so far, of all shards where this is the one that
// they meet at.
func (d *driver) live() Live {
	t, shard := d.sums(), d.reported()
	if root := d.root(); root != nil {
		t = t.Plus(root.Others())
	}
	l := Live{
		Elapsed: Value((time.Since(d.epoch) - time.Duration(d.began.Load())).Seconds()), InFlight: t.InFlight,
		Requests: Absent, Output: Absent, TTFT: Absent, TPOT: Absent,
	}
	if l.Warmup = t.Done == 0 && d.warmup.Load(); l.Warmup {
		w := d.scenario.Warmup
		l.Asked, l.Limit = shard.Requests(w.Requests), limit(w.Duration)
		l.Done, l.Failed, l.Succeeded = t.WarmupDone, t.WarmupFailed, t.WarmupDone-t.WarmupFailed
		return l
	}
	l.Asked, l.Limit = shard.Requests(d.plan.Requests), limit(d.plan.Duration)
	l.Done, l.Failed, l.Cancelled, l.Succeeded = t.Done, t.Failed, t.Cancelled, t.Done-t.Failed-t.Cancelled
	if window := Value(t.Window) / 1e9; t.Done > 0 && window > 0 {
		l.Requests, l.Output = per(Value(l.Succeeded), window), per(Value(t.Output), window)
	}
	if t.WithTTFT > 0 {
		l.TTFT = Value(t.TTFT / float64(t.WithTTFT) / 1e9)
	}
	if t.WithTPOT > 0 {
		l.TPOT = Value(t.TPOT / float64(t.WithTPOT) / 1e9)
	}
	return l
}

// limit is d as a bound in seconds, absent where there is none.
func limit(d time.Duration) Value {
	if d > 0 {
		return Value(d.Seconds())
	}
	return Absent
}

// finished is what observers get of a record.
func finished(r *record.Record) FinishedRequest {
	return FinishedRequest{
		Index: r.Index, Part: r.Part.String(), Slot: r.Slot, Row: r.Row, Tag: validText(r.Tag), Turn: r.Turn, Items: r.Items,
		Scheduled: seconds(r.Scheduled), Sent: seconds(r.Sent), FirstToken: seconds(r.FirstToken),
		LastToken: seconds(r.LastToken), Done: seconds(r.Done),
		TTFT: seconds(r.TTFT()), TTFA: seconds(r.TTFA()), TTST: seconds(r.TTST()), TPOT: Value(r.TPOT() / 1e9),
		MaxITL: seconds(r.MaxGap), Latency: seconds(r.Latency()), Response: seconds(r.Response()), Queue: seconds(r.Queue()),
		InputTokens: count(r.InputTokens), OutputTokens: count(r.OutputTokens),
		CachedTokens: count(r.CachedTokens), ReasoningTokens: count(r.ReasoningTokens), TokenEvents: r.TokenEvents,
		Class: r.Class, Phase: r.Phase, Status: r.Status, Message: r.Message,
	}
}
