package record

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// readAll gives the index of each record in a file, by how often it is there.
func readAll(t *testing.T, in io.Reader) map[int]int {
	t.Helper()
	rd, seen := NewReader(in), map[int]int{}
	var r Record
	for {
		err := rd.Next(&r)
		if err == io.EOF {
			return seen
		}
		require.NoError(t, err)
		seen[r.Index]++
	}
}

func TestWriterLosesNothing(t *testing.T) {
	const senders, each = 64, 200
	path := filepath.Join(t.TempDir(), "requests.jsonl")
	observed := 0
	w, err := Create(path, func(r *Record) {
		require.Len(t, r.Events, r.Index%50) // not yet used again
		observed++
	})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				r := w.Get()
				require.Equal(t, Absent, r.Done)
				require.Empty(t, r.Events)
				r.Index = s*each + i
				for range r.Index % 50 {
					r.Events = append(r.Events, Event{At: int64(i), Kind: KindAnswer})
				}
				w.Put(r)
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	require.Equal(t, senders*each, observed)

	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	seen := readAll(t, f)
	require.Len(t, seen, senders*each)
	info, err := f.Stat()
	require.NoError(t, err)
	s := w.Stats()
	require.Equal(t, WriterStats{Records: senders * each, Written: senders * each, Bytes: info.Size(), HighWater: s.HighWater}, s)
	require.Panics(t, func() { w.Put(w.Get()) })
}

func TestCreateFails(t *testing.T) {
	_, err := Create(filepath.Join(t.TempDir(), "no", "folder"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// gate is a disk that stalls until it is opened.
type gate struct {
	open chan struct{}
	mu   sync.Mutex
	bytes.Buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Buffer.Write(p)
}

func (g *gate) size() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.Len()
}

// A stalled disk takes no time from who hands records over: the clock of the
// bubble would only move if Put waited.
func TestPutDoesNotWaitForTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		w := NewWriter(g, nil)
		put := func(i int) {
			r := w.Get()
			r.Index = i
			w.Put(r)
		}
		put(0)
		time.Sleep(2 * flushEvery) // the writer now waits in its first flush
		synctest.Wait()
		start := time.Now()
		for i := range 10_000 {
			put(i + 1)
		}
		require.Zero(t, time.Since(start))
		require.Equal(t, 10_000, w.Stats().HighWater)
		require.Zero(t, w.Stats().Written)
		close(g.open)
		require.NoError(t, w.Close())
		require.Len(t, readAll(t, &g.Buffer), 10_001)
	})
}

func TestWriterFlushesEachSecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		close(g.open)
		var seen atomic.Int64
		w := NewWriter(g, func(*Record) { seen.Add(1) })
		for range 3 {
			before := g.size()
			w.Put(w.Get())
			time.Sleep(flushEvery / 2)
			w.Put(w.Get()) // does not put the flush off
			synctest.Wait()
			require.Equal(t, before, g.size())
			time.Sleep(flushEvery / 2)
			synctest.Wait()
			require.Greater(t, g.size(), before)
			time.Sleep(10 * flushEvery)
		}
		require.EqualValues(t, 6, seen.Load())
		require.Equal(t, 6, w.Stats().Written)
		require.NoError(t, w.Close())
	})
}

// A large backlog behind a slow observer is flushed each second all the same.
func TestWriterFlushesWithinABacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &gate{open: make(chan struct{})}
		close(g.open)
		w := NewWriter(g, func(*Record) { time.Sleep(300 * time.Millisecond) })
		for range 100 {
			w.Put(w.Get())
		}
		time.Sleep(1500 * time.Millisecond)
		synctest.Wait()
		require.Positive(t, g.size())
		require.NoError(t, w.Close())
	})
}

// fullDisk takes a number of bytes and then fails for good.
type fullDisk struct {
	left  int
	fails int
	bytes.Buffer
}

var errFull = errors.New("no space left on device")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(d.left, len(p))
	d.left -= n
	d.Buffer.Write(p[:n])
	if n < len(p) {
		d.fails++
		return n, errFull
	}
	return n, nil
}

func TestWriterReportsAFullDiskOnce(t *testing.T) {
	line := len(appendLine(nil, full()))
	disk := &fullDisk{left: 200*line + line/2} // the 201st line is cut
	observed := 0
	w := NewWriter(disk, func(*Record) { observed++ })
	const records = 1000
	for range records {
		r := w.Get()
		*r = *full()
		w.Put(r)
	}
	err := w.Close()
	require.ErrorIs(t, err, errFull)
	require.EqualError(t, err, "writing the requests, 800 of 1000 are missing: no space left on device")
	require.Equal(t, err, w.Close())
	require.Equal(t, 1, disk.fails, "no write after the one that failed")
	require.Equal(t, records, observed, "the result is complete all the same")
	require.Equal(t, 200, w.Stats().Written)

	rd := NewReader(&disk.Buffer)
	var r Record
	for range 200 {
		require.NoError(t, rd.Next(&r))
	}
	require.ErrorIs(t, rd.Next(&r), ErrTorn)
}

func TestHugeRecordsAreNotKept(t *testing.T) {
	w := NewWriter(io.Discard, nil)
	for range 10 {
		r := w.Get()
		require.LessOrEqual(t, cap(r.Events), keepEvents)
		r.Events = make([]Event, keepEvents+1)
		w.Put(r)
	}
	require.NoError(t, w.Close())
	require.LessOrEqual(t, cap(w.buf), keepBytes)
}

// What the observer finds out is in the line, and texts are not.
func TestWriterObservesBeforeItWrites(t *testing.T) {
	var file bytes.Buffer
	w := NewWriter(&file, func(r *Record) {
		r.OutputTokens, r.OutputSource = int64(len(r.Texts[0])), SourceTokenizer
	})
	texts := [][]byte{[]byte("seven b"), []byte("x")}
	for range 3 { // a record that is used again keeps nothing of the one before
		r := w.Get()
		require.Empty(t, r.Texts)
		require.False(t, r.WholeText)
		r.KeepTexts(texts, true)
		texts[0][0] = 'S' // a copy was kept
		w.Put(r)
		texts = append(texts, make([]byte, 2*keepText))
	}
	require.NoError(t, w.Close())
	require.NotContains(t, file.String(), "even b")
	rd := NewReader(&file)
	var r Record
	for range 3 {
		require.NoError(t, rd.Next(&r))
		require.EqualValues(t, 7, r.OutputTokens)
		require.Equal(t, SourceTokenizer, r.OutputSource)
	}
}
