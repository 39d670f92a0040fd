package load

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// bySlot are a log's requests, in order of their starts.
func bySlot(log map[int]entry) map[int][]entry {
	out := map[int][]entry{}
	for _, x := range log {
		out[x.slot] = append(out[x.slot], x)
	}
	for _, of := range out {
		slices.SortFunc(of, func(a, b entry) int { return int(a.due - b.due) })
	}
	return out
}

func TestRampUp(t *testing.T) {
	starts := func(u RampUp, n int) (out []time.Duration) {
		for k := range n {
			out = append(out, u.start(k, n))
		}
		return out
	}
	require.Equal(t, []time.Duration{0, 0, 0, 0}, starts(RampUp{}, 4))
	require.Equal(t, []time.Duration{0, 0, 0, 0}, starts(RampUp{Steps: 2}, 4))
	require.Equal(t, []time.Duration{0, 2, 4, 6}, starts(RampUp{Duration: 8}, 4))
	require.Equal(t, []time.Duration{0, 0, 4, 4}, starts(RampUp{Duration: 8, Steps: 2}, 4))
	require.Equal(t, []time.Duration{0, 0, 4, 4, 8}, starts(RampUp{Duration: 12, Steps: 3}, 5))
	require.Equal(t, []time.Duration{0, 4, 8}, starts(RampUp{Duration: 12, Steps: 9}, 3), "no more steps than slots")
}

func TestProfileSpans(t *testing.T) {
	require.Equal(t, [][]span{
		{{0, 10 * sec}},
		{{0, 4 * sec}, {6 * sec, 10 * sec}},
		{{6 * sec, 10 * sec}},
	}, profileSpans(Stages{{4 * sec, 2, 2}, {2 * sec, 1, 1}, {4 * sec, 3, 3}}))
	require.Equal(t, [][]span{{{0, forever}}, {{0, forever}}}, profileSpans(Level(2)))
	require.InDelta(t, (8.0+2+12)/10, asked(profileSpans(Stages{{4 * sec, 2, 2}, {2 * sec, 1, 1}, {4 * sec, 3, 3}}), 10*sec), 1e-12)
	require.InDelta(t, 1.75, asked(RampUp{Duration: 2 * sec}.spans(2), 4*sec), 1e-12)
}

// Four slots over 2 s, answers of 1.1 s: slot k is due at 0.5*k s and then
// every 1.1 s, until 11 s.
func TestClosedRampsUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(1100 * time.Millisecond)}
		c := ClosedLoop{Options: Options{Duration: 11 * sec}, Concurrency: 4, RampUp: RampUp{Duration: 2 * sec}}
		got := c.Run(t.Context(), epoch, s.do)
		for slot, of := range bySlot(s.log) {
			require.Len(t, of, []int{10, 10, 10, 9}[slot])
			for k, x := range of {
				require.Equal(t, int64(slot)*second/2+int64(k)*second*11/10, x.due)
				require.Equal(t, x.due, x.sent)
			}
		}
		require.Equal(t, ReasonDuration, got.Reason)
		// The last start is at 10.9 s; slots were missing for 0.5, 1 and 1.5 s.
		require.InDelta(t, 4-3/10.9, got.AskedConcurrency, 1e-9)
		require.InDelta(t, 4-3/10.9, got.Concurrency, 1e-9)
		require.Equal(t, 4, c.Slots())
	})
}

// A plan that is over while slots wait for their start ends at once.
func TestClosedDoesNotWaitForSlotsItNeedsNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(sec)}
		c := ClosedLoop{Options: Options{Requests: 3}, Concurrency: 2, RampUp: RampUp{Duration: time.Hour}}
		got := c.Run(t.Context(), epoch, s.do)
		require.Equal(t, 3*second, got.End)
		require.Equal(t, 1, got.Slots)
		c.Options = Options{Duration: 10 * sec}
		got = c.Run(t.Context(), time.Now(), (&service{epoch: time.Now(), takes: always(sec)}).do)
		require.Equal(t, 10*second, got.End)
		require.Equal(t, 10, got.Started)
	})
}

