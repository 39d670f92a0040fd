package record

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	flushEvery = time.Second // a run that is killed loses no more than this
	flushBytes = 64 << 10
	keepBytes  = 1 << 20 // a buffer that one huge record made larger is given up
	keepEvents = 1 << 16 // a record with room for more events is not used again
	keepText   = 1 << 16 // nor a text with room for more bytes
)

// Writer writes records to requests.jsonl while the run goes on, from a
// goroutine of its own, so that who sends requests waits for neither encoding
// nor disk. The queue before it has no bound: records in it are few unless the
// disk stalls, and then a line that waits is better than a line that is lost
// or a request that is late. A failed write ends the file, not the run.
type Writer struct {
	out     io.Writer
	file    io.Closer // what Close closes; nil when out is the caller's
	observe func(*Record)
	free    sync.Pool
	wake    chan struct{} // holds one wake-up
	done    chan struct{} // closed when the goroutine has ended

	mu      sync.Mutex // held for a few instructions at a time
	queue   []*Record
	syncs   []chan struct{} // closed when the records before them are written
	closing bool
	stats   WriterStats

	// The goroutine's own, until done is closed.
	buf      []byte
	buffered int // lines in buf
	err      error
}

// WriterStats says how a [Writer] did.
type WriterStats struct {
	Records int   // records handed over
	Written int   // whole lines that reached the file
	Bytes   int64 // bytes that reached it
	// HighWater is the longest that the queue has been. A large one means
	// that the disk or the observer could not follow.
	HighWater int
}

// Create makes a Writer of the file at path, which it creates or empties.
// observe is as for [NewWriter].
func Create(path string, observe func(*Record)) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, err
	}
	return start(f, f, observe), nil
}

// NewWriter makes a Writer of out, which it does not close. For each record it
// calls observe, unless that is nil, in the goroutine that writes and before it
// writes: observe may add what nobody could know before, such as a count of
// tokens that takes time, and must not keep the record. The Writer has to be
// closed.
func NewWriter(out io.Writer, observe func(*Record)) *Writer {
	return start(out, nil, observe)
}

func start(out io.Writer, file io.Closer, observe func(*Record)) *Writer {
	w := &Writer{
		out: out, file: file, observe: observe,
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	go w.run()
	return w
}

// Get gives a record of which nothing is known, for one request; Put takes it
// back.
func (w *Writer) Get() *Record {
	r, _ := w.free.Get().(*Record)
	if r == nil {
		r = new(Record)
	}
	r.Reset()
	return r
}

// Put hands r over to be written. The caller must not touch it any more. Put
// does not wait; after Close it panics, as a line would be lost in silence.
func (w *Writer) Put(r *Record) {
	w.mu.Lock()
	if w.closing {
		w.mu.Unlock()
		panic("record: Put after Close")
	}
	w.queue = append(w.queue, r)
	w.stats.Records++
	w.stats.HighWater = max(w.stats.HighWater, len(w.queue))
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default: // one wake-up is enough for all
	}
}

// Stats says how the Writer is doing. It may be called at any time.
func (w *Writer) Stats() WriterStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stats
}

// Sync waits until all records that were handed over have been observed and
// written.
func (w *Writer) Sync() {
	written := make(chan struct{})
	w.mu.Lock()
	w.syncs = append(w.syncs, written)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	<-written
}

// Close writes what is left and ends the goroutine. Its error is that of the
// first write that failed, and says how many records are missing; further calls
// give the same.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closing = true
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
	<-w.done
	return w.err
}

func (w *Writer) run() {
	defer close(w.done)
	var due <-chan time.Time // set while lines wait in buf
	var batch []*Record
	for {
		var closing bool
		var syncs []chan struct{}
		batch, syncs, closing = w.take(batch)
		for i, r := range batch {
			w.write(r)
			batch[i] = nil
			select {
			case <-due:
				due = nil
				w.flush()
			default:
			}
			if due == nil && w.buffered > 0 {
				due = time.After(flushEvery)
			}
		}
		if len(syncs) > 0 {
			w.flush()
			for _, written := range syncs {
				close(written)
			}
		}
		switch {
		case len(batch) > 0 || len(syncs) > 0:
		case closing:
			w.finish()
			return
		default:
			select {
			case <-w.wake:
			case <-due:
				due = nil
				w.flush()
			}
		}
	}
}

// take gives all records that wait, in their order, for the emptied batch.
func (w *Writer) take(batch []*Record) ([]*Record, []chan struct{}, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	taken, syncs := w.queue, w.syncs
	w.queue, w.syncs = batch[:0], nil
	return taken, syncs, w.closing
}

func (w *Writer) write(r *Record) {
	if w.observe != nil {
		w.observe(r)
	}
	if w.err == nil {
		w.buf = appendLine(w.buf, r)
		w.buffered++
		if len(w.buf) >= flushBytes {
			w.flush()
		}
	}
	for i := range r.Texts {
		if cap(r.Texts[i]) > keepText {
			r.Texts[i] = nil
		}
	}
	if cap(r.Events) <= keepEvents {
		w.free.Put(r)
	}
}

func (w *Writer) flush() {
	if len(w.buf) == 0 {
		return
	}
	n, err := w.out.Write(w.buf)
	if err != nil {
		w.err = err
		w.buffered = bytes.Count(w.buf[:n], []byte{'\n'})
	}
	w.mu.Lock()
	w.stats.Written += w.buffered
	w.stats.Bytes += int64(n)
	w.mu.Unlock()
	w.buf, w.buffered = w.buf[:0], 0
	if cap(w.buf) > keepBytes {
		w.buf = nil
	}
}

// finish ends the file and completes the error.
func (w *Writer) finish() {
	w.flush()
	var closed error
	if w.file != nil {
		closed = w.file.Close()
	}
	if w.err == nil {
		w.err = closed
	}
	if w.err == nil {
		return
	}
	s := w.Stats()
	if missing := s.Records - s.Written; missing > 0 {
		w.err = fmt.Errorf("writing the requests, %d of %d are missing: %w", missing, s.Records, w.err)
		return
	}
	w.err = fmt.Errorf("writing the requests: %w", w.err)
}
