package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// ErrPadded is the cause of the end of a padding request that was still in
// flight when the last measured one had ended.
var ErrPadded = errors.New("padding: the last measured request has ended")

// PaddingASlot bounds the padding: as many requests for each slot, however
// long the last measured request takes.
const PaddingASlot = 4

// steady keeps both ends of a closed loop out of its plan. At the start all
// slots send at once, which no later request meets; at the end, each slot that
// has nothing more to do makes the others' requests faster.
type steady struct {
	ready    int64 // when the last slot of all shards starts
	most     int64 // padding requests
	starting atomic.Int64
	padded   atomic.Int64
	flying   atomic.Int64 // measured requests under way
	first    sync.Once    // the first of them

	pads   context.Context // of the padding
	enough context.CancelCauseFunc
}

func newSteady(r *run, up RampUp, all, mine int) *steady {
	s := &steady{ready: r.report.Start + int64(up.start(all-1, all)), most: int64(mine) * PaddingASlot}
	s.pads, s.enough = context.WithCancelCause(r.hard)
	r.from.Store(Never)
	return s
}

// next gives the slot's k-th turn its part of the load and its position in it.
func (l *closed) next(t *Turn, k int) (n int, ok bool) {
	t.Part = Measured
	s := l.steady
	if s == nil {
		return l.claim()
	}
	if k == 0 || t.Scheduled < s.ready {
		t.Part = Starting
		if l.exhausted.Load() || l.stop.Err() != nil {
			return 0, false
		}
		return int(s.starting.Add(1)) - 1, true
	}
	s.flying.Add(1)
	s.first.Do(func() {
		l.from.Store(t.Ready)
		if l.Duration > 0 {
			l.watch.Go(l.pastDuration)
		}
	})
	return l.claim()
}

// ended says that a turn has, or that nothing was sent. No measured request
// starts when starts is done, so that the last one to end ends the padding.
func (l *closed) ended(t *Turn, sent bool) {
	s := l.steady
	switch {
	case s == nil:
	case t.Part == Starting && !sent:
		s.starting.Add(-1)
	case t.Part == Measured && s.flying.Add(-1) == 0 && l.starts.Err() != nil:
		s.enough(ErrPadded)
	}
}

// pad keeps a slot busy that has no more of the plan to send, while others have.
func (l *closed) pad(t *Turn, do Do) {
	s := l.steady
	if s == nil {
		return
	}
	for s.flying.Load() > 0 && s.padded.Load() < s.most && s.pads.Err() == nil && l.stop.Err() == nil && !l.exhausted.Load() {
		waited, ok := l.gate.again(s.pads.Done(), nil)
		if !ok {
			return
		}
		t.Part, t.Index, t.first = Padding, l.index(int(s.padded.Add(1))-1), false
		t.Wait, t.More = s.pads, s.pads
		t.Scheduled = l.now()
		t.Ready = t.Scheduled
		if waited {
			t.Ready = l.now()
		}
		sent := do(s.pads, t)
		t.FirstToken()
		if !sent {
			s.padded.Add(-1)
			return
		}
	}
}

// close says what was sent beside the plan.
func (s *steady) close(out *Report) {
	if s == nil {
		return
	}
	s.enough(nil)
	out.Starting, out.Padded = int(s.starting.Load()), int(s.padded.Load())
}

// pastDuration says when the plan's duration has passed: there may be no slot
// that is free then.
func (l *closed) pastDuration() {
	end := l.from.Load() + int64(l.Duration)
	if l.pass(time.Duration(end - l.now())) {
		l.over(end)
		l.expire()
	}
}
