package load

import (
	"context"
	"errors"
	"time"
)

// Options are what loads of every kind have in common. The zero value runs
// until its context ends, or its schedule.
type Options struct {
	// Requests after which no more start, those of all shards together; 0
	// means no such end. Arrivals that an open loop drops count as well.
	Requests int
	// First is the position of the first request, in a load that goes on: by how
	// many the parts of it before have sent together. The shard's requests, and
	// their positions, count from there.
	First int
	// Duration after which no more start; 0 means no such end.
	Duration time.Duration
	// Drain says what becomes of requests in flight at that end.
	Drain Drain
	// Grace for requests in flight when the context has ended. Then they are
	// cancelled, with [ErrGaveUp] as the cause.
	Grace time.Duration
	// Cancel abandons a share of the requests.
	Cancel Cancel
	// FirstTokens is the most requests that wait for their first token at
	// any time; 0 means no limit. Whatever is due above it waits, and keeps
	// its Scheduled time.
	FirstTokens int
	// Start is the moment after the epoch from which the load's times count,
	// when it has passed already: a process that is late to a start that others
	// share is late to its requests, and moves none of them. 0 means now.
	Start int64
	// Seed of what is random: who is abandoned, and think times.
	Seed uint64
	// Shard of the load that this process sends.
	Shard Shard
	// Pacing by which starts are waited for; nil means [PrecisePacing].
	Pacing Pacing
}

// index is the position of the shard's k-th request.
func (o Options) index(k int) int { return o.Shard.request(o.Shard.Requests(o.First) + k) }

// pacer is one for the goroutine that calls it.
func (o Options) pacer(epoch time.Time) Pacer {
	if o.Pacing == nil {
		return PrecisePacing(epoch)
	}
	return o.Pacing(epoch)
}

// Drain says what becomes of requests in flight, and of those that wait for a
// slot, at the end of a load. The zero value waits for them.
type Drain struct {
	// Cancel gives them up, with [ErrDrained] as the cause.
	Cancel bool
	// After which time, which they have to end; 0 means at once.
	After time.Duration
}

// Cancel abandons requests, as users do who close a page.
type Cancel struct {
	// Share of requests, 0 to 1. Whether request i is one of them is a
	// function of the seed and i.
	Share float64
	// After which time from its start a request is cancelled, with
	// [ErrAbandoned] as the cause.
	After time.Duration
}

// Shard is part Index, from 0, of Count parts of a load that as many processes
// send together: slots of a closed loop, and requests, with index = Index mod
// Count. The zero value is the whole of it.
type Shard struct {
	Index, Count int
	// Slots of the closed loop, those of all shards, of which there is one a
	// shard at least; its requests go to the shards as its slots do, one after the
	// other. Were 60 requests dealt out evenly to 8 slots of 5 shards, those with
	// one slot would take twice as long for theirs as those with two. 0 of any
	// other load.
	Slots int
}

// count is the number of parts.
func (s Shard) count() int { return max(s.Count, 1) }

// cycle is after how many requests they are dealt out as before.
func (s Shard) cycle() int { return max(s.Slots, s.count()) }

// Sends says whether the shard has request i of the load.
func (s Shard) Sends(i int) bool { return s.takes(i % s.cycle()) }

// Requests is how many of the first n requests of a load the shard has.
func (s Shard) Requests(n int) int {
	return n/s.cycle()*s.Of(s.cycle()) + s.Of(n%s.cycle())
}

// request is the position in the whole load of the shard's k-th request.
func (s Shard) request(k int) int {
	own := s.Of(s.cycle())
	return k/own*s.cycle() + s.global(k%own)
}

// takes says whether the shard has part i of the load.
func (s Shard) takes(i int) bool { return i%s.count() == s.Index }

// Of is how many of the first n parts of a load the shard has.
func (s Shard) Of(n int) int { return max(0, n-s.Index+s.count()-1) / s.count() }

// global is the position in the whole load of the k-th part of the shard.
func (s Shard) global(k int) int { return k*s.count() + s.Index }

// ErrDrained is the cause of the end of a request that was still in flight when
// the load had ended, and the time of its [Drain] had passed.
var ErrDrained = errors.New("the load has ended, and the time for requests in flight has passed")

// ErrAbandoned is the cause of the end of a request that [Cancel] chose.
var ErrAbandoned = errors.New("abandoned, as the load asks for a share of requests")

// Do sends one request and returns when its slot is free for the next one,
// which should be at the end of the answer. It stamps what it sends with
// [Turn.Scheduled] and, when the first token has come, calls [Turn.FirstToken].
//
// ctx is for the request: it is cancelled with [ErrGaveUp], [ErrDrained] or
// [ErrAbandoned] as its cause, and it stays alive after the run so that what
// is done beside may end.
//
// It returns false, without having sent anything, when there are no more
// requests to send; then no more start.
type Do func(ctx context.Context, t *Turn) bool