// 2, then 1, then 3 slots with answers of 1.5 s: who is no longer wanted
// finishes, and who is wanted again starts on time, or when its answer ends.
func TestClosedStages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(1500 * time.Millisecond)}
		c := ClosedLoop{Profile: Stages{{4 * sec, 2, 2}, {2 * sec, 1, 1}, {4 * sec, 3, 3}}}
		got := c.Run(t.Context(), epoch, s.do)
		due := map[int][]float64{}
		for slot, of := range bySlot(s.log) {
			for _, x := range of {
				require.Equal(t, x.due, x.sent)
				due[slot] = append(due[slot], float64(x.due)/1e9)
			}
		}
		require.Equal(t, map[int][]float64{
			0: {0, 1.5, 3, 4.5, 6, 7.5, 9},
			1: {0, 1.5, 3, 6, 7.5, 9}, // until 4.5 s, although not wanted from 4 s
			2: {6, 7.5, 9},
		}, due)
		require.Equal(t, ReasonDuration, got.Reason)
		require.Equal(t, 10*second+second/2, got.End)
		// Wanted again before it ended: slot 1 goes on at 4.5 s.
		epoch = time.Now()
		s = &service{epoch: epoch, takes: always(1500 * time.Millisecond)}
		ClosedLoop{Profile: Stages{{4 * sec, 2, 2}, {sec / 4, 1, 1}, {sec, 2, 2}}}.Run(t.Context(), epoch, s.do)
		require.Equal(t, 4*second+second/2, bySlot(s.log)[1][3].due)
	})
}

// Random profiles and answers: a slot that becomes free is due at once when the
// profile wants it, and else when it next does.
func TestClosedFollowsProfiles(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for range 60 {
		p := randomProfile(r)
		o := Options{Duration: time.Duration(r.Int64N(int64(60 * sec)))}
		seed := r.Uint64()
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			s := &service{epoch: epoch, takes: func(i int) time.Duration { return sec/10 + time.Duration(mix(seed^uint64(i))%3e9) }}
			got := ClosedLoop{Options: o, Profile: p}.Run(t.Context(), epoch, s.do)
			require.Empty(t, s.bad)
			require.Equal(t, ReasonDuration, got.Reason)
			slots := profileSpans(p)
			logs := bySlot(s.log)
			end := shorter(o.Duration, p.Length())
			for k, spans := range slots {
				free := time.Duration(0)
				for _, x := range logs[k] {
					due, left, ok := turn(spans, free)
					require.True(t, ok)
					spans = left
					require.Equal(t, int64(due), x.due)
					require.Equal(t, x.due, x.sent)
					require.InDelta(t, float64(k), p.At(due)-1, 25, "wanted")
					require.GreaterOrEqual(t, p.At(due+2)+1e-6, float64(k)+0.5)
					free = time.Duration(x.done)
				}
				due, _, ok := turn(spans, free)
				require.True(t, !ok || due >= end, "slot %d is not left out", k)
			}
			require.LessOrEqual(t, s.peak, len(slots))
			require.InDelta(t, got.AskedConcurrency, got.Concurrency, 3.2*float64(len(slots))+1)
		})
	}
}

// Answers of 1 s and 0.5 s to think: due every 1.5 s. The seeded times are those
// of the documented draw.
func TestClosedThinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(sec)}
		c := ClosedLoop{Options: Options{Duration: 10 * sec, Seed: 6}, Concurrency: 3, Think: Think{Time: sec / 2}}
		got := c.Run(t.Context(), epoch, s.do)
		require.Equal(t, 3*7, got.Started)
		for i, x := range s.log {
			require.Equal(t, int64(i/3)*second*3/2, x.due)
			require.Equal(t, x.due, x.sent)
		}
		require.Equal(t, 10*second, got.End)
		require.InDelta(t, 3*6.0/9, got.Concurrency, 1e-9, "6 s of the 9 s to the last start")

		epoch = time.Now()
		s = &service{epoch: epoch, takes: always(sec)}
		c.Think.Exponential, c.Requests, c.Duration = true, 3000, 0
		got = c.Run(t.Context(), epoch, s.do)
		var sum float64
		for slot, of := range bySlot(s.log) {
			for k, x := range of[1:] {
				u := newStream(6, forThinks).at(uint64(slot)<<32 | uint64(k))
				wait, _ := seconds(0.5 * exponential(u))
				require.Equal(t, of[k].done+int64(wait), x.due)
				require.Equal(t, x.due, x.sent)
				sum += wait.Seconds() / 3000
			}
		}
		require.InDelta(t, 0.5, sum, 0.04)
		require.Equal(t, Lag{Count: 3000}, got.Late)
	})
}

