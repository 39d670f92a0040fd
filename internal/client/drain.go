package client

import (
	"context"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/record"
)

// Bounds of the rest of a body that is read so that its end is known and its
// connection lives on.
const (
	drainTime  = time.Second
	drainBytes = 256 << 10
	settleTime = time.Millisecond
)

// drains reads the rest of bodies, beside the slot's next requests.
type drains struct {
	mu   sync.Mutex
	open []*drain
	// slow says that an end once came late. Waiting is given up then: the
	// server keeps its ends back, and each wait would cost the next request.
	slow bool
}

// drain is a body whose answer is over, and the record that waits for its end.
type drain struct {
	body     io.ReadCloser
	exchange exchange
	cancel   context.CancelCauseFunc // ends the request, and with it the read
	done     chan struct{}

	once sync.Once
	rec  *record.Record // nil when nobody waits for the end
	hand func(*record.Record)
}

// add takes over a body that was read as far as it mattered, with the record
// that waits for its end, if rec is not nil. It refuses when too many are read
// already.
func (d *drains) add(resp *http.Response, e exchange, cancel context.CancelCauseFunc, rec *record.Record, hand func(*record.Record)) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.open) >= idlePerSlot {
		return false
	}
	one := &drain{body: resp.Body, exchange: e, cancel: cancel, done: make(chan struct{}), rec: rec, hand: hand}
	d.open = append(d.open, one)
	go d.run(one)
	return true
}

func (d *drains) run(one *drain) {
	timer := time.AfterFunc(drainTime, func() { one.cancel(errTimeout) })
	_, err := io.CopyN(io.Discard, one.body, drainBytes)
	at := record.Absent
	if err == io.EOF {
		at = one.exchange.end()
	}
	one.body.Close() // and the connection, if this is not the end, whatever the cause
	timer.Stop()
	one.cancel(nil)
	one.finish(at)
	d.mu.Lock()
	d.open = slices.DeleteFunc(d.open, func(x *drain) bool { return x == one })
	d.mu.Unlock()
	close(one.done)
}

// finish hands the record over, once.
func (x *drain) finish(bodyEnd int64) {
	x.once.Do(func() {
		if x.rec != nil {
			x.rec.BodyEnd = bodyEnd
			x.hand(x.rec)
		}
	})
}

// settle gives the body of the request before a moment to end, so that its
// connection is there for the next one.
func (d *drains) settle() {
	d.mu.Lock()
	if d.slow || len(d.open) == 0 {
		d.mu.Unlock()
		return
	}
	last := d.open[len(d.open)-1]
	d.mu.Unlock()
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-last.done:
	case <-timer.C:
		d.mu.Lock()
		d.slow = true
		d.mu.Unlock()
	}
}

// all are the ones under way.
func (d *drains) all() []*drain {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.open)
}

// cancel ends all of them soon.
func (d *drains) cancel() {
	for _, x := range d.all() {
		x.cancel(nil)
	}
}

// wait waits until those under way have ended. When ctx is over it hands their
// records over as they are.
func (d *drains) wait(ctx context.Context) {
	for _, x := range d.all() {
		select {
		case <-x.done:
		case <-ctx.Done():
			x.finish(record.Absent)
		}
	}
}
