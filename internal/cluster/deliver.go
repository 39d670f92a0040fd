package cluster

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// tail follows a file that is being written.
type tail struct {
	path   string
	finish chan struct{}     // closed when the file is whole
	flush  chan chan<- int64 // asks for the number of bytes sent, when all that the file holds now are
	done   chan struct{}     // closed when all of it was sent, or cannot be
	bytes  int64
	err    error
}

// followEvery is how often a file is looked at.
const followEvery = 200 * time.Millisecond

// Nonce implements [meet.Meeting].
func (m *member) Nonce() uint64 { return m.nonce }

// Ended implements [meet.Meeting].
func (m *member) Ended() <-chan struct{} { return m.ended }

// Why implements [meet.Meeting].
func (m *member) Why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.why
}

// Begin implements [meet.Meeting].
func (m *member) Begin(ctx context.Context, phase string) (instant time.Time, err error) {
	if err := m.conn.send(kindReady, []byte(phase)); err != nil {
		<-m.gone // its error says more
		return instant, m.Why()
	}
	select {
	case s := <-m.starts:
		if s.Phase != phase {
			return instant, errors.New("shard 0 is at another phase of the run")
		}
		instant = sleepUntil(ctx, m.ended, m.cfg.clock, s.At)
	case <-m.ended:
	case <-ctx.Done():
	}
	if err := m.Why(); err != nil {
		return instant, err
	}
	return instant, context.Cause(ctx)
}

// Show implements [meet.Member].
func (m *member) Show(live func() meet.Live) { m.live.Store(&live) }

// Follow implements [meet.Member].
func (m *member) Follow(path string) {
	t := &tail{path: path, finish: make(chan struct{}), flush: make(chan chan<- int64), done: make(chan struct{})}
	m.tail = t
	m.work.Go(func() {
		defer close(t.done)
		t.err = t.follow(m.ctx, m.gone, func(chunk []byte) error { return m.conn.send(kindRecords, chunk) })
	})
}

// follow sends the file in chunks, until it is whole and sent.
func (t *tail) follow(ctx context.Context, gone <-chan struct{}, send func([]byte) error) error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	chunk := make([]byte, chunkBytes)
	whole := false
	var asked chan<- int64
	for {
		n, err := f.Read(chunk)
		if n > 0 {
			if err := send(chunk[:n]); err != nil {
				return err
			}
			t.bytes += int64(n)
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		if whole {
			return nil
		}
		if asked != nil {
			asked <- t.bytes // which has room
			asked = nil
		}
		select {
		case <-t.finish:
			whole = true
		case asked = <-t.flush:
		case <-tick.C:
		case <-gone:
			return errGone
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Deliver implements [meet.Member].
func (m *member) Deliver(ctx context.Context, d meet.Delivery) (meet.Merged, error) {
	e := end{Result: d.Result, Taken: d.Taken, Problem: d.Problem}
	if t := m.tail; t != nil {
		close(t.finish)
		select {
		case <-t.done:
		case <-ctx.Done():
			return meet.Merged{}, context.Cause(ctx)
		}
		if e.Bytes = t.bytes; t.err != nil && d.Problem == "" {
			e.Problem = "its records could not be sent: " + t.err.Error()
		}
	}
	if err := m.conn.sendJSON(kindEnd, e); err != nil {
		select {
		case <-m.gone: // what came last says why
		case <-time.After(farewell):
			return meet.Merged{}, err
		}
	}
	select {
	case <-m.gone:
	case <-ctx.Done():
		return meet.Merged{}, context.Cause(ctx)
	}
	select {
	case merged := <-m.merged:
		return merged, nil
	default:
		m.mu.Lock()
		defer m.mu.Unlock()
		return meet.Merged{}, m.left
	}
}

// Close implements [meet.Meeting].
func (m *member) Close(why string) {
	select {
	case <-m.gone:
	default:
		limit := time.AfterFunc(farewell, func() { _ = m.conn.Close() })
		if m.conn.send(kindFailed, []byte(cleaned(why))) == nil {
			<-m.gone // shard 0 closes: what is closed with something unread takes what was sent with it
		}
		limit.Stop()
	}
	m.cancel()
	_ = m.conn.Close()
	m.work.Wait()
}
