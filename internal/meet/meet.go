// Package meet is what a run asks of the processes that send one plan together,
// its shards. Package internal/cluster does it; a program that does not link it
// in carries nothing of it but these types.
package meet

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// Job lets the shards of one job meet, once for each run.
type Job interface {
	// Place is which shard of how many this process is. shard is the text of
	// PERFTEST_SHARD, or empty where another variable says it. The error names
	// the variable, its value and the remedy.
	Place(shard string) (Place, error)
	// Meet joins the other shards for a run: shard 0 listens, and gets a [Root]
	// at once; the others get a [Member] when shard 0 has taken them.
	Meet(ctx context.Context, r Run) (Meeting, error)
}

// Place is shard Index, from 0, of Count.
type Place struct{ Index, Count int }

// Run is what a shard brings to a meeting.
type Run struct {
	Place Place
	// Number of the run, from 1, by which the shards know whether they are at
	// the same one. A run that could not be set up counts.
	Number int
	Test   string // the test's own name
	// Version of the module and Fingerprint of the scenario, which have to be
	// the same in all shards.
	Version     string
	Fingerprint []byte // JSON
	// Epoch is the moment from which this shard's stamps count.
	Epoch time.Time
	// Nonce is shard 0's, which all take.
	Nonce uint64
	// Dir is the folder below which shard 0 keeps what the others send, each
	// in a folder of its own.
	Dir string
	// Grace is what shards get, twice, to deliver in once they are stopped.
	Grace time.Duration
	// Waiting, unless nil, is told once when the others are waited for that long
	// that somebody may wonder why nothing happens.
	Waiting func(text string)
}

// Wait tells that others are waited for.
func (r Run) Wait(format string, args ...any) {
	if r.Waiting != nil {
		r.Waiting(fmt.Sprintf(format, args...))
	}
}

// Meeting is one run of all shards.
type Meeting interface {
	// Nonce is shard 0's.
	Nonce() uint64
	// Begin waits until all shards are ready for a phase of the run, and then
	// until the instant at which all begin it, which it gives.
	Begin(ctx context.Context, phase string) (time.Time, error)
	// Ended is closed when the run cannot go on: a shard was lost, or shard 0
	// has stopped all. Why then says so.
	Ended() <-chan struct{}
	Why() error
	// Close leaves the meeting. The others are told why when it is not over.
	Close(why string)
}

// Root is a meeting as shard 0 has it.
type Root interface {
	Meeting
	// Epochs are how long after shard 0's epoch that of each shard is, in their
	// order and as estimated when the load began; 0 for shard 0's own.
	Epochs() []time.Duration
	// Others are the live figures of the other shards together.
	Others() Live
	// Stop lets all shards end their load. Why is one word, such as
	// "interrupted".
	Stop(why string)
	// Pause waits until each other shard has come to the end of what the plan says
	// so far, and gives their parts until there; false where that cannot be: the
	// run has ended, or one of them has.
	Pause(ctx context.Context) ([]Part, bool)
	// Resume answers all that pause, and those that come to it later: they go on
	// by so many requests of all shards together; by none, to the end.
	Resume(requests int)
	// Collect waits until each other shard has delivered its part or was lost,
	// after a Stop for twice the run's grace, and gives the parts in the order
	// of the shards.
	Collect() []Part
	// Left says which shard is gone that had delivered its part, so that the run
	// lacks nothing, but no further one need wait for it; empty when none is.
	Left() string
	// Announce tells the others how it ended.
	Announce(Merged)
}

// Member is a meeting as every other shard has it.
type Member interface {
	Meeting
	// Show sends live figures to shard 0 once a second.
	Show(live func() Live)
	// Follow sends what is written to a file to shard 0, from the file, so that
	// who writes it waits for no network and no memory holds it.
	Follow(path string)
	// Pause sends the rest of what the followed file holds and the shard's result
	// so far, and waits for shard 0 to say by how many requests of all shards
	// together the run goes on; 0 ends it.
	Pause(ctx context.Context, d Delivery) (requests int, err error)
	// Deliver sends the rest of the followed file and then the shard's result,
	// and waits for what shard 0 makes of it.
	Deliver(ctx context.Context, d Delivery) (Merged, error)
}