// Shards of a closed loop: its slots and requests, each once.
func TestClosedShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var services [3]*service
		var running sync.WaitGroup
		for i := range services {
			services[i] = &service{epoch: epoch, takes: always(sec)}
			c := ClosedLoop{Options: Options{Requests: 100, Shard: Shard{Index: i, Count: 3}}, Concurrency: 4, RampUp: RampUp{Duration: 4 * sec}}
			require.Equal(t, []int{2, 1, 1}[i], c.Slots())
			running.Go(func() {
				got := c.Run(t.Context(), epoch, services[i].do)
				require.Equal(t, []int{34, 33, 33}[i], got.Started)
				require.Equal(t, ReasonComplete, got.Reason)
			})
		}
		running.Wait()
		indexes := map[int]bool{}
		for i, s := range services {
			require.Equal(t, int64(i)*second, s.log[i].due, "slot i starts at i seconds")
			for index := range s.log {
				indexes[index] = true
			}
		}
		require.Equal(t, 3*second, bySlot(services[0].log)[1][0].due)
		require.Len(t, indexes, 100)
		require.True(t, indexes[0] && indexes[99])
		// A shard without a slot has nothing to do.
		none := ClosedLoop{Options: Options{Requests: 1, Shard: Shard{Index: 1, Count: 2}}, Concurrency: 1}
		require.Equal(t, ReasonComplete, none.Run(t.Context(), epoch, nil).Reason)
	})
}

// The drain of a closed loop that ends at 10 s with answers of 4 s.
func TestClosedDrains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for after, end := range map[time.Duration]int64{0: 10 * second, sec: 11 * second, 2*sec + 1: 12 * second} {
			epoch := time.Now()
			s := &service{epoch: epoch, takes: always(4 * sec)}
			c := ClosedLoop{Options: Options{Duration: 10 * sec, Drain: Drain{Cancel: true, After: after}}, Concurrency: 2}
			got := c.Run(t.Context(), epoch, s.do)
			require.Equal(t, end, got.End)
			require.Equal(t, ReasonDuration, got.Reason)
			require.Equal(t, 6, got.Started)
			if after > 2*sec {
				require.Zero(t, got.Drained)
				continue
			}
			require.Equal(t, 2, got.Drained)
			require.ErrorIs(t, s.log[5].err, ErrDrained)
		}
		// By requests: the time for the last begins with the last start.
		epoch := time.Now()
		s := &service{epoch: epoch, takes: always(4 * sec)}
		c := ClosedLoop{Options: Options{Requests: 3, Drain: Drain{Cancel: true, After: sec}}, Concurrency: 2}
		got := c.Run(t.Context(), epoch, s.do)
		require.Equal(t, 5*second, got.End)
		require.Equal(t, ReasonComplete, got.Reason)
		// A stop has its own grace.
		epoch = time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), sec)
		defer cancel()
		s = &service{epoch: epoch, takes: always(4 * sec)}
		c.Options = Options{Requests: 3, Drain: Drain{Cancel: true}, Grace: 2 * sec}
		got = c.Run(ctx, epoch, s.do)
		require.Equal(t, 3*second, got.End)
		require.True(t, got.GaveUp)
		require.Zero(t, got.Drained)
	})
}

// A tenth of the requests is abandoned after 0.3 s, the very ones the seed
// names, whatever the load and its timing.
func TestCancelShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Requests: 5000, Seed: 77, Cancel: Cancel{Share: 0.1, After: 300 * time.Millisecond}}
		want := 0
		for i := range o.Requests {
			if chosen(77, i, 0.1) {
				want++
			}
		}
		require.InDelta(t, 500, want, 80)
		for _, run := range []func(epoch time.Time, do Do) Report{
			func(epoch time.Time, do Do) Report {
				return ClosedLoop{Options: o, Concurrency: 7}.Run(t.Context(), epoch, do)
			},
			func(epoch time.Time, do Do) Report {
				return OpenLoop{Options: o, Schedule: Arrivals(Poisson{}, Level(30), 1)}.Run(t.Context(), epoch, do)
			},
		} {
			epoch := time.Now()
			s := &service{epoch: epoch, takes: always(sec)}
			got := run(epoch, s.do)
			require.Equal(t, want, got.Abandoned)
			require.Equal(t, 5000, got.Started)
			for i, x := range s.log {
				require.Equal(t, chosen(77, i, 0.1), errors.Is(x.err, ErrAbandoned))
				if x.err != nil {
					require.Equal(t, x.sent+int64(300*time.Millisecond), x.done)
				}
			}
			// Who ends before is not abandoned.
			s = &service{epoch: time.Now(), takes: always(sec / 10)}
			require.Zero(t, run(s.epoch, s.do).Abandoned)
		}
		require.False(t, chosen(1, 1, 0))
		require.True(t, chosen(1, 1, 1))
	})
}

