package load

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// service answers each request of a load, and keeps a log of it by index.
type service struct {
	epoch time.Time
	first func(i int) time.Duration // from the start to the first token; nil means none is told
	takes func(i int) time.Duration // from the start to the end
	limit int                       // index from which there are no more requests; 0 means none

	mu      sync.Mutex
	log     map[int]entry
	items   []any
	slots   map[int]bool // that are in use
	flying  int
	waiting int // for their first token
	peak    int
	most    int // that waited for their first token at once
	bad     []string
}

func (s *service) count(flying, waiting int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying, s.waiting = s.flying+flying, s.waiting+waiting
	s.peak, s.most = max(s.peak, s.flying), max(s.most, s.waiting)
}

func (s *service) do(ctx context.Context, t *Turn) bool {
	if s.limit > 0 && t.Index >= s.limit {
		return false
	}
	x := entry{slot: t.Slot, due: t.Scheduled, sent: int64(time.Since(s.epoch))}
	s.mu.Lock()
	if s.slots == nil {
		s.slots, s.log = map[int]bool{}, map[int]entry{}
	}
	if s.slots[t.Slot] {
		s.bad = append(s.bad, "a slot was used twice at once")
	}
	if _, ok := s.log[t.Index]; ok {
		s.bad = append(s.bad, "an index was sent twice")
	}
	s.slots[t.Slot] = true
	s.log[t.Index] = entry{}
	s.items = append(s.items, t.Item)
	s.mu.Unlock()
	s.count(1, 1)
	left, told := s.takes(t.Index), false
	if s.first != nil {
		if x.err = wait(ctx, s.first(t.Index)); x.err == nil {
			s.count(0, -1)
			told = true
			t.FirstToken()
			t.FirstToken()
			left -= s.first(t.Index)
		}
	}
	if x.err == nil {
		x.err = wait(ctx, left)
	}
	x.done = int64(time.Since(s.epoch))
	s.mu.Lock()
	s.slots[t.Slot] = false
	s.log[t.Index] = x
	s.mu.Unlock()
	if told {
		s.count(-1, 0)
	} else {
		s.count(-1, -1)
	}
	return true
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Every process: the requests are due and sent at exactly the seeded plan.
func TestOpenFollowsThePlan(t *testing.T) {
	for _, p := range []Process{Constant{}, Poisson{}, Gamma{Shape: 0.3}} {
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			time.Sleep(time.Minute) // the epoch lies before the load
			r := rand.New(rand.NewPCG(1, 2))
			takes := make([]time.Duration, 5000)
			for i := range takes {
				takes[i] = time.Duration(r.Int64N(int64(sec)))
			}
			s := &service{epoch: epoch, takes: func(i int) time.Duration { return takes[i] }}
			rate := Sine{Mean: 50, Amplitude: 40, Period: 7 * sec, Duration: time.Hour}
			got := OpenLoop{Options: Options{Requests: len(takes)}, Schedule: Arrivals(p, rate, 9)}.Run(t.Context(), epoch, s.do)
			want := plan(Arrivals(p, rate, 9), len(takes))
			for i, at := range want {
				due := 60*second + int64(at)
				require.Equal(t, entry{slot: s.log[i].slot, due: due, sent: due, done: due + int64(takes[i])}, s.log[i])
			}
			require.Empty(t, s.bad)
			require.Equal(t, ReasonComplete, got.Reason)
			require.Equal(t, []int{5000, 5000, 5000, 0, 0}, []int{got.Planned, got.Offered, got.Started, got.Dropped, got.Unsent})
			require.Equal(t, 60*second, got.Start)
			require.Equal(t, 60*second+int64(want[4999]), got.LastStart)
			require.Equal(t, Lag{Count: 5000}, got.Wake)
			require.Equal(t, Lag{Count: 5000}, got.Late)
			require.Equal(t, got.AskedRate, got.Rate)
			require.Equal(t, rate2(want), got.Rate)
			require.LessOrEqual(t, got.Slots, s.peak+3, "slots are used again")
		})
	}
}

