package perftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/report"
)

// endedLost is how the run of several shards ended that lost one of them.
const endedLost = "lost shard"

// partsDir is the folder below the result's in which shard 0 has the parts; it
// stays where one was lost.
const partsDir = "shards"

// lostShard is the cause of that end.
type lostShard struct{ error }

// Unwrap gives what the meeting said.
func (l lostShard) Unwrap() error { return l.error }

// lost says which shard a run has lost, which never comes again: what has not
// started then does not start any more.
var lost atomic.Pointer[string]

// noteLost keeps that a shard was lost.
func noteLost(name, why string) {
	text := report.Escape(name) + ": " + why
	lost.CompareAndSwap(nil, &text)
}

// meetings counts the runs of this process for which shards meet, and meetsNow
// is set during one.
var (
	meetings atomic.Int64
	meetsNow atomic.Bool
)

// countMeeting gives a run in which shards meet its number. All shards count
// alike whatever becomes of a run, so that they meet for the next one.
func (r *run) countMeeting() (over func(), err error) {
	if !r.settings.rendezvous {
		return func() {}, nil
	}
	if !meetsNow.CompareAndSwap(false, true) {
		return nil, errors.New("another scenario is running in this process: with PERFTEST_RENDEZVOUS leave out t.Parallel, since shards meet for one at a time")
	}
	r.number = int(meetings.Add(1))
	return func() { meetsNow.Store(false) }, nil
}

// findPlace says which shard this process is, where shards are to meet.
func (r *run) findPlace() error {
	if !r.settings.rendezvous {
		if r.settings.shards != "" && r.settings.shardText == "" {
			return badField("PERFTEST_RENDEZVOUS", fmt.Sprintf("empty with PERFTEST_SHARDS %q", r.settings.shards), "set it to host:port of shard 0, or each shard sends all of the load")
		}
		if r.settings.token {
			return badField("PERFTEST_RENDEZVOUS", "empty with PERFTEST_TOKEN set", "set it to host:port of shard 0, or unset PERFTEST_TOKEN: without it shards do not meet, and each judges what it sends")
		}
		return nil
	}
	job := meet.Linked()
	if job == nil {
		return badField("PERFTEST_RENDEZVOUS", "set", `this test cannot meet other shards: add import _ "github.com/slogate/slogate/perftest/cluster" to its package`)
	}
	place, err := job.Place(r.settings.shardText)
	if err != nil {
		return err
	}
	r.place = place
	if n := r.plan.slots(); r.from.probe && n > 0 && n < place.Count {
		place.Count = n
		if r.looksOn = place.Index >= n; r.looksOn {
			place.Index = 0 // whose checks hold for it too
		}
	}
	r.settings.shardText = fmt.Sprintf("%d/%d", place.Index, place.Count)
	return nil
}

// lookOn is measure of a shard for which a step of a search has no slot: it is
// there with the others, and sends nothing.
func (r *run) lookOn(ctx context.Context) (*Result, error) {
	for _, phase := range []string{phaseConnections, phaseLoad} {
		if _, err := r.begin(ctx, phase); err != nil {
			break // the end says why
		}
	}
	res := r.result()
	res.Counts.Planned = 0
	newCollector().finish(res, 0)
	if ctx.Err() != nil {
		res.Partial, res.Ended = true, ended(ctx, nil)
	}
	return res, res.save()
}

// What all shards begin together.
const (
	phaseRun         = "run"
	phaseConnections = "connections"
	phaseLoad        = "load"
)

// join meets the other shards: shard 0 waits for none yet.
func (r *run) join(ctx context.Context) (err error) {
	if !r.settings.rendezvous {
		return nil
	}
	r.whole = r.dir
	fingerprint, err := r.sameInAll()
	if err != nil {
		return err
	}
	r.meeting, err = meet.Linked().Meet(ctx, meet.Run{
		Place: r.place, Number: r.number, Test: r.test, Version: environment().Version,
		Fingerprint: fingerprint, Epoch: r.epoch, Nonce: r.nonce, Dir: r.dir, Grace: r.grace,
		Waiting: func(text string) { r.logf("%s", report.Escape(text)) },
	})
	if err != nil {
		return err
	}
	r.nonce = r.meeting.Nonce()
	r.watching = make(chan struct{})
	go func() {
		defer close(r.watching)
		select {
		case <-r.meeting.Ended():
			r.giveUp(r.meeting.Why())
		case <-ctx.Done():
		}
	}()
	if r.place.Index > 0 {
		r.scenario.ServerMetrics = nil // shard 0 asks for them
		return nil
	}
	r.dir = filepath.Join(r.whole, partsDir, "0")
	return os.MkdirAll(r.dir, 0o755)
}

// giveUp ends the run for a reason that the meeting gives.
func (r *run) giveUp(why error) {
	var stopped meet.Stopped
	if !errors.As(why, &stopped) {
		why = lostShard{why}
	}
	r.cancel(why)
}

// sameInAll is what has to be the same in all shards, as JSON.
func (r *run) sameInAll() ([]byte, error) {
	res := r.result()
	f, err := res.Fingerprint()
	if err != nil {
		return nil, err
	}
	f.Host, f.Slogate = FingerprintHost{}, "" // which machine it is does not matter, and the version has a check of its own
	s := res.Scenario
	s.Nonce, s.Load.ShardIndex = 0, 0
	s.Workload = nil // the fingerprint has it, with the hashes of files in place of folders
	return json.Marshal(map[string]any{"name": res.Name, "package": res.Package, "fingerprint": f, "scenario": s})
}

// begin waits until all shards are ready for a phase, and begins it with them, at
// an instant in nanoseconds after the epoch; 0 where they do not meet.
func (r *run) begin(ctx context.Context, phase string) (instant int64, err error) {
	if r.meeting == nil {
		return 0, nil
	}
	at, err := r.meeting.Begin(ctx, phase)
	if err != nil && ctx.Err() == nil {
		r.giveUp(err)
	}
	return int64(at.Sub(r.epoch)), err
}

// root is the meeting of shard 0; nil in any other process.
func (r *run) root() meet.Root {
	root, _ := r.meeting.(meet.Root)
	return root
}

// member is the meeting of another shard; nil in any other process.
func (r *run) member() meet.Member {
	member, _ := r.meeting.(meet.Member)
	return member
}

// reported is the part of the load whose figures this process shows: that of
// all shards in shard 0.
func (r *run) reported() load.Shard {
	if r.root() != nil {
		return load.Shard{}
	}
	return r.settings.shard
}

// leave ends the meeting. The others are told why where it was not over.
func (r *run) leave(why string) {
	if r.meeting == nil {
		return
	}
	r.cancel(nil)
	<-r.watching
	r.meeting.Close(why)
}
