package load

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// parted is one request of a steady loop, in seconds after its start.
type parted struct {
	part       Part
	index      int
	sent, done float64
	cause      error
}

// steadily runs a loop whose slot k answers in k+1 seconds, and gives what was
// sent, each part in the order of its indices.
func steadily(t *testing.T, c ClosedLoop, limit int) (map[Part][]parted, Report) {
	t.Helper()
	var mu sync.Mutex
	log, n, epoch := map[Part][]parted{}, 0, time.Now()
	c.Steady = true
	got := c.Run(t.Context(), epoch, func(ctx context.Context, turn *Turn) bool {
		mu.Lock()
		n++
		more := limit == 0 || n <= limit
		mu.Unlock()
		if !more {
			return false
		}
		p := parted{part: turn.Part, index: turn.Index, sent: time.Since(epoch).Seconds()}
		turn.FirstToken()
		answer := time.NewTimer(time.Duration(turn.Slot+1) * time.Second)
		defer answer.Stop()
		select {
		case <-answer.C:
		case <-ctx.Done():
			p.cause = context.Cause(ctx)
		}
		p.done = time.Since(epoch).Seconds()
		mu.Lock()
		log[p.part] = append(log[p.part], p)
		mu.Unlock()
		return true
	})
	for _, part := range log {
		slices.SortFunc(part, func(a, b parted) int { return a.index - b.index })
	}
	return log, got
}

func ends(of []parted) (out []float64) {
	for _, p := range of {
		out = append(out, p.done)
	}
	slices.Sort(out)
	return out
}

// Three slots of 1, 2 and 3 s and seven requests, by hand: the first of each
// slot is the start burst; then slot 0 sends at 1, 2, 3 and 4, slot 1 at 2 and
// 4, slot 2 at 3, which is the last to end, at 6. Until then slot 0 pads at 5.
// (Who gets the turns of second 4 is open: both have one in either case.)
func TestSteadyKeepsTheEndsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, got := steadily(t, ClosedLoop{Concurrency: 3, Options: Options{Requests: 7}}, 0)
		require.Equal(t, []float64{1, 2, 3}, ends(log[Starting]))
		require.Equal(t, []float64{2, 3, 4, 4, 5, 6, 6}, ends(log[Measured]))
		for i, p := range log[Measured] {
			require.Equal(t, i, p.index)
			require.NoError(t, p.cause)
		}
		require.Equal(t, 5.0, log[Padding][0].sent)
		for _, p := range log[Padding] { // at 6 s slot 0 may have just started another
			require.LessOrEqual(t, p.done, 6.0)
		}
		require.Equal(t, ReasonComplete, got.Reason)
		require.Equal(t, []int{7, 7, 3, len(log[Padding])}, []int{got.Planned, got.Started, got.Starting, got.Padded})
		require.Equal(t, 6*second, got.End)
		require.InDelta(t, 3, got.Concurrency, 1e-9)
	})
}

// One slot has no tail to pad.
func TestSteadyOfOneSlotPadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, got := steadily(t, ClosedLoop{Concurrency: 1, Options: Options{Requests: 3}}, 0)
		require.Equal(t, []float64{2, 3, 4}, ends(log[Measured]))
		require.Equal(t, []int{3, 1, 0}, []int{got.Started, got.Starting, got.Padded})
	})
}

// The duration counts from the first measured request, at 1 s: 4 s later no
// more of them start. The last one, of slot 2 at 3 s, ends at 6 s.
func TestSteadyDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, got := steadily(t, ClosedLoop{Concurrency: 3, Options: Options{Duration: 4 * time.Second}}, 0)
		require.Equal(t, []float64{2, 3, 4, 4, 5, 6, 6}, ends(log[Measured]))
		require.Equal(t, ReasonDuration, got.Reason)
		require.NotEmpty(t, log[Padding])
		require.Equal(t, 6*second, got.End)
	})
}

// With a ramp-up, whatever is sent before the last slot starts, at 4 s, is part
// of the start.
func TestSteadyAfterRampUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, _ := steadily(t, ClosedLoop{Concurrency: 3, RampUp: RampUp{Duration: 6 * time.Second}, Options: Options{Requests: 5}}, 0)
		require.Equal(t, []float64{0, 1, 2, 3}, starts0(log[Starting]))
		for _, p := range log[Measured] {
			require.GreaterOrEqual(t, p.sent, 4.0)
		}
		require.Len(t, log[Measured], 5)
	})
}

