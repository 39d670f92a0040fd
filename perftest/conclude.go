package perftest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/report"
)

// conclude makes one result of all shards': shard 0 merges, and the others get
// what it has made. runErr is what measure has ended with.
func (r *run) conclude(ctx context.Context, t testing.TB, res *Result, runErr error) (*Result, error) {
	t.Helper()
	var err error
	own := res
	switch {
	case r.root() != nil:
		res, err = r.gather(ctx, own, runErr)
	case r.member() != nil:
		res, err = r.deliver(t, own, runErr)
	default:
		return res, runErr
	}
	// Where nothing was merged the others hear that a shard is gone, or go on.
	told := r.root() == nil || res != own || errors.As(r.meeting.Why(), new(meet.Gone))
	if res.Ended == endedLost && told {
		why := res.endedHow()
		if err != nil {
			why = err.Error()
		}
		noteLost(res.Name, why)
	}
	return res, err
}

// deliver hands this shard's part over to shard 0.
func (r *run) deliver(t testing.TB, own *Result, runErr error) (*Result, error) {
	t.Helper()
	name := fmt.Sprintf("shard %d of %d", r.place.Index, r.place.Count)
	data, err := json.Marshal(own)
	if err != nil {
		return own, err
	}
	d := meet.Delivery{Result: data, Taken: own.taken}
	var stopped meet.Stopped
	switch byRoot := errors.As(r.meeting.Why(), &stopped); {
	case runErr != nil || r.torn != nil:
		d.Problem = joinErrors(r.torn, runErr).Error()
	case own.Ended != endedComplete && !byRoot:
		d.Problem = fmt.Sprintf("it was stopped (%s) after %d requests", own.Ended, own.begun())
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	defer stop()
	if end, ok := deadlineOf(t); ok {
		ctx, stop = context.WithDeadlineCause(ctx, end.Add(-time.Second), errors.New("the test's deadline came before shard 0's result: raise go test's -timeout"))
		defer stop()
	}
	merged, err := r.member().Deliver(ctx, d)
	if err != nil {
		own.elsewhere = "not known: " + report.Escape(err.Error())
		if own.Partial, own.Ended = true, endedError; errors.As(err, new(meet.Gone)) {
			own.Ended = endedLost
		}
		return own, joinErrors(fmt.Errorf("INVALID: %s: %s; its own requests are in %s", name, report.Escape(err.Error()), own.Dir), own.save())
	}
	res, err := decodeResult(merged.Result)
	if err != nil {
		return own, fmt.Errorf("%s: shard 0's result: %w", name, err)
	}
	res.elsewhere, res.taken, res.over, res.then = merged.Where, merged.Taken, merged.Over, merged.Then
	if d.Problem == "" {
		for _, name := range []string{requestsFile, resultFile} { // shard 0 has all of it
			_ = os.Remove(filepath.Join(r.dir, name))
		}
	}
	if res.Ended == endedInterrupted {
		interrupted.Store(true)
	}
	if merged.Left != "" {
		noteLost(res.Name, report.Escape(merged.Left))
	}
	far := ""
	if d.Problem != "" {
		far = " as far as they came (" + report.Escape(d.Problem) + ")"
	}
	t.Logf("%s: %s sent %d requests, which are part of shard 0's result%s: the verdict is %s", report.Escape(res.Name), name, own.Counts.Sent, far, report.Escape(merged.Where))
	t.Attr("perftest.verdict", report.Escape(merged.Where)) // JUnit has this test as passed
	return res, nil
}

// gather merges the parts of all shards, as shard 0.
func (r *run) gather(ctx context.Context, own *Result, runErr error) (*Result, error) {
	root := r.root()
	defer context.AfterFunc(ctx, func() { root.Stop(ended(ctx, nil)) })()
	if runErr != nil {
		root.Stop(endedError)
	}
	parts := root.Collect()
	r.lost = r.all.close()
	if why := root.Why(); why != nil {
		r.lost = report.Escape(why.Error())
	}
	if r.torn != nil {
		r.lost = cmp.Or(r.lost, "shard 0: "+r.torn.Error())
	}
	res, err := r.mergeParts(own, parts, r.whole)
	if err != nil {
		_ = os.Remove(filepath.Join(r.whole, requestsFile)) // a part of it, which looks like all
		return own, joinErrors(runErr, fmt.Errorf("INVALID: %w: what came of each shard is in %s", err, filepath.Join(r.whole, partsDir)))
	}
	res.taken = own.taken
	for _, p := range parts {
		res.taken = max(res.taken, p.Taken)
	}
	data, err := json.Marshal(res)
	if err != nil {
		return res, err
	}
	m := meet.Merged{Result: data, Where: fmt.Sprintf("shard 0's, in %s", res.Dir), Taken: res.taken, Over: res.Counts.Sent == 0 || runErr != nil}
	if m.Left = report.Escape(root.Left()); m.Left != "" {
		noteLost(own.Name, m.Left)
		r.logf("%s: its part had come, and no further run waits for it", m.Left)
	}
	if then := r.from.then; then != nil && !m.Over {
		if m.Then, err = then(res); err != nil {
			return res, err
		}
	}
	root.Announce(m)
	if res.Ended != endedLost {
		_ = os.RemoveAll(filepath.Join(r.whole, partsDir))
	}
	return res, runErr
}

// mergeParts is the result of all parts, written to a folder.
func (r *run) mergeParts(own *Result, parts []meet.Part, dir string) (*Result, error) {
	mine, err := r.ownPart(own)
	if err != nil {
		return nil, err
	}
	shards := Shards{AllowMissing: true}
	var lostParts []string
	parts = append([]meet.Part{mine}, parts...)
	for _, p := range parts {
		if p.Place.Index >= own.Scenario.Load.ShardCount { // it had nothing to send
			if p.Lost != "" {
				lostParts = append(lostParts, fmt.Sprintf("shard %d of %d at %s: %s", p.Place.Index, p.Place.Count, p.From, report.Escape(p.Lost)))
			}
			continue
		}
		res, err := own, error(nil)
		if p.Place.Index > 0 || p.Lost != "" {
			res, err = r.part(own, p)
		}
		if err != nil {
			return nil, err
		}
		if p.Lost != "" {
			at, of := "", ""
			if p.From != "" {
				at = " at " + p.From
			}
			if n := res.Counts.Planned; n > 0 {
				of = fmt.Sprintf(" of its %d", n)
			}
			lostParts = append(lostParts, fmt.Sprintf("shard %d of %d%s: %s: %d%s requests are in the figures", p.Place.Index, p.Place.Count, at, report.Escape(p.Lost), res.Counts.Sent, of))
		}
		shards.Results = append(shards.Results, res)
		shards.ClocksAhead = append(shards.ClocksAhead, p.Offset)
	}
	m, err := shards.merger(dir)
	if err != nil {
		return nil, err
	}
	m.until = r.until
	res := m.res
	res.Dir = dir
	if own.Ended != endedComplete {
		res.Partial, res.Ended = true, own.Ended
	}
	if len(lostParts) > 0 {
		res.Partial, res.Ended = true, endedLost
	}
	for i, p := range parts[:len(res.Shards)] {
		info := &res.Shards[i]
		info.From, info.ClockBound, info.ClockDrift, info.Lost = p.From, Value(p.Bound.Seconds()), Value(p.Drift.Seconds()), report.Escape(p.Lost)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if err := m.merge(); err != nil {
		return nil, err
	}
	if len(lostParts) > 0 {
		r.lost = cmp.Or(r.lost, lostParts[0])
	}
	res.Warnings = append(res.Warnings, lostParts...)
	return res, res.save()
}

// ownPart is that of shard 0, whose disk may have been full: then its result says
// more than its file has.
func (r *run) ownPart(own *Result) (meet.Part, error) {
	p := meet.Part{Place: meet.Place{Count: own.Scenario.Load.ShardCount}, Dir: own.Dir}
	if r.torn == nil {
		return p, touch(filepath.Join(own.Dir, requestsFile))
	}
	p.Lost = r.torn.Error()
	_ = os.Remove(filepath.Join(own.Dir, resultFile))
	var err error
	p.Result, err = json.Marshal(own)
	return p, err
}

// part is another shard's result, made of what came of it where it was lost.
func (r *run) part(own *Result, p meet.Part) (*Result, error) {
	dir := cmp.Or(p.Dir, filepath.Join(r.whole, partsDir, strconv.Itoa(p.Place.Index)))
	if err := touch(filepath.Join(dir, requestsFile)); err != nil {
		return nil, err
	}
	// Its clock, on which its stamps are, is not the wall's alone.
	started := own.Started.Add(p.Epoch + p.Offset)
	var sent *Result
	if p.Result != nil {
		var err error
		if sent, err = decodeResult(p.Result); err != nil {
			return nil, fmt.Errorf("shard %d's result: %w", p.Place.Index, err)
		}
		if p.Lost == "" {
			sent.Dir, sent.Scenario = dir, own.Scenario // which has been compared
			sent.Scenario.Load.ShardIndex = p.Place.Index
			sent.Started = own.Started.Add(p.Epoch) // on shard 0's clock, for who merges the files
			err = sent.save()
			sent.Started = started
			return sent, err
		}
	}
	res, err := ReadResult(dir)
	if err != nil {
		return nil, err
	}
	res.Schema, res.Version, res.Name, res.Test, res.Package, res.Simulated = own.Schema, own.Version, own.Name, own.Test, own.Package, own.Simulated
	res.Partial, res.Ended, res.Started, res.Warnings = true, endedLost, started, []string{}
	res.Target, res.Scenario, res.Health = own.Target, own.Scenario, unknownHealth(own.Health.Limits)
	res.Scenario.Load.ShardIndex = p.Place.Index
	res.Environment = Environment{Version: own.Environment.Version}
	its := r.settings.shard
	its.Index = p.Place.Index
	res.Counts.Planned = its.Requests(max(own.Scenario.Load.Requests, r.extent))
	if sent != nil {
		res.Health, res.Environment, res.Ended = sent.Health, sent.Environment, cmp.Or(sent.Ended, endedLost)
		res.Counts.Planned, res.Counts.Dropped, res.Counts.Unsent = sent.Counts.Planned, sent.Counts.Dropped, sent.Counts.Unsent
	}
	return res, nil
}

// touch makes a file where there is none.
func touch(name string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDONLY, 0o644)
	if err != nil {
		return err
	}
	return f.Close()
}

// unknownHealth is that of a client of which nothing was heard.
func unknownHealth(limits ClientLimits) Health {
	return Health{
		SendLag: noLag, SlotGap: noLag, SlotGapShare: Absent, ReadLag: noLag, AskedConcurrency: Absent, Concurrency: Absent,
		AskedRate: Absent, Rate: Absent, CPUs: Absent, CPU: Absent, MachineCPU: Absent, Steal: Absent, Throttled: Absent, GCPause: Absent,
		RunQueue: noLag, LongestWait: Absent, StallShare: Absent, Watched: Absent, Limits: limits,
	}
}

// Elsewhere says where the verdict on r is, in a process that is a shard of a
// job other than its first (see package perftest/cluster): there r holds the
// figures of all shards, but none of their requests, and every assertion on it
// passes. Everywhere else it is empty.
func (r *Result) Elsewhere() string { return r.elsewhere }