func rate2(x []time.Duration) float64 { return rate(len(x), int64(x[0]), int64(x[len(x)-1])) }

// A server that answers in 0.1 s, 10 requests a second, and nothing at all from
// 1 s to 3 s. Without a bound all start on time.
func stalled(epoch time.Time) *service {
	return &service{epoch: epoch, takes: func(int) time.Duration {
		now := time.Since(epoch)
		if now >= sec && now < 3*sec {
			return 3*sec - now + 100*time.Millisecond
		}
		return 100 * time.Millisecond
	}}
}

func TestOpenThroughAStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := stalled(epoch)
		load := OpenLoop{Options: Options{Duration: 5 * sec}, Schedule: Arrivals(Constant{}, Level(10), 0)}
		got := load.Run(t.Context(), epoch, s.do)
		require.Equal(t, 50, got.Started)
		require.Equal(t, ReasonDuration, got.Reason)
		for i, x := range s.log {
			require.Equal(t, int64(i)*second/10, x.due)
			require.Equal(t, x.due, x.sent)
		}
		require.Equal(t, 3*second+second/10, s.log[10].done)
		require.Equal(t, 3*second+second/10, s.log[29].done)
		// Those of 1.0 to 3.0 s, and that of 3.1 s when it comes before their ends.
		require.InDelta(t, 21.5, s.peak, 0.5)
		require.Equal(t, 5*second, got.End, "the last arrival is that of 4.9 s")
	})
}

// With a bound of 5 the wait shows between Scheduled and Sent, which stays that
// of the arrival; when the queue is worked off requests start on time again.
// From 3.1 s there are 5 starts every 0.1 s, and 1 new arrival: the 15 + 1 that
// wait are worked off in 4 rounds.
func TestOpenQueuesAtTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := stalled(epoch)
		load := OpenLoop{Options: Options{Duration: 5 * sec}, Schedule: Arrivals(Constant{}, Level(10), 0), InFlight: 5}
		got := load.Run(t.Context(), epoch, s.do)
		require.Equal(t, []int{50, 50, 0, 0, 5}, []int{got.Offered, got.Started, got.Dropped, got.Unsent, got.Slots})
		for i, x := range s.log {
			require.Equal(t, int64(i)*second/10, x.due, "never re-anchored")
			switch {
			case i < 15 || i >= 36:
				require.Equal(t, x.due, x.sent, i)
			default:
				require.Equal(t, int64(31+(i-15)/5)*second/10, x.sent, i)
			}
		}
		require.Equal(t, 5, s.peak)
		require.Equal(t, Lag{Count: 50}, got.Wake, "this machine was never late")
		require.Equal(t, Lag{Count: 50}, got.Late)
		require.Equal(t, 19, got.Waited.Count, "those of 1.5 to 3.3 s")
		require.Equal(t, 1600*time.Millisecond, got.Waited.Max, "that of 1.5 s started at 3.1 s")
	})
}

// The same bound with Drop: those of 1.5 s to 3.0 s are not sent (that of 3.1 s
// may come just before or just after the ends at 3.1 s).
func TestOpenDropsAtTheBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := stalled(epoch)
		load := OpenLoop{Options: Options{Requests: 50}, Schedule: Arrivals(Constant{}, Level(10), 0), InFlight: 5, Policy: Drop}
		got := load.Run(t.Context(), epoch, s.do)
		require.Equal(t, 50, got.Offered)
		require.Equal(t, got.Dropped, got.Offered-got.Started)
		require.InDelta(t, 16.5, got.Dropped, 0.5)
		require.Equal(t, ReasonComplete, got.Reason)
		for i, x := range s.log {
			require.Equal(t, int64(i)*second/10, x.sent)
			require.True(t, i < 15 || i > 30, i)
		}
	})
}

