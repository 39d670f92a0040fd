package perftest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/load"
)

const (
	// aheadWithin is from when on a slot dials with its first request: a server
	// may close a connection that waits longer (llama-server and uvicorn after
	// 5 s).
	aheadWithin = 5 * time.Second
	// dialsAtOnce bounds the dials, as a server's queue of new connections is
	// (128 and more).
	dialsAtOnce = 64
)

// dialAhead opens the connections that the load's first requests go over, also
// where there are fewer requests than slots, as any slot may get one. It takes
// no longer than one of them may. One that fails is no matter: its request dials, and
// fails in the same way or does not.
func (d *driver) dialAhead(ctx context.Context) {
	if d.scenario.ColdConnections || d.plan.open() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, d.timeouts.Connect)
	defer cancel()
	n := load.ClosedLoop{
		Options: load.Options{Shard: d.settings.shard}, Concurrency: d.plan.Concurrency, RampUp: load.RampUp(d.plan.RampUp), Profile: d.plan.profile,
	}.SlotsWithin(aheadWithin)
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
}
