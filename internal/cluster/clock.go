package cluster

import (
	"context"
	"time"
)

// exchanges is how many round trips a clock is estimated by.
const exchanges = 16

// estimate is by how much a shard's clock is ahead of shard 0's. It is the
// midpoint of the shortest round trip (Cristian 1989), and wrong by no more
// than bound, half of that trip, however the trip's time was split between the
// two ways.
type estimate struct {
	offset, bound time.Duration
}

// estimator takes round trips and keeps the shortest.
type estimator struct {
	best  estimate
	trips int
}

// add takes a round trip: sent and received on shard 0's clock, theirs in
// between on the shard's.
func (e *estimator) add(sent, theirs, received int64) {
	bound := time.Duration(received-sent+1) / 2
	if e.trips++; e.trips == 1 || bound < e.best.bound {
		e.best = estimate{offset: time.Duration(theirs - sent - (received-sent)/2), bound: bound}
	}
}

// measure exchanges pings with a peer.
func (p *peer) measure(ctx context.Context, clock func() int64) (estimate, error) {
	var e estimator
	for range exchanges {
		p.pings++
		sent := clock()
		if err := p.conn.send(kindPing, pong{id: p.pings}.encode()); err != nil {
			return e.best, err
		}
		for answered := false; !answered; {
			select {
			case got := <-p.pongs:
				if answered = got.id == p.pings; answered {
					e.add(sent, got.clock, got.at)
				}
			case <-p.gone:
				return e.best, errGone
			case <-ctx.Done():
				return e.best, context.Cause(ctx)
			}
		}
	}
	return e.best, nil
}

// received is a pong and when it came.
type received struct {
	pong
	at int64
}