// A late dispatcher: what is overdue starts at once, in order, as it was due.
func TestOpenIsNeverReanchored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(0)}
		i := -1
		read := func() (time.Duration, any, bool) {
			if i++; i == 10 {
				time.Sleep(5 * sec) // the trace is slow to come
			}
			return time.Duration(i) * sec, i, i < 30
		}
		got := OpenLoop{Schedule: &Replay{Read: read}}.Run(t.Context(), epoch, s.do)
		for i, x := range s.log {
			require.Equal(t, int64(i)*second, x.due)
			if i >= 10 && i < 14 {
				require.Equal(t, 14*second, x.sent)
			} else {
				require.Equal(t, x.due, x.sent)
			}
		}
		require.Equal(t, ReasonExhausted, got.Reason)
		require.Equal(t, 30, got.Started)
		require.Equal(t, 4*sec, got.Wake.Max)
		require.Len(t, s.items, 30)
		require.Contains(t, s.items, 17)
	})
}

// A process that comes late to the start that others share sends what it has
// missed at once, and moves nothing; one that is ahead of it counts from now.
func TestOpenStartsWithOthers(t *testing.T) {
	for start, want := range map[time.Duration]time.Duration{70 * time.Millisecond: 70 * time.Millisecond, time.Minute: 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			s := &service{epoch: epoch, takes: always(0)}
			time.Sleep(100 * time.Millisecond)
			l := OpenLoop{Options: Options{Requests: 5, Start: int64(start)}, Schedule: Arrivals(Constant{}, Level(100), 0)}
			require.Equal(t, int64(want), l.Run(t.Context(), epoch, s.do).Start)
			for i := range 5 {
				due := want + time.Duration(i)*10*time.Millisecond
				require.Equal(t, int64(due), s.log[i].due)
				require.Equal(t, int64(max(due, 100*time.Millisecond)), s.log[i].sent)
			}
		})
	}
}

// Arrivals every 0.1 s that take 0.35 s: until the last of 50 starts at 4.9 s, 46
// are in flight for all of it, and the others for 0.3, 0.2, 0.1 and 0 s.
func TestOpenConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &service{epoch: time.Now(), takes: always(350 * time.Millisecond)}
		got := OpenLoop{Options: Options{Requests: 50}, Schedule: Arrivals(Constant{}, Level(10), 0)}.Run(t.Context(), s.epoch, s.do)
		require.InDelta(t, (46*0.35+0.6)/4.9, got.Concurrency, 1e-9)
		require.Zero(t, got.AskedConcurrency)
		require.InDelta(t, 10, got.Rate, 1e-9)
	})
}

// On a real clock nothing is early, and nothing lost.
func TestOpenOnARealClock(t *testing.T) {
	s := &service{epoch: time.Now(), takes: always(time.Millisecond)}
	got := OpenLoop{Options: Options{Requests: 200}, Schedule: Arrivals(Poisson{}, Level(2000), 0), InFlight: 20}.Run(t.Context(), s.epoch, s.do)
	require.Equal(t, 200, got.Started)
	require.Empty(t, s.bad)
	for _, x := range s.log {
		require.GreaterOrEqual(t, x.sent, x.due)
	}
}

// A trace that ends while some of it waits: they are sent, unless a stop comes.
func TestReplayEndsWithAQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for stop, want := range map[time.Duration][]int{time.Hour: {20, 0}, 2*sec + 1: {6, 14}} {
			reason := ReasonExhausted
			if stop < time.Hour {
				reason = ReasonStopped
			}
			ctx, cancel := context.WithTimeout(t.Context(), stop)
			epoch := time.Now()
			s := &service{epoch: epoch, takes: always(sec)}
			i := -1
			read := func() (time.Duration, any, bool) { i++; return 0, nil, i < 20 }
			got := OpenLoop{Options: Options{Grace: sec}, Schedule: &Replay{Read: read}, InFlight: 2}.Run(ctx, epoch, s.do)
			cancel()
			require.Equal(t, want, []int{got.Started, got.Unsent})
			require.Equal(t, reason, got.Reason)
			require.Equal(t, int64(want[0]/2)*second, got.End)
		}
	})
}

