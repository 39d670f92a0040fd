package load

import (
	"container/heap"
	"sync"
)

// alarm wakes the slots of a closed loop that wait for their start or think,
// all of them by one Pacer. It starts with the first that asks.
type alarm struct {
	run    *run
	start  sync.Once
	awake  sync.WaitGroup
	kick   chan struct{} // there is an earlier one, or an end
	mu     sync.Mutex
	queue  sleepers
	closed bool
}

type sleeper struct {
	at   int64
	wake chan struct{} // holds one
}

func newAlarm(r *run) *alarm { return &alarm{run: r, kick: make(chan struct{}, 1)} }

// wait returns true at a moment, and false when there are no more starts
// before. The channel is the caller's own, and holds one.
func (a *alarm) wait(at int64, wake chan struct{}) bool {
	a.start.Do(func() { a.awake.Go(a.ring) })
	a.mu.Lock()
	heap.Push(&a.queue, sleeper{at, wake})
	first := a.queue[0].wake == wake
	a.mu.Unlock()
	if first {
		a.nudge()
	}
	select {
	case <-wake:
		return true
	case <-a.run.starts.Done():
		return false
	}
}

func (a *alarm) nudge() {
	select {
	case a.kick <- struct{}{}:
	default: // it has one to come
	}
}

// ring wakes one after the other.
func (a *alarm) ring() {
	pacer := a.run.pacer(a.run.epoch)
	defer pacer.Close()
	for {
		a.mu.Lock()
		switch {
		case a.closed:
			a.mu.Unlock()
			return
		case len(a.queue) == 0:
			a.mu.Unlock()
			<-a.kick
			continue
		}
		at := a.queue[0].at
		a.mu.Unlock()
		if !pacer.Wait(at, a.kick) {
			continue
		}
		a.mu.Lock()
		for len(a.queue) > 0 && a.queue[0].at <= at {
			heap.Pop(&a.queue).(sleeper).wake <- struct{}{}
		}
		a.mu.Unlock()
	}
}

// close ends the alarm; nobody waits any more.
func (a *alarm) close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.nudge()
	a.awake.Wait()
}

// sleepers are a heap, the earliest first.
type sleepers []sleeper

func (s sleepers) Len() int           { return len(s) }
func (s sleepers) Less(i, j int) bool { return s[i].at < s[j].at }
func (s sleepers) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *sleepers) Push(x any)        { *s = append(*s, x.(sleeper)) }
func (s *sleepers) Pop() any {
	old := *s
	last := old[len(old)-1]
	*s = old[:len(old)-1]
	return last
}
