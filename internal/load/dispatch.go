package load

import (
	"slices"
	"sync"
)

// dispatcher gives arrivals to slots. The lock is taken for a few instructions
// at a start, at a first token that somebody waits for, and at an end.
type dispatcher struct {
	*run
	bound  int
	policy Policy
	do     Do
	lead   int64 // how long before it is due an arrival is given to its slot, which waits for the rest awake
	wake   lags

	// What only feed touches.
	offered                   int
	firstArrival, lastArrival int64

	working sync.WaitGroup
	mu      sync.Mutex
	workers []*worker
	idle    []*worker // the one that became free last is at the end
	queue   []job     // of arrivals that wait
	head    int       // of the queue
	flying  int       // requests in flight
	waiting int       // of them, those without a first token
	turns   []*later  // further requests in a turn, which wait for their place among those
	dropped int
	ending  bool          // there are no more arrivals
	quiet   chan struct{} // closed when the last request has ended
}

// job is an arrival that is due, or will be in no more than the lead.
type job struct {
	arrival    Arrival
	due, ready int64
}

// later is a further request in a turn, see [Turn.Again].
type later struct {
	at    int64         // when it asked
	enter chan struct{} // closed when it has its place
}

// worker is a slot: a goroutine that sends one request at a time.
type worker struct {
	turn Turn
	jobs chan job // holds one, so that who gives it does not wait
}

// offer starts an arrival, or lets it wait, or drops it. Which of them is settled
// the lead ahead of its time.
func (d *dispatcher) offer(a Arrival, due int64) {
	if d.offered == 0 {
		d.firstArrival = due
	}
	d.offered++
	d.lastArrival = due
	d.mu.Lock()
	var w *worker
	switch {
	case d.queued() == 0 && d.admits():
		w = d.take()
	case d.policy == Drop && d.bound > 0 && d.flying+d.queued() >= d.bound:
		d.dropped++
	default:
		d.queue = append(d.queue, job{a, due, due})
	}
	d.mu.Unlock()
	if w != nil {
		w.jobs <- job{a, due, due}
	}
}

func (d *dispatcher) queued() int { return len(d.queue) - d.head }

// admits says whether one more request may start.
func (d *dispatcher) admits() bool {
	if d.exhausted.Load() || d.stop.Err() != nil || d.hard.Err() != nil {
		return false
	}
	return (d.bound <= 0 || d.flying < d.bound) && (d.FirstTokens <= 0 || d.waiting < d.FirstTokens)
}

// take counts a start, and gives a slot for it: the one that became free last,
// whose connection is the most likely to be alive.
func (d *dispatcher) take() *worker {
	d.flying++
	d.waiting++
	if n := len(d.idle); n > 0 {
		w := d.idle[n-1]
		d.idle = d.idle[:n-1]
		return w
	}
	w := &worker{jobs: make(chan job, 1)}
	w.turn = Turn{Slot: len(d.workers), last: Never}
	if d.FirstTokens > 0 {
		w.turn.permit = d
	}
	d.workers = append(d.workers, w)
	d.working.Go(func() { d.work(w) })
	return w
}

// work sends what the worker is given, and what waits when it has ended.
func (d *dispatcher) work(w *worker) {
	defer d.leave(&w.turn)
	for j := range w.jobs {
		for more := true; more; {
			for d.now() < j.ready { // at most the lead
			}
			t := &w.turn
			t.Index, t.Item, t.first = j.arrival.Index, j.arrival.Item, false
			t.Scheduled, t.Ready = j.due, j.ready
			_, sent := d.call(d.do, t)
			t.Item = nil
			j, more = d.free(w, sent)
		}
	}
}

// free counts the end of a request, and gives the slot the next one that waits.
func (d *dispatcher) free(w *worker, sent bool) (job, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.flying--
	if !w.turn.first || d.FirstTokens <= 0 {
		d.waiting--
	}
	d.enterTurns()
	if d.queued() > 0 && d.admits() {
		d.flying++
		d.waiting++
		return d.shift(), true
	}
	d.idle = append(d.idle, w)
	if d.exhausted.Load() {
		d.discard()
	}
	if d.ending && d.flying == 0 && d.queued() == 0 {
		close(d.quiet)
	}
	return job{}, false
}

// firstToken implements [permit]: the next one that waits may start.
func (d *dispatcher) firstToken() {
	d.mu.Lock()
	d.waiting--
	d.enterTurns()
	var w *worker
	var j job
	if d.queued() > 0 && d.admits() {
		j = d.shift()
		w = d.take()
	}
	d.mu.Unlock()
	if w != nil {
		w.jobs <- j
	}
}

// again implements [permit]: a further request in a turn has its slot, and
// takes its place in the order of time, among arrivals too.
func (d *dispatcher) again(one, other <-chan struct{}) (waited, ok bool) {
	d.mu.Lock()
	l := &later{at: d.now(), enter: make(chan struct{})}
	d.turns = append(d.turns, l)
	d.enterTurns()
	d.mu.Unlock()
	select {
	case <-l.enter:
		return false, true
	default:
	}
	select {
	case <-l.enter:
		return true, true
	case <-one:
	case <-other:
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.turns, l); i >= 0 {
		d.turns = slices.Delete(d.turns, i, i+1)
		return true, false
	}
	return true, true // it has come in just now
}

// enterTurns lets those in which there is room for, unless an arrival that may
// start is due before them.
func (d *dispatcher) enterTurns() {
	for len(d.turns) > 0 && (d.FirstTokens <= 0 || d.waiting < d.FirstTokens) {
		if d.queued() > 0 && d.queue[d.head].due < d.turns[0].at && d.admits() {
			return
		}
		close(d.turns[0].enter)
		d.turns = d.turns[1:]
		d.waiting++
	}
}

// shift takes the first of the queue, which may start now.
func (d *dispatcher) shift() job {
	j := d.queue[d.head]
	j.ready = max(j.due, d.now())
	d.queue[d.head] = job{}
	if d.head++; d.head == len(d.queue) {
		d.queue, d.head = d.queue[:0], 0
	} else if d.head > len(d.queue)/2 && d.head > 1024 {
		// The part that is used up does not grow without end.
		d.queue = d.queue[:copy(d.queue, d.queue[d.head:])]
		d.head = 0
	}
	return j
}

// discard forgets those who wait.
func (d *dispatcher) discard() {
	d.queue, d.head = nil, 0
}

// finish waits for the end of what is in flight, and of what waits.
func (d *dispatcher) finish() {
	d.mu.Lock()
	d.ending = true
	if d.exhausted.Load() {
		d.discard()
	}
	if d.flying == 0 && d.queued() == 0 {
		close(d.quiet)
	}
	d.mu.Unlock()
	select {
	case <-d.quiet:
	case <-d.stop.Done():
		d.giveBack()
	case <-d.hard.Done():
		d.giveBack()
	}
	for _, w := range d.workers {
		close(w.jobs)
	}
	d.working.Wait()
}

// giveBack forgets those who wait, and waits for what is in flight.
func (d *dispatcher) giveBack() {
	d.mu.Lock()
	d.discard()
	quiet := d.flying == 0
	d.mu.Unlock()
	if !quiet {
		<-d.quiet
	}
}
