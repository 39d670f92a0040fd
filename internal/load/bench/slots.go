//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
)

// slots sends one request after another in each of the streams, each at the end
// of the answer before. The gap is the server's: from the write that ended an
// answer to the moment when it had read the stream's next request.
func (j job) slots(r *result) error {
	if j.Client == "raw" {
		return j.rawSlots(r)
	}
	o, err := newOurs(j)
	if err != nil {
		return err
	}
	defer o.client.Close()
	bodies, err := j.bodies()
	if err != nil {
		return err
	}
	out, err := newSink(j.Writes)
	if err != nil {
		return err
	}
	base := residentKiB()
	peak := make(chan float64, 1)
	time.AfterFunc(j.For*3/4, func() { peak <- residentKiB() })
	g := newGaps(j.Streams)
	loop := load.ClosedLoop{Options: load.Options{Duration: j.For}, Concurrency: j.Streams}
	ran := loop.Run(context.Background(), o.zero, func(ctx context.Context, t *load.Turn) bool {
		rec := out.get()
		rec.Index, rec.Slot, rec.Scheduled, rec.Ready = t.Index, t.Slot, t.Scheduled, t.Ready
		o.do(ctx, t.Slot, bodies[t.Slot], rec, out.put)
		if wrotes := o.told.all[t.Slot]; len(wrotes) > 0 {
			g.add(t.Slot, o.told.asked[t.Slot], wrotes[len(wrotes)-1])
		}
		return true
	})
	o.client.Settle()
	r.Memory = (<-peak - base) / float64(j.Streams)
	r.Gap, r.Requests, r.Concurrency = g.spread(), ran.Started, ran.Concurrency
	r.Failed, r.Failure = int(out.failed.Load()), out.first()
	return out.close()
}

// bodies are the streams' requests. Each stream has a delay of its own, within
// a quarter of j's, so that they do not go on in step.
func (j job) bodies() (all [][]byte, err error) {
	for i := range j.Streams {
		delay := float64(j.Delay) * (0.75 + 0.5*(float64(i)+0.5)/float64(j.Streams))
		a := ask{Stream: uint16(i), Tokens: max(1, j.Tokens), Delay: int64(delay), Padding: strings.Repeat("x", 200)}
		if j.Rate > 0 {
			a.Gap = int64(time.Second) / int64(j.Rate)
		}
		body, err := json.Marshal(a)
		if err != nil {
			return nil, err
		}
		all = append(all, body)
	}
	return all, nil
}

// rawSlots is slots by a client that only looks for the end of the answer.
func (j job) rawSlots(r *result) error {
	bodies, err := j.bodies()
	if err != nil {
		return err
	}
	g := newGaps(j.Streams)
	conns := newRaw(j).conns
	var working sync.WaitGroup
	errs := make(chan error, j.Streams)
	begun := time.Now()
	for i, nc := range conns {
		request := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(bodies[i]), bodies[i])
		working.Go(func() {
			buf := make([]byte, 4096)
			for time.Since(begun) < j.For {
				asked, wrote, err := rawTurn(nc, request, buf)
				if err != nil {
					errs <- err
					return
				}
				g.add(i, asked, wrote)
			}
		})
	}
	working.Wait()
	close(errs)
	r.Gap = g.spread()
	return <-errs
}

// rawTurn sends one request and reads its answer of one event.
func rawTurn(nc net.Conn, request, buf []byte) (asked, wrote int64, err error) {
	if _, err := nc.Write(request); err != nil {
		return 0, 0, err
	}
	for got := 0; ; {
		n, err := nc.Read(buf[got:])
		if err != nil {
			return 0, 0, err
		}
		if got += n; !bytes.HasSuffix(buf[:got], []byte("\r\n0\r\n\r\n")) {
			continue
		}
		at := bytes.LastIndex(buf[:got], []byte(eventHead))
		if at < 0 {
			return 0, 0, errors.New("an answer without an event")
		}
		wrote, asked, _ = truthIn(buf[at+len(eventHead) : got])
		return asked, wrote, nil
	}
}

// gaps collects those of each slot, which one goroutine at a time adds to.
type gaps []struct {
	all   []int64
	ended int64
	_     [64]byte
}

func newGaps(slots int) gaps { return make(gaps, slots) }

func (g gaps) add(slot int, asked, wrote int64) {
	s := &g[slot]
	if s.ended != 0 {
		s.all = append(s.all, asked-s.ended)
	}
	s.ended = wrote
}

func (g gaps) spread() spread {
	var all []int64
	for i := range g {
		all = append(all, g[i].all...)
	}
	return spreadOf(all)
}

// sink takes records: it writes them as a run does, or drops them.
type sink struct {
	writer  *record.Writer // nil when it drops them
	dir     string
	pool    sync.Pool
	failed  atomic.Int64
	message atomic.Pointer[string] // of the first failure
}

func newSink(writes bool) (*sink, error) {
	s := &sink{pool: sync.Pool{New: func() any { return new(record.Record) }}}
	if !writes {
		return s, nil
	}
	var err error
	if s.dir, err = os.MkdirTemp("", "slogate-bench"); err != nil {
		return nil, err
	}
	s.writer, err = record.Create(filepath.Join(s.dir, "requests.jsonl"), nil)
	return s, err
}

func (s *sink) get() *record.Record {
	if s.writer != nil {
		return s.writer.Get()
	}
	rec := s.pool.Get().(*record.Record)
	rec.Reset()
	return rec
}

func (s *sink) put(rec *record.Record) {
	if !rec.OK() {
		s.failed.Add(1)
		message := rec.Class + ": " + rec.Message
		s.message.CompareAndSwap(nil, &message)
	}
	if s.writer != nil {
		s.writer.Put(rec)
		return
	}
	s.pool.Put(rec)
}

func (s *sink) first() string {
	if m := s.message.Load(); m != nil {
		return *m
	}
	return ""
}

func (s *sink) close() error {
	if s.writer == nil {
		return nil
	}
	return errors.Join(s.writer.Close(), os.RemoveAll(s.dir))
}
