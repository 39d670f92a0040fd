package load

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const second = int64(time.Second)

// entry is one request of a log: its slot, when it was due, and when it was
// sent and done.
type entry struct {
	slot            int
	due, sent, done int64
	err             error
}

// server answers each request after a time, and keeps a log.
type server struct {
	epoch time.Time
	takes func(i int) time.Duration // of the i-th request, from 0
	limit int                       // requests that there are; 0 means no limit
	begun atomic.Int64
	mu    sync.Mutex
	log   []entry
}

func (s *server) send(ctx context.Context, slot int, due int64) bool {
	i := int(s.begun.Add(1)) - 1
	if s.limit > 0 && i >= s.limit {
		return false
	}
	x := entry{slot: slot, due: due, sent: int64(time.Since(s.epoch))}
	t := time.NewTimer(s.takes(i))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		x.err = context.Cause(ctx)
	}
	x.done = int64(time.Since(s.epoch))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = append(s.log, x)
	return true
}

func always(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

// requireReport compares when and why a load began and ended.
func requireReport(t *testing.T, want, got Report) {
	t.Helper()
	if diff := cmp.Diff(want, Report{
		Started: got.Started, Reason: got.Reason, GaveUp: got.GaveUp,
		Start: got.Start, LastStart: got.LastStart, Stop: got.Stop, End: got.End,
	}); diff != "" {
		t.Fatalf("report (-want +got):\n%s", diff)
	}
}

// 20 slots, answers of 0.74 s: round k is due, sent and done at exactly
// 0.74*k, 0.74*k and 0.74*(k+1) seconds, in every slot.
func TestClosedLeavesNoGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slots, rounds, answer = 20, 50, 740 * int64(time.Millisecond)
		s := &server{epoch: time.Now(), takes: always(time.Duration(answer))}
		got := plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: slots, Requests: slots * rounds}, time.Second, s.send)
		requireReport(t, Report{
			Started: slots * rounds, Reason: ReasonComplete, Stop: Never,
			LastStart: (rounds - 1) * answer, End: rounds * answer,
		}, got)
		require.Len(t, s.log, slots*rounds)
		round := make([]int64, slots)
		for _, x := range s.log {
			k := round[x.slot]
			require.Equal(t, entry{slot: x.slot, due: k * answer, sent: k * answer, done: (k + 1) * answer}, x)
			round[x.slot]++
		}
	})
}

// With answers of any length the concurrency is what was asked until the last
// request has started: the next is due and sent the moment one ends.
func TestClosedKeepsConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(1, 2))
		takes := make([]time.Duration, 2000)
		for i := range takes {
			takes[i] = time.Duration(r.Int64N(int64(time.Second)))
		}
		epoch := time.Now()
		time.Sleep(time.Minute) // the epoch lies before the run
		s := &server{epoch: epoch, takes: func(i int) time.Duration { return takes[i] }}
		got := plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 7, Requests: len(takes)}, 0, s.send)
		require.Equal(t, 60*second, got.Start)
		require.Equal(t, len(takes), got.Started)
		free := slices.Repeat([]int64{got.Start}, 7)
		var last int64
		for _, x := range s.log { // in order of their ends, so in order within a slot
			require.Equal(t, free[x.slot], x.due)
			require.Equal(t, x.due, x.sent)
			free[x.slot] = x.done
			last = max(last, x.due)
		}
		require.Equal(t, last, got.LastStart)
	})
}

func TestClosedSendsExactlyRequests(t *testing.T) {
	for _, c := range []struct{ slots, requests int }{{1, 1}, {1, 100}, {64, 1}, {64, 63}, {64, 65}, {256, 20_000}} {
		var n, slots atomic.Int64
		got := plainClosed(t.Context(), time.Now(), plainPlan{Concurrency: c.slots, Requests: c.requests}, 0,
			func(_ context.Context, slot int, _ int64) bool {
				n.Add(1)
				if slot < 0 || slot >= c.slots {
					slots.Add(1)
				}
				return true
			})
		require.EqualValues(t, c.requests, n.Load())
		require.Equal(t, c.requests, got.Started)
		require.Equal(t, ReasonComplete, got.Reason)
		require.Zero(t, slots.Load())
	}
}

// Answers of 3 s for 10 s: starts at 0, 3, 6 and 9 s, the last of which is
// waited for.
func TestClosedDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{epoch: time.Now(), takes: always(3 * time.Second)}
		got := plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 5, Duration: 10 * time.Second}, 0, s.send)
		requireReport(t, Report{Started: 20, Reason: ReasonDuration, LastStart: 9 * second, Stop: Never, End: 12 * second}, got)
		// At the very end of the duration there is no start: 0, 3, 6.
		s = &server{epoch: time.Now(), takes: always(3 * time.Second)}
		got = plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 5, Duration: 9 * time.Second}, 0, s.send)
		requireReport(t, Report{Started: 15, Reason: ReasonDuration, LastStart: 6 * second, Stop: Never, End: 9 * second}, got)
		// Whichever comes first.
		s = &server{epoch: time.Now(), takes: always(3 * time.Second)}
		got = plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 5, Duration: 9 * time.Second, Requests: 11}, 0, s.send)
		requireReport(t, Report{Started: 11, Reason: ReasonComplete, LastStart: 6 * second, Stop: Never, End: 9 * second}, got)
	})
}

