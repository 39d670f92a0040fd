package perftest

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/record"
)

// watchAll watches the requests of all shards for shard 0, as their files grow
// in its folder, in goroutines that no sender and no writer ever waits for. One of
// them reads at a time: it is one processor of the client's at the most.
//
// A record that is late is to it what a request in flight is to the watch of one
// process: not known yet, and taken to keep every objective. So it decides by that
// very rule, of all that is planned, in whatever order records come. It keeps a
// sample of each request, as the merged result does, and gives them up with the
// run.
type watchAll struct {
	ended chan struct{}
	turn  chan struct{} // holds one: who reads
	work  sync.WaitGroup

	mu    sync.Mutex
	watch watch
	seen  *collector
}

// lookEvery is how often a file is looked at that has not grown.
const lookEvery = 200 * time.Millisecond

// newWatchAll follows the files of shards whose epochs are so long after shard
// 0's.
func newWatchAll(w watch, files []string, epochs []time.Duration) *watchAll {
	all := &watchAll{ended: make(chan struct{}), turn: make(chan struct{}, 1), watch: w, seen: newCollector()}
	for i, file := range files {
		all.work.Go(func() { all.follow(file, epochs[i]) })
	}
	return all
}

// watchShards starts the watch of all shards, where this is the first of them.
func (d *driver) watchShards() {
	root := d.root()
	if root == nil || len(d.scenario.SLOs) == 0 {
		return
	}
	epochs := root.Epochs()
	files := make([]string, len(epochs))
	for i := range files {
		files[i] = filepath.Join(d.whole, partsDir, strconv.Itoa(i), requestsFile)
	}
	d.all = newWatchAll(d.watch, files, epochs)
}

// follow takes in what a file says, until it cannot be read any more: what it
// would have said is then as late as can be.
func (a *watchAll) follow(name string, epoch time.Duration) {
	if touch(name) != nil {
		return
	}
	f, err := os.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	a.turn <- struct{}{}
	defer func() { <-a.turn }()
	in := record.NewReader(&growing{f, a})
	in.WithoutEvents = true // no objective that is looked at is about them
	var rec record.Record
	for rec.Reset(); in.Next(&rec) == nil; rec.Reset() {
		rec.Shift(int64(epoch))
		if !a.add(&rec) {
			return
		}
	}
}

// add takes a request in, and reports whether more matter.
func (a *watchAll) add(rec *record.Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watch.why != "" {
		return false
	}
	a.seen.add(rec)
	a.watch.look(a.seen)
	return a.watch.why == ""
}

// plans tells it how many requests are planned in all.
func (a *watchAll) plans(n int) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.watch.planned = n
}

// close ends it, and gives the first objective that was lost, with why; empty
// when none was.
func (a *watchAll) close() string {
	if a == nil {
		return ""
	}
	select {
	case <-a.ended:
	default:
		close(a.ended)
	}
	a.work.Wait()
	a.seen = newCollector() // gives its samples up
	return a.watch.why
}

// growing is a file that is being written: at its end more is waited for. Who
// reads it has the turn, and gives it to the others here.
type growing struct {
	file *os.File
	of   *watchAll
}

func (g *growing) Read(p []byte) (n int, err error) {
	<-g.of.turn
	defer func() { g.of.turn <- struct{}{} }()
	for {
		select {
		case <-g.of.ended: // what is left matters no more
			return 0, io.EOF
		default:
		}
		if n, err = g.file.Read(p); n > 0 || err != io.EOF {
			return n, err
		}
		select {
		case <-g.of.ended:
		case <-time.After(lookEvery):
		}
	}
}
