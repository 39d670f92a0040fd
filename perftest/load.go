package perftest

import (
	"context"
	"fmt"
	"time"

	"github.com/slogate/slogate/internal/load"
)

// Load says when requests start and when the run ends: [Closed], [Open],
// [Stages] or [Replay]. A test may bring its own.
type Load interface {
	// Plan checks the load and gives what it asks for. Its error names the
	// field, the value and the remedy.
	Plan() (Plan, error)
}

// Plan is what a load asks for. It is a closed loop of Concurrency slots, or,
// with Starts, an open one.
type Plan struct {
	// Concurrency is the number of slots of a closed loop, each of which has
	// one request in flight: the end of one starts the next.
	Concurrency int
	// RampUp says how slots start; zero starts all at once.
	RampUp RampUp
	// Think is the time between an answer and the slot's next request.
	Think Think

	// Starts makes the loop open: it gives a function that yields start times
	// after the load's start, in order, and false when there are no more. The
	// same seed has to give the same times.
	Starts func(seed uint64) func() (time.Duration, bool)
	// InFlight bounds the requests in flight of an open loop; 0 means no bound.
	InFlight int
	// AtBound says what becomes of a start that finds the bound reached.
	AtBound AtBound

	// Requests after which no more start; 0 means no such end.
	Requests int
	// Duration after which no more start; 0 means no such end.
	Duration time.Duration
	// Drain says what becomes of requests in flight at that end; zero waits.
	Drain Drain
	// Cancel abandons a share of the requests; zero abandons none.
	Cancel Cancel
	// KeepEnds measures the start burst and the drained end of a closed loop
	// with the rest; see [Closed].
	KeepEnds bool
	// PrefillConcurrency is the most requests that wait for their first token
	// at any time, turns of conversations too; 0 means no limit.
	PrefillConcurrency int

	// What the loads of this package ask beyond that.
	rate     float64      // asked mean rate of an open loop, 0 when it varies or is not known
	profile  load.Profile // slots over time, in place of Concurrency
	rates    load.Profile // of an open loop's requests over time, where it is known
	schedule func(seed uint64, read func() (time.Duration, any, bool)) load.Schedule
	paired   bool // the schedule takes requests together with their times
}

// RampUp says how the slots of a closed loop start. Zero starts all at once.
type RampUp struct {
	// Duration over which slots start; 0 is a burst.
	Duration time.Duration
	// Steps in which they start, the first at once; 0 starts one slot after
	// the other, at even distances.
	Steps int
}

// Think is the time that a slot of a closed loop waits between the end of an
// answer and its next request. Zero is none.
type Think struct {
	// Time is the time, or its mean.
	Time time.Duration
	// Exponential draws each time from the exponential distribution of that
	// mean, by the scenario's seed.
	Exponential bool
}

// Drain says what becomes of requests in flight at the end of a load. Zero
// waits for them.
type Drain struct {
	// Cancel gives them up: they are cancelled, and count neither as success
	// nor as failure, but over the limits that they had passed already. A limit
	// that they had not may be met or missed: an SLO that they could decide is
	// INVALID, so that After is best the largest limit or more. That is so of
	// limits on TTFT, TTFA, Latency and Response, also within a goodput; no
	// verdict on TPOT, TTST, ITL, tokens or a rate counts a cancelled request.
	Cancel bool
	// After is the time that they get first; 0 means none.
	After time.Duration
}

// Cancel abandons a share of the requests, as users do who close a page. They
// are cancelled, and count neither as success nor as failure, but over the
// limits (see [Drain]) that they had passed already.
type Cancel struct {
	// Share of the requests, 0 to 1; which ones follows from the scenario's
	// seed and their position.
	Share float64
	// After is the time from its start after which a request is abandoned.
	After time.Duration
}

// AtBound says what becomes of a start that finds the bound of requests in
// flight reached.
type AtBound int

// The ways.
const (
	// QueueAtBound lets it wait; its scheduled time stays, so that the wait
	// shows in Response.
	QueueAtBound AtBound = iota
	// DropAtBound does not send it, and counts it.
	DropAtBound
)

// open reports whether p is an open loop.
func (p *Plan) open() bool { return p.Starts != nil || p.schedule != nil }

// endsByItself reports whether the load's schedule or profile has an end.
func (p *Plan) endsByItself() bool {
	return p.profile != nil && p.profile.Length() > 0 || p.open()
}

// steady reports whether p keeps the ends of a closed loop out of the figures.
func (p *Plan) steady() bool { return !p.open() && p.profile == nil && !p.KeepEnds }

// length is after which time no more requests start; 0 when time does not end
// the load.
func (p *Plan) length() time.Duration {
	d := p.Duration
	for _, profile := range []load.Profile{p.profile, p.rates} {
		if profile != nil && profile.Length() > 0 && (d == 0 || profile.Length() < d) {
			d = profile.Length()
		}
	}
	return d
}

// slots is the number of slots of a closed loop, 0 of an open one.
func (p *Plan) slots() int {
	switch {
	case p.open():
		return 0
	case p.profile != nil:
		return load.ClosedLoop{Profile: p.profile}.Slots()
	}
	return p.Concurrency
}

// runner is a load under way: what both kinds of loops of package load are.
type runner interface {
	Run(ctx context.Context, epoch time.Time, do load.Do) load.Report
}

// loop is p, of which bounds are this shard's, as package load runs it, from the
// first request of so many on. read yields prepared requests to a schedule that
// pairs them with their times. start is that of all shards, nanoseconds after the
// epoch, or 0.
func (p *Plan) loop(seed uint64, shard load.Shard, first int, start int64, grace time.Duration, read func() (time.Duration, any, bool)) runner {
	o := load.Options{
		Requests: p.Requests, First: first, Duration: p.Duration, Drain: load.Drain(p.Drain), Cancel: load.Cancel(p.Cancel),
		Start: start, Grace: grace, FirstTokens: p.PrefillConcurrency, Seed: seed, Shard: shard,
	}
	if !p.open() {
		return load.ClosedLoop{Options: o, Concurrency: p.Concurrency, RampUp: load.RampUp(p.RampUp), Profile: p.profile, Think: load.Think(p.Think), Steady: p.steady()}
	}
	l := load.OpenLoop{Options: o, InFlight: p.InFlight, Policy: load.Policy(p.AtBound)}
	if p.schedule != nil {
		l.Schedule = p.schedule(seed, read)
	} else {
		l.Schedule = &starts{next: p.Starts(seed)}
	}
	return l
}

// starts is the schedule of a test's own load.
type starts struct {
	next  func() (time.Duration, bool)
	index int
	last  time.Duration
}

// Next implements load.Schedule. A time before the one ahead of it counts as
// that one.
func (s *starts) Next() (load.Arrival, bool) {
	at, ok := s.next()
	if !ok {
		return load.Arrival{}, false
	}
	s.last = max(s.last, at)
	s.index++
	return load.Arrival{Index: s.index - 1, At: s.last}, true
}

// String names the policy.
func (b AtBound) String() string {
	switch b {
	case QueueAtBound:
		return "queue"
	case DropAtBound:
		return "drop"
	}
	return fmt.Sprintf("AtBound(%d)", int(b))
}
