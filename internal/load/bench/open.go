//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
)

// open offers requests at a constant rate, on connections that are there. The lag
// is from the time a request was due to the write of its first byte. Client
// "sleep" paces by time.Sleep to the same absolute times, and a goroutine a
// request; all else is the same.
func (j job) open(r *result) error {
	o, err := newOurs(j)
	if err != nil {
		return err
	}
	defer o.client.Close()
	if err := j.each(o, make([]tokens, j.Streams), ask{Tokens: 1}); err != nil { // dials
		return err
	}
	bodies, err := j.bodies()
	if err != nil {
		return err
	}
	out, err := newSink(false)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var late, wrote []int64
	send := func(ctx context.Context, slot int, due int64) {
		rec := out.get()
		o.do(ctx, slot, bodies[slot], rec, func(rec *record.Record) {
			mu.Lock()
			if rec.Wrote >= 0 {
				late, wrote = append(late, rec.Wrote-due), append(wrote, rec.Wrote)
			}
			mu.Unlock()
			out.put(rec)
		})
	}
	n := int(j.For.Seconds() * float64(j.PerSecond))
	if j.Client == "sleep" {
		sleepPaced(o.zero, n, time.Second/time.Duration(j.PerSecond), j.Streams, send)
	} else {
		load.OpenLoop{
			Options:  load.Options{Requests: n},
			Schedule: load.Arrivals(load.Constant{}, load.Level(float64(j.PerSecond)), 1), InFlight: j.Streams,
		}.Run(context.Background(), o.zero, func(ctx context.Context, t *load.Turn) bool {
			send(ctx, t.Slot, t.Scheduled)
			return true
		})
	}
	o.client.Settle()
	if len(late) < 2 {
		return fmt.Errorf("%d of %d requests were sent (%s)", len(late), n, out.first())
	}
	r.Rate = float64(len(wrote)-1) / (float64(slices.Max(wrote)-slices.Min(wrote)) / 1e9)
	r.OpenLag, r.Requests = spreadOf(late), len(late)
	r.Failed, r.Failure = int(out.failed.Load()), out.first()
	return nil
}

// sleepPaced starts n requests, gap apart, each on a slot that is free.
func sleepPaced(zero time.Time, n int, gap time.Duration, slots int, send func(context.Context, int, int64)) {
	free := make(chan int, slots)
	for i := range slots {
		free <- i
	}
	var working sync.WaitGroup
	begun := time.Now()
	for i := range n {
		due := begun.Add(time.Duration(i) * gap)
		time.Sleep(time.Until(due))
		working.Go(func() {
			slot := <-free
			send(context.Background(), slot, int64(due.Sub(zero)))
			free <- slot
		})
	}
	working.Wait()
}