// A stop at 4 s with answers of 3 s: those in flight end at 6 s, within the
// grace of 2 s.
func TestClosedStopWaitsForTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{epoch: time.Now(), takes: always(3 * time.Second)}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		got := plainClosed(ctx, s.epoch, plainPlan{Concurrency: 5, Requests: 1000}, 2*time.Second+1, s.send)
		requireReport(t, Report{Started: 10, Reason: ReasonStopped, LastStart: 3 * second, Stop: 4 * second, End: 6 * second}, got)
		for _, x := range s.log {
			require.NoError(t, x.err)
		}
	})
}

// The same with a grace of 1 s: those in flight are cancelled at 5 s.
func TestClosedGivesUpAfterTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, end := range map[time.Duration]int64{time.Second: 5 * second, 0: 4 * second, -time.Second: 4 * second} {
			s := &server{epoch: time.Now(), takes: always(3 * time.Second)}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			got := plainClosed(ctx, s.epoch, plainPlan{Concurrency: 5, Duration: time.Hour}, grace, s.send)
			cancel()
			requireReport(t, Report{Started: 10, Reason: ReasonStopped, LastStart: 3 * second, Stop: 4 * second, End: end, GaveUp: true}, got)
			for _, x := range s.log {
				if x.due == 0 {
					require.NoError(t, x.err)
					continue
				}
				require.ErrorIs(t, x.err, ErrGaveUp)
				require.Equal(t, end, x.done)
			}
		}
	})
}

// Cancelled requests make even a run that sent everything a stopped one; a stop
// that cost nothing does not.
func TestClosedStopAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for grace, reason := range map[time.Duration]Reason{0: ReasonStopped, time.Hour: ReasonComplete} {
			s := &server{epoch: time.Now(), takes: always(3 * time.Second)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			got := plainClosed(ctx, s.epoch, plainPlan{Concurrency: 5, Requests: 5}, grace, s.send)
			cancel()
			require.Equal(t, reason, got.Reason)
			require.Equal(t, 5, got.Started)
			require.Equal(t, second, got.Stop)
		}
		// A stop while the last answers of a duration are waited for.
		s := &server{epoch: time.Now(), takes: always(3 * time.Second)}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		got := plainClosed(ctx, s.epoch, plainPlan{Concurrency: 5, Duration: 4 * time.Second}, time.Hour, s.send)
		requireReport(t, Report{Started: 10, Reason: ReasonDuration, LastStart: 3 * second, Stop: 5 * second, End: 6 * second}, got)
	})
}

// A stop whose grace passes when the last request has ended gives nothing up.
func TestGraceThatPassesAtTheEnd(t *testing.T) {
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			r := &run{ended: make(chan struct{})}
			time.AfterFunc(time.Second, func() { close(r.ended) })
			require.True(t, r.pass(time.Second-1))
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			require.False(t, r.pass(0))
		})
	}
}

func TestClosedStoppedBeforeItBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := &server{epoch: time.Now(), takes: always(0)}
		got := plainClosed(ctx, s.epoch, plainPlan{Concurrency: 5, Requests: 5}, time.Second, s.send)
		requireReport(t, Report{Reason: ReasonStopped, LastStart: Never}, got)
		require.Empty(t, s.log)
	})
}

func TestClosedExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, p := range []plainPlan{
			{Concurrency: 5, Requests: 1000},
			{Concurrency: 5, Requests: 14}, // the last tickets find nothing
			{Concurrency: 5},
			{Concurrency: 5, Duration: time.Hour},
		} {
			s := &server{epoch: time.Now(), takes: always(3 * time.Second), limit: 13}
			got := plainClosed(t.Context(), s.epoch, p, 0, s.send)
			requireReport(t, Report{Started: 13, Reason: ReasonExhausted, LastStart: 6 * second, Stop: Never, End: 9 * second}, got)
			require.LessOrEqual(t, s.begun.Load(), int64(13+5))
		}
		s := &server{epoch: time.Now(), takes: always(3 * time.Second), limit: 13}
		got := plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 5, Requests: 13}, 0, s.send)
		require.Equal(t, ReasonComplete, got.Reason)
	})
}

// A Send that waits for its next request when the run is stopped comes back
// with nothing: that is a stop, not the end of the workload.
func TestClosedStoppedWhileWaitingForARequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		got := plainClosed(ctx, epoch, plainPlan{Concurrency: 3, Requests: 10}, time.Hour, func(context.Context, int, int64) bool {
			<-ctx.Done()
			return false
		})
		requireReport(t, Report{Reason: ReasonStopped, LastStart: Never, Stop: second, End: second}, got)
	})
}

// What is done beside a request may outlive the run: its context does too.
func TestContextOutlivesTheRun(t *testing.T) {
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	var kept context.Context
	plainClosed(ctx, time.Now(), plainPlan{Concurrency: 1, Requests: 1}, 0, func(ctx context.Context, _ int, _ int64) bool {
		kept = ctx
		return true
	})
	cancel()
	require.NoError(t, kept.Err())
	require.Equal(t, "value", kept.Value(key{}))
}

func TestClosedWithoutSlots(t *testing.T) {
	require.Panics(t, func() { plainClosed(t.Context(), time.Now(), plainPlan{Requests: 1}, 0, nil) })
}

// BenchmarkClosed is the loop's own cost a request.
func BenchmarkClosed(b *testing.B) {
	b.ReportAllocs()
	plainClosed(b.Context(), time.Now(), plainPlan{Concurrency: 64, Requests: max(b.N, 1)}, 0, func(context.Context, int, int64) bool { return true })
}