// 20 slots of which 3 may wait for a first token, which takes 1 s of 3.9 s: 3
// starts a second, however many slots there are, and Scheduled is when a slot
// was free.
func TestClosedCapsFirstTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		s := &service{epoch: epoch, first: always(sec), takes: always(3900 * time.Millisecond)}
		c := ClosedLoop{Options: Options{Requests: 60, FirstTokens: 3}, Concurrency: 20}
		got := c.Run(t.Context(), epoch, s.do)
		require.Equal(t, 3, s.most)
		require.Equal(t, 12, s.peak, "those of 0, 1, 2 and 3 s")
		require.Equal(t, 60, got.Started)
		for i, x := range s.log {
			require.Equal(t, int64(i/3)*second, x.sent)
			if i < 18 {
				require.Zero(t, x.due)
			}
		}
		// One that has no token gives its place back at its end.
		s = &service{epoch: epoch, takes: always(sec)}
		c.Requests = 9
		s.epoch = time.Now()
		got = c.Run(t.Context(), s.epoch, s.do)
		require.Equal(t, 3*second, got.End)
		// No start after the duration, for those that wait then.
		s = &service{epoch: time.Now(), takes: always(sec)}
		c.Options = Options{Duration: 3*sec - 1, FirstTokens: 3}
		got = c.Run(t.Context(), s.epoch, s.do)
		require.Equal(t, 9, got.Started)
	})
}

// Random closed loops: bounds hold, and each request is sent once.
func TestClosedProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for range 150 {
		c := ClosedLoop{
			Options:     Options{Requests: 1 + r.IntN(200), Seed: r.Uint64(), FirstTokens: r.IntN(5)},
			Concurrency: 1 + r.IntN(20),
			RampUp:      RampUp{Duration: time.Duration(r.Int64N(int64(sec))) * time.Duration(r.IntN(2)), Steps: r.IntN(4)},
			Think:       Think{Time: time.Duration(r.Int64N(int64(sec))) * time.Duration(r.IntN(2)), Exponential: r.IntN(2) == 0},
		}
		synctest.Test(t, func(t *testing.T) {
			epoch := time.Now()
			s := &service{
				epoch: epoch,
				first: func(i int) time.Duration { return time.Duration(mix(c.Seed^uint64(i)) % 200e6) },
				takes: func(i int) time.Duration { return 200*time.Millisecond + time.Duration(mix(c.Seed+uint64(i))%200e6) },
			}
			got := c.Run(t.Context(), epoch, s.do)
			require.Empty(t, s.bad)
			require.Equal(t, c.Requests, got.Started)
			require.Equal(t, ReasonComplete, got.Reason)
			require.LessOrEqual(t, s.peak, c.Concurrency)
			if c.FirstTokens > 0 {
				require.LessOrEqual(t, s.most, c.FirstTokens)
			}
			for slot, of := range bySlot(s.log) {
				require.GreaterOrEqual(t, of[0].due, int64(c.RampUp.start(slot, c.Concurrency)))
				for k, x := range of {
					if c.FirstTokens == 0 {
						require.Equal(t, x.due, x.sent)
					}
					if k > 0 && c.Think.Time == 0 {
						require.Equal(t, of[k-1].done, x.due)
					}
				}
			}
		})
	}
}

// BenchmarkThink is the cost of a request that a slot thinks before, at 64 slots.
func BenchmarkThink(b *testing.B) {
	b.ReportAllocs()
	c := ClosedLoop{Options: Options{Requests: max(b.N, 1), Pacing: PrecisePacing}, Concurrency: 64, Think: Think{Time: 10 * time.Millisecond, Exponential: true}}
	got := c.Run(b.Context(), time.Now(), func(context.Context, *Turn) bool { return true })
	reportLag(b, "start-", got.Late)
}