// The end of a profile ends the load at its time.
func TestOpenEndsWithItsProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(0)}
		got := OpenLoop{Schedule: Arrivals(Constant{}, Stages{{sec, 4, 4}, {sec, 0, 0}}, 0)}.Run(t.Context(), epoch, s.do)
		require.Equal(t, 4, got.Started)
		require.Equal(t, ReasonDuration, got.Reason)
		require.Equal(t, 2*second, got.End)
		require.Equal(t, 4.0, got.Rate)
	})
}

func TestOpenExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(10 * sec), limit: 7}
		got := OpenLoop{Options: Options{Requests: 100}, Schedule: Arrivals(Constant{}, Level(1), 0)}.Run(t.Context(), epoch, s.do)
		require.Equal(t, []int{100, 8, 7, 1}, []int{got.Planned, got.Offered, got.Started, got.Unsent})
		require.Equal(t, ReasonExhausted, got.Reason)
		require.Equal(t, 16*second, got.End)
		// With others that wait: they find nothing either.
		s = &service{epoch: epoch, takes: always(10 * sec), limit: 7}
		got = OpenLoop{Options: Options{Requests: 20}, Schedule: Arrivals(Constant{}, Level(10), 0), InFlight: 3}.Run(t.Context(), epoch, s.do)
		require.Equal(t, []int{20, 7, 13}, []int{got.Offered, got.Started, got.Unsent})
		require.Equal(t, ReasonExhausted, got.Reason)
	})
}

// A stop: who waits does not start, who is in flight has the grace.
func TestOpenStops(t *testing.T) {
	for _, early := range []bool{true, false} { // before the last arrival, and after it
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 10*sec+1)
			defer cancel()
			s := &service{epoch: epoch, takes: always(4 * sec)}
			o := OpenLoop{Options: Options{Grace: sec, Requests: 1000}, Schedule: Arrivals(Constant{}, Level(2), 0), InFlight: 3}
			if !early {
				o.Requests = 20
			}
			got := o.Run(ctx, epoch, s.do)
			// 3 at 0, 0.5 and 1 s, and each 4 s later.
			require.Equal(t, 9, got.Started)
			require.Equal(t, got.Offered-9, got.Unsent)
			require.Equal(t, ReasonStopped, got.Reason)
			require.True(t, got.GaveUp)
			require.Equal(t, 11*second+1, got.End)
			require.Equal(t, 10*second+1, got.Stop)
			for i, x := range s.log {
				if i < 6 {
					require.NoError(t, x.err)
				} else {
					require.ErrorIs(t, x.err, ErrGaveUp)
				}
			}
		})
	}
}

// The end of the plan, 20 arrivals in 2 s, answers of 1 s by 3 slots: three
// rounds end at 3, 3.1, 3.2 s; with a drain of 0.5 s all ends at 2.5 s.
func TestOpenDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		o := OpenLoop{Options: Options{Duration: 2 * sec}, Schedule: Arrivals(Constant{}, Level(10), 0), InFlight: 3}
		s := &service{epoch: epoch, takes: always(sec)}
		got := o.Run(t.Context(), epoch, s.do)
		require.Equal(t, []int{20, 20, 0}, []int{got.Offered, got.Started, got.Drained})
		require.Equal(t, 7*second+second/10, got.End, "what waits is sent: 3 a second, the 20th from 6.1 s")
		require.Equal(t, ReasonDuration, got.Reason)

		epoch = time.Now()
		s = &service{epoch: epoch, takes: always(sec)}
		o.Schedule = Arrivals(Constant{}, Level(10), 0)
		o.Options.Drain = Drain{Cancel: true, After: 500 * time.Millisecond}
		got = o.Run(t.Context(), epoch, s.do)
		// From 0, 0.1, 0.2, 1.0, 1.1, 1.2, 2.0, 2.1 and 2.2 s.
		require.Equal(t, []int{20, 9, 11, 3}, []int{got.Offered, got.Started, got.Unsent, got.Drained})
		require.Equal(t, 2*second+second/2, got.End)
		require.Equal(t, ReasonDuration, got.Reason)
		require.False(t, got.GaveUp)

		// By requests the plan is over with its last arrival, at 1.9 s.
		byRequests := o
		byRequests.Duration, byRequests.Requests = 0, 20
		byRequests.Schedule = Arrivals(Constant{}, Level(10), 0)
		other := &service{epoch: time.Now(), takes: always(sec)}
		start := time.Now()
		got = byRequests.Run(t.Context(), start, other.do)
		require.Equal(t, []int{20, 9, 11, 3}, []int{got.Offered, got.Started, got.Unsent, got.Drained})
		require.Equal(t, 2*second+second*4/10, got.End)
		require.Equal(t, ReasonComplete, got.Reason)
		for i, x := range s.log {
			if i >= 6 {
				require.ErrorIs(t, x.err, ErrDrained)
			}
		}
	})
}