// Delivery is what a shard hands over beside its records, in the end and where it
// pauses.
type Delivery struct {
	Result []byte // its result.json
	Taken  int    // requests that it took from its workload
	// Problem says why the part is not whole; empty when it is.
	Problem string
}

// Part is what shard 0 has of another shard.
type Part struct {
	Place Place
	From  string // address that it came from
	Dir   string // folder with its requests.jsonl, as far as it came; empty when it never came
	// Result is the shard's result.json; nil when it was lost before.
	Result []byte
	Taken  int // requests that it took from its workload
	// Epoch is how long after shard 0's epoch the shard's is.
	Epoch time.Duration
	// Offset is by how much the shard's clock was ahead of shard 0's when the
	// load began, Bound the most by which that estimate is wrong (half of the
	// shortest round trip), and Drift how much the offset had changed at the
	// end.
	Offset, Bound, Drift time.Duration
	// Lost says why the part is not whole; empty when it is.
	Lost string
}

// Merged is what shard 0 tells the others in the end.
type Merged struct {
	Result []byte // result.json of all shards
	Where  string // the verdict is, in words
	Taken  int    // requests that the run took from its workload, the most of all shards
	Over   bool   // the test does not go on
	Left   string // which shard is gone that had delivered; empty when none is
	Then   []byte // JSON: how a search goes on; nil after any other run
}

// Stopped is why a shard's run ends that shard 0 has stopped: one word, such as
// "interrupted".
type Stopped string

// Error implements error.
func (s Stopped) Error() string { return "shard 0 has stopped all shards (" + string(s) + ")" }

// Gone is why a run ends whose other process is gone, or was waited for in vain:
// no further run waits for it.
type Gone struct{ Why error }

// Error implements error.
func (g Gone) Error() string { return g.Why.Error() }

// Live are the sums that a progress line is made of.
type Live struct {
	Warmup       bool    `json:"warmup"`
	InFlight     int     `json:"in_flight"`
	Done         int     `json:"done"`
	Failed       int     `json:"failed"`
	Cancelled    int     `json:"cancelled"`
	WarmupDone   int     `json:"warmup_done"`
	WarmupFailed int     `json:"warmup_failed"`
	Output       int64   `json:"output"`    // tokens
	Window       int64   `json:"window_ns"` // from the first sending to the last end
	TTFT         float64 `json:"ttft_ns"`
	WithTTFT     int     `json:"with_ttft"`
	TPOT         float64 `json:"tpot_ns"`
	WithTPOT     int     `json:"with_tpot"`
}

// Plus is both together.
func (l Live) Plus(o Live) Live {
	return Live{
		Warmup: l.Warmup || o.Warmup, InFlight: l.InFlight + o.InFlight, Done: l.Done + o.Done, Failed: l.Failed + o.Failed,
		Cancelled: l.Cancelled + o.Cancelled, WarmupDone: l.WarmupDone + o.WarmupDone, WarmupFailed: l.WarmupFailed + o.WarmupFailed,
		Output: l.Output + o.Output, Window: max(l.Window, o.Window),
		TTFT: l.TTFT + o.TTFT, WithTTFT: l.WithTTFT + o.WithTTFT, TPOT: l.TPOT + o.TPOT, WithTPOT: l.WithTPOT + o.WithTPOT,
	}
}

var linked atomic.Pointer[Job]

// Register makes j the job of this process.
func Register(j Job) { linked.Store(&j) }

// Linked is the job of this process; nil where none is linked in.
func Linked() Job {
	if j := linked.Load(); j != nil {
		return *j
	}
	return nil
}
