package perftest

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/load"
)

const (
	// aheadWithin is from when on a slot's connection is not opened before the
	// load: a server may close one that waits longer (llama-server and uvicorn
	// after 5 s).
	aheadWithin = 5 * time.Second
	// reserveAhead is how long before its start such a slot's connection is
	// opened.
	reserveAhead = 2500 * time.Millisecond
	// dialsAtOnce bounds the dials, as a server's queue of new connections is
	// (128 and more).
	dialsAtOnce = 64
	// leastReserve is what an open loop keeps open for its next new slots, where
	// its rate is not known, and mostLeast where nothing tells that it needs
	// more: each is a thread of some servers.
	leastReserve, mostLeast = 2, 16
	// firstReserve is what it begins with where its rate is not known.
	firstReserve = 16
)

// dialAhead opens the connections that the load's first requests go over, also
// where there are fewer requests than slots, as any slot may get one, and keeps
// some open ahead of later need until stop is called. It takes
// no longer than a dial may. One that fails is no matter: its request dials, and
// fails in the same way or does not.
func (d *driver) dialAhead(ctx context.Context) (stop func()) {
	if d.scenario.ColdConnections {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeouts.Connect)
	defer cancel()
	if d.plan.open() {
		return d.client.Reserve(ctx, d.needsOpen())
	}
	loop := load.ClosedLoop{
		Options: load.Options{Shard: d.settings.shard}, Concurrency: d.plan.Concurrency, RampUp: load.RampUp(d.plan.RampUp), Profile: d.plan.profile,
	}
	n := loop.SlotsWithin(aheadWithin)
	d.slots.get(n - 1)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(n, dialsAtOnce) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				_ = d.slots.get(i).Open(ctx)
			}
		})
	}
	all.Wait()
	if later := loop.StartsAfter(aheadWithin); len(later) > 0 {
		return d.client.Reserve(ctx, d.needsClosed(later))
	}
	return func() {}
}

// intoLoad is the time since the load began; 0 before.
func (d *driver) intoLoad() time.Duration {
	if at := d.loaded.Load(); at > 0 {
		return time.Since(d.epoch) - time.Duration(at)
	}
	return 0
}

// needsClosed says how many connections a closed loop needs ahead:
// those of the slots that start within the next seconds.
func (d *driver) needsClosed(starts []time.Duration) func(taken int) int {
	used := 0
	return func(taken int) int {
		now := d.intoLoad()
		used += taken
		from, _ := slices.BinarySearch(starts, now)
		to, _ := slices.BinarySearch(starts, now+reserveAhead)
		return max(0, min(to-used, to-from)) // of those that start just now, some have theirs
	}
}

// needsOpen says how many connections an open loop needs ahead:
// for its first seconds as many as arrive within one, then as many as its rate
// rises by within the next seconds, twice what new slots have taken within
// one, or the square root of its rate, by which arrivals within a second differ.
func (d *driver) needsOpen() func(taken int) int {
	type moment struct {
		at    time.Duration
		taken int
	}
	var last []moment
	shards := float64(max(1, d.settings.shard.Count))
	return func(taken int) (n int) {
		now := d.intoLoad()
		last = append(slices.DeleteFunc(last, func(m moment) bool { return now-m.at > time.Second }), moment{now, taken})
		for _, m := range last {
			n += 2 * m.taken
		}
		least, first := leastReserve, firstReserve
		if rates := d.plan.rates; rates != nil {
			n = max(n, int((rates.At(now+reserveAhead)-rates.At(now))/shards))
			least = min(max(least, int(math.Sqrt(rates.At(now)/shards))), mostLeast)
			first = int(math.Ceil(rates.Integral(time.Second) / shards))
		}
		if now < aheadWithin {
			least = max(least, first)
		}
		n = max(n, least)
		if bound := d.plan.InFlight; bound > 0 {
			n = min(n, bound-int(d.inFlight.Load()))
		}
		if own := d.settings.shard.Requests(d.plan.Requests); own > 0 {
			n = min(n, own)
		}
		return max(n, 0)
	}
}
