package load

import (
	"context"
	"time"
)

// plainPlan is that of a plain closed loop, as most tests want it.
type plainPlan struct {
	Concurrency, Requests int
	Duration              time.Duration
}

// plainClosed runs one.
func plainClosed(ctx context.Context, epoch time.Time, p plainPlan, grace time.Duration, send func(ctx context.Context, slot int, scheduled int64) bool) Report {
	c := ClosedLoop{
		Options:     Options{Requests: p.Requests, Duration: p.Duration, Grace: grace},
		Concurrency: p.Concurrency,
	}
	return c.Run(ctx, epoch, func(ctx context.Context, t *Turn) bool { return send(ctx, t.Slot, t.Scheduled) })
}