// Random loads: nothing is lost or sent twice, bounds hold, and each request
// starts when it may.
func TestOpenProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 150 {
		o := OpenLoop{Options: Options{Requests: 1 + r.IntN(300), FirstTokens: r.IntN(6)}, InFlight: r.IntN(12), Policy: Policy(r.IntN(2))}
		if r.IntN(3) == 0 {
			o.Duration = time.Duration(r.Int64N(int64(5 * sec)))
		}
		p := []Process{Constant{}, Poisson{}, Gamma{Shape: 0.2}}[r.IntN(3)]
		rate, seed := Level(1+r.IntN(100)), r.Uint64()
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			s := &service{
				epoch: epoch,
				first: func(i int) time.Duration { return time.Duration(mix(seed^uint64(i)) % 200e6) },
				takes: func(i int) time.Duration { return 200*time.Millisecond + time.Duration(mix(seed+uint64(i))%200e6) },
			}
			o.Schedule = Arrivals(p, rate, seed)
			got := o.Run(t.Context(), epoch, s.do)
			want := plan(Arrivals(p, rate, seed), o.Requests)
			if o.Duration > 0 {
				want = slices.DeleteFunc(want, func(at time.Duration) bool { return at >= o.Duration })
			}
			require.Empty(t, s.bad)
			require.Equal(t, len(want), got.Offered)
			require.Equal(t, len(want), got.Started+got.Dropped)
			require.Zero(t, got.Unsent)
			require.Len(t, s.log, got.Started)
			require.True(t, o.Policy == Drop && o.InFlight > 0 || got.Dropped == 0)
			for i, x := range s.log {
				require.Equal(t, int64(want[i]), x.due)
				require.GreaterOrEqual(t, x.sent, x.due)
				if o.FirstTokens == 0 && (o.InFlight == 0 || o.Policy == Drop) {
					require.Equal(t, x.due, x.sent)
				}
			}
			require.LessOrEqual(t, s.peak, got.Slots)
			if o.InFlight > 0 {
				require.LessOrEqual(t, got.Slots, o.InFlight)
			}
			if o.FirstTokens > 0 {
				require.LessOrEqual(t, s.most, o.FirstTokens)
			}
		})
	}
}

// Shards of an open loop send the whole plan together, each request once.
func TestOpenShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		const n = 3
		var services [n]*service
		var reports [n]Report
		var running sync.WaitGroup
		for i := range n {
			services[i] = &service{epoch: epoch, takes: always(sec)}
			o := OpenLoop{Options: Options{Requests: 1000, Shard: Shard{Index: i, Count: n}}, Schedule: Arrivals(Poisson{}, Level(40), 5)}
			running.Go(func() { reports[i] = o.Run(t.Context(), epoch, services[i].do) })
		}
		running.Wait()
		want := plan(Arrivals(Poisson{}, Level(40), 5), 1000)
		require.Equal(t, []int{334, 333, 333}, []int{reports[0].Started, reports[1].Started, reports[2].Started})
		require.Equal(t, []int{334, 333, 333}, []int{reports[0].Planned, reports[1].Planned, reports[2].Planned})
		for i, at := range want {
			require.Equal(t, int64(at), services[i%n].log[i].sent)
		}
		require.Equal(t, ReasonComplete, reports[2].Reason)
	})
}