// starts0 are the sendings of slot 0, which takes a second each.
func starts0(of []parted) (out []float64) {
	for _, p := range of {
		if p.done-p.sent == 1 {
			out = append(out, p.sent)
		}
	}
	slices.Sort(out)
	return out
}

// Padding ends after four requests a slot, however long the last one takes.
func TestSteadyPaddingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		padded, epoch := 0, time.Now()
		got := ClosedLoop{Concurrency: 2, Steady: true, Options: Options{Requests: 2}}.Run(t.Context(), epoch, func(ctx context.Context, turn *Turn) bool {
			mu.Lock()
			defer mu.Unlock()
			answer := time.Second
			switch {
			case turn.Part == Padding:
				padded++
			case turn.Part == Measured && turn.Index == 0:
				answer = time.Hour
			}
			mu.Unlock()
			time.Sleep(answer)
			mu.Lock()
			return true
		})
		require.Equal(t, 8, padded)
		require.Equal(t, 8, got.Padded)
		require.Equal(t, 2, got.Started)
	})
}

// A workload that ends in the start burst or the padding is exhausted, and no
// more is sent.
func TestSteadyExhausted(t *testing.T) {
	for _, c := range []struct{ limit, starting, started int }{{2, 2, 0}, {8, 3, 5}, {10, 3, 7}} {
		synctest.Test(t, func(t *testing.T) {
			log, got := steadily(t, ClosedLoop{Concurrency: 3, Options: Options{Requests: 7}}, c.limit)
			require.Equal(t, []int{c.starting, c.started, 0}, []int{got.Starting, got.Started, got.Padded})
			require.Equal(t, []int{c.starting, c.started, 0}, []int{len(log[Starting]), len(log[Measured]), len(log[Padding])})
			if c.started < 7 {
				require.Equal(t, ReasonExhausted, got.Reason)
			} else {
				require.Equal(t, ReasonComplete, got.Reason)
			}
		})
	}
}

// A stop in the padding sends no more of it, and what is in flight has the grace.
func TestSteadyStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithTimeout(t.Context(), 5500*time.Millisecond)
		defer stop()
		padded, epoch := 0, time.Now()
		var mu sync.Mutex
		got := ClosedLoop{Concurrency: 3, Steady: true, Options: Options{Requests: 7, Grace: time.Minute}}.Run(ctx, epoch, func(ctx context.Context, turn *Turn) bool {
			mu.Lock()
			if turn.Part == Padding {
				padded++
			}
			mu.Unlock()
			time.Sleep(time.Duration(turn.Slot+1) * time.Second)
			return true
		})
		require.Equal(t, 1, padded)
		require.Equal(t, 7, got.Started)
		require.False(t, got.GaveUp)
	})
}

// Shards keep their own ends out, and measure the plan's requests once each.
func TestSteadyShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen, starting := map[int]int{}, 0
		for i := range 3 {
			log, got := steadily(t, ClosedLoop{Concurrency: 4, Options: Options{Requests: 20, Shard: Shard{Index: i, Count: 3}}}, 0)
			for _, p := range log[Measured] {
				seen[p.index]++
			}
			starting += got.Starting
		}
		require.Len(t, seen, 20)
		for i := range 20 {
			require.Equal(t, 1, seen[i], i)
		}
		require.Equal(t, 4, starting)
	})
	synctest.Test(t, func(t *testing.T) { // and go on after 20
		seen := map[int]int{}
		for i := range 3 {
			log, _ := steadily(t, ClosedLoop{Concurrency: 4, Options: Options{First: 20, Requests: 10, Shard: Shard{Index: i, Count: 3}}}, 0)
			for _, p := range log[Measured] {
				require.Equal(t, i, p.index%3)
				seen[p.index]++
			}
		}
		require.Len(t, seen, 10)
		for i := range 10 {
			require.Equal(t, 1, seen[20+i], i)
		}
		// Of one request the others have none.
		_, got := steadily(t, ClosedLoop{Concurrency: 4, Options: Options{First: 20, Requests: 1, Shard: Shard{Index: 0, Count: 3}}}, 0)
		require.Equal(t, []any{0, ReasonComplete}, []any{got.Planned, got.Reason})
	})
}