// A load that goes on after 61 requests: the next ones have the positions from 61
// on, each in the shard that it is of by that, and the arrivals their own times.
func TestOpenShardsGoOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		const n, first = 3, 61
		var services [n]*service
		var reports [n]Report
		var running sync.WaitGroup
		for i := range n {
			services[i] = &service{epoch: epoch, takes: always(sec)}
			o := OpenLoop{Options: Options{First: first, Requests: 100, Shard: Shard{Index: i, Count: n}}, Schedule: Arrivals(Poisson{}, Level(40), 5)}
			running.Go(func() { reports[i] = o.Run(t.Context(), epoch, services[i].do) })
		}
		running.Wait()
		require.Equal(t, []int{33, 34, 33}, []int{reports[0].Planned, reports[1].Planned, reports[2].Planned}, "61 is shard 1's")
		for i, at := range plan(Arrivals(Poisson{}, Level(40), 5), 100) {
			require.Equal(t, int64(at), services[(first+i)%n].log[first+i].sent)
		}
	})
}

// BenchmarkOpen is the dispatcher's own cost a request, all of them overdue.
func BenchmarkOpen(b *testing.B) {
	for _, bound := range []int{0, 64} {
		b.Run(map[int]string{0: "unbounded", 64: "bounded"}[bound], func(b *testing.B) {
			b.ReportAllocs()
			o := OpenLoop{Options: Options{Requests: max(b.N, 1)}, Schedule: Arrivals(Poisson{}, Level(1e9), 1), InFlight: bound}
			o.Run(b.Context(), time.Now(), func(context.Context, *Turn) bool { return true })
		})
	}
}

// On a real clock arrivals are handed over ahead of their time, and none starts
// before it: not those that waited for a slot either.
func TestHandedOverEarlyNeverSentEarly(t *testing.T) {
	for _, bound := range []int{0, 1} {
		epoch := time.Now()
		var early, started atomic.Int64
		o := OpenLoop{Options: Options{Requests: 300, Pacing: PrecisePacing}, Schedule: Arrivals(Poisson{}, Level(10_000), 1), InFlight: bound}
		got := o.Run(t.Context(), epoch, func(_ context.Context, turn *Turn) bool {
			if now := int64(time.Since(epoch)); now < turn.Scheduled || turn.Ready < turn.Scheduled || now < turn.Ready {
				early.Add(1)
			}
			started.Add(1)
			return true
		})
		require.EqualValues(t, 300, started.Load())
		require.Zero(t, early.Load())
		require.Equal(t, 300, got.Late.Count)
	}
}

// BenchmarkOpenLag prints how late requests start, from arrival to the call of
// Do on the slot's goroutine, with answers of 20 ms.
func BenchmarkOpenLag(b *testing.B) {
	for _, pacing := range []struct {
		name string
		make Pacing
	}{{"timer", TimerPacing}, {"precise", PrecisePacing}} {
		for _, rate := range []Level{100, 1000, 5000} {
			b.Run(fmt.Sprintf("%s/rate=%v", pacing.name, rate), func(b *testing.B) {
				o := OpenLoop{Options: Options{Requests: b.N, Pacing: pacing.make}, Schedule: Arrivals(Poisson{}, rate, 1)}
				got := o.Run(b.Context(), time.Now(), func(context.Context, *Turn) bool {
					time.Sleep(20 * time.Millisecond)
					return true
				})
				reportLag(b, "wake-", got.Wake)
				reportLag(b, "start-", got.Late)
			})
		}
	}
}
