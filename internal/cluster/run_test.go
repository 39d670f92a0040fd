package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
)

// begun are n shards whose load has begun.
func begun(t *testing.T, n int, change func(*shards)) (*shards, *root, []*member) {
	t.Helper()
	s := newShards(t, n)
	if change != nil {
		change(s)
	}
	r, members := s.all()
	for _, err := range begin(t.Context(), "load", meetings(r, members)...) {
		require.NoError(t, err)
	}
	return s, r, members
}

// Records that are written while the load goes on arrive as they are, over a
// slow network too, and the shards get what shard 0 made of them.
func TestRecordsArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, func(s *shards) {
			for i := range s.cfgs {
				s.cfgs[i].dial = s.net.dial(jittered(uint64(i), 5*time.Millisecond, 5*time.Millisecond), nil)
			}
		})
		wrote := make([][]byte, 3)
		merged := make([]meet.Merged, 3)
		var work sync.WaitGroup
		for i, m := range members {
			work.Go(func() {
				path := filepath.Join(t.TempDir(), "requests.jsonl")
				f, err := os.Create(path)
				require.NoError(t, err)
				defer f.Close()
				m.Follow(path)
				random := rand.New(rand.NewPCG(uint64(i), 2))
				for range 50 {
					line := bytes.Repeat([]byte{'a' + byte(i)}, random.IntN(20_000))
					wrote[i+1] = append(wrote[i+1], line...)
					_, err := f.Write(line)
					require.NoError(t, err)
					time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond)
				}
				merged[i+1], err = m.Deliver(t.Context(), meet.Delivery{Result: fmt.Appendf(nil, `{"shard":%d}`, i+1)})
				require.NoError(t, err)
			})
		}
		parts := r.Collect()
		r.Announce(meet.Merged{Where: "there", Result: []byte(`{"all":3}`), Taken: 7})
		work.Wait()
		for i, p := range parts {
			require.Equal(t, fmt.Sprintf(`{"shard":%d}`, i+1), string(p.Result))
			require.Empty(t, p.Lost)
			require.Equal(t, meet.Place{Index: i + 1, Count: 3}, p.Place)
			got, err := os.ReadFile(filepath.Join(p.Dir, "requests.jsonl"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(wrote[i+1], got), "shard %d: %d of %d bytes", i+1, len(got), len(wrote[i+1]))
			require.Equal(t, meet.Merged{Where: "there", Result: []byte(`{"all":3}`), Taken: 7}, merged[i+1])
		}
		require.NoError(t, r.Why())
		closeAll(meetings(r, members)...)
	})
}

// The live figures of all shards are one sum.
func TestLiveFiguresAddUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, nil)
		for i, m := range members {
			m.Show(func() meet.Live { return meet.Live{Done: 10 * (i + 1), InFlight: 1, Window: int64(i), TTFT: 0.5} })
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, meet.Live{Done: 30, InFlight: 2, Window: 1, TTFT: 1}, r.Others())
		closeAll(meetings(r, members)...)
	})
}

// A shard that is lost ends the run of all, at once where its connection says
// so, and is named; what it had sent is kept.
func TestLostShard(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(*shards, *member)
		want string
		in   time.Duration
		gone bool
	}{
		"its process ended": {func(_ *shards, m *member) { _ = m.conn.Close() }, "its connection was lost: the process ended, or the network was cut", 0, true},
		"it says why":       {func(_ *shards, m *member) { m.Close("PERFTEST_URL: no route to host") }, "PERFTEST_URL: no route to host", 0, false},
		"the network is cut": {func(s *shards, _ *member) { s.net.mu.Lock(); s.net.cut = true; s.net.mu.Unlock() },
			"nothing was heard of it for 20s: its machine, or the network to it, is gone", defaultSilence, true},
		"nonsense": {func(_ *shards, m *member) { _ = m.conn.send(kindHello, []byte("?")) }, "it sent what is no message: frame of kind 2, which a shard does not send", 0, false},
		"bytes are missing": {func(_ *shards, m *member) { _ = m.conn.sendJSON(kindEnd, end{Bytes: 9}) },
			"4 of the 9 bytes of its records came", 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, r, members := begun(t, 3, func(s *shards) {
					s.cfgs[1].silence += time.Second // a cut pipe still tells its end, here shard 0's
					s.cfgs[2].silence += time.Second
				})
				path := filepath.Join(t.TempDir(), "requests.jsonl")
				require.NoError(t, os.WriteFile(path, []byte("{}\n{"), 0o644))
				members[1].Follow(path)
				time.Sleep(10 * time.Second)
				lost := time.Now()
				c.lose(s, members[1])
				<-r.Ended()
				require.Equal(t, c.gone, errors.As(r.Why(), new(meet.Gone)))
				require.LessOrEqual(t, time.Since(lost), c.in)
				if c.in == 0 {
					require.EqualError(t, r.Why(), "shard 2 of 3 at pipe: "+c.want)
				} else {
					require.ErrorContains(t, r.Why(), c.want) // of whichever shard
				}
				r.Stop("error")
				synctest.Wait()
				if c.in == 0 {
					require.Equal(t, meet.Stopped("error"), members[0].Why())
					go func() { _, _ = members[0].Deliver(context.Background(), meet.Delivery{Result: []byte("{}")}) }()
				}
				parts := r.Collect()
				require.LessOrEqual(t, time.Since(lost), c.in+2*r.run.Grace+farewell)
				require.Equal(t, c.want, parts[1].Lost)
				kept, err := os.ReadFile(filepath.Join(parts[1].Dir, "requests.jsonl"))
				require.NoError(t, err)
				require.Equal(t, "{}\n{", string(kept))
				if c.in == 0 {
					require.Empty(t, parts[0].Lost)
					require.Equal(t, "{}", string(parts[0].Result))
				}
				r.Close("")
				closeAll(meetings(r, members)...)
			})
		})
	}
}

// When the process of a shard is gone before the load, the others hear that it
// comes to no further run; of a shard that failed they hear only that.
func TestGoneBeforeTheLoad(t *testing.T) {
	for gone, leave := range map[bool]func(m *member){
		true:  func(m *member) { _ = m.conn.Close() },
		false: func(m *member) { m.Close("its workload cannot be read") },
	} {
		synctest.Test(t, func(t *testing.T) {
			r, members := newShards(t, 3).all()
			failed := make(chan error)
			go func() { failed <- beginError(members[0].Begin(t.Context(), "load")) }()
			leave(members[1])
			require.Equal(t, gone, errors.As(beginError(r.Begin(t.Context(), "load")), new(meet.Gone)))
			go r.Close("")
			err := <-failed
			require.ErrorContains(t, err, "shard 0 at perf-0:7788: shard 2 of 3 at pipe: its ")
			require.Equal(t, gone, errors.As(err, new(meet.Gone)))
			closeAll(meetings(r, members)...)
		})
	}
}

// Without shard 0 the others end, in a bounded time, and say so.
func TestLostShardZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, r, members := begun(t, 2, func(s *shards) { s.cfgs[1].silence -= time.Second }) // a cut pipe still tells its end
		s.net.mu.Lock()
		s.net.cut = true
		s.net.mu.Unlock()
		at := time.Now()
		<-members[0].Ended()
		require.LessOrEqual(t, time.Since(at), defaultSilence)
		require.ErrorAs(t, members[0].Why(), new(meet.Gone))
		require.EqualError(t, members[0].Why(), "shard 0 at perf-0:7788: nothing was heard of it for 19s: its machine, or the network to it, is gone")
		_, err := members[0].Deliver(t.Context(), meet.Delivery{Result: []byte("{}")})
		require.Equal(t, members[0].Why(), err)
		closeAll(r, members[0])
	})
}

// A disk of shard 0 that is full, one of another shard that is, and a shard
// whose own run ended early: each is named.
func TestPartsThatAreNotWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, func(s *shards) {
			s.run.Dir = filepath.Join(t.TempDir(), "file")
		})
		r.run.Dir = filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(r.run.Dir, nil, 0o644)) // below which no folder can be made
		path := filepath.Join(t.TempDir(), "requests.jsonl")
		require.NoError(t, os.WriteFile(path, []byte("{}\n"), 0o644))
		members[0].Follow(path)
		<-r.Ended()
		require.ErrorContains(t, r.Why(), "shard 1 of 3 at pipe: its records cannot be kept: ")
		_, err := members[0].Deliver(t.Context(), meet.Delivery{})
		require.ErrorContains(t, err, "shard 0 at perf-0:7788: it gave shard 1 of 3 up: its records cannot be kept: ", "it is told why")
		go func() {
			_, _ = members[1].Deliver(context.Background(), meet.Delivery{Problem: "requests.jsonl: no space left on device"})
		}()
		parts := r.Collect()
		require.Contains(t, parts[0].Lost, "its records cannot be kept: ")
		require.Equal(t, "requests.jsonl: no space left on device", parts[1].Lost)
		r.Close("")
		closeAll(meetings(r, members)...)
	})
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 2, nil)
		go func() {
			_, _ = members[0].Deliver(context.Background(), meet.Delivery{Result: []byte("{}"), Problem: "it was interrupted after 3 requests"})
		}()
		<-r.Ended()
		require.EqualError(t, r.Why(), "shard 1 of 2 at pipe: it was interrupted after 3 requests")
		closeAll(meetings(r, members)...)
	})
}

// Shard 0 stops all, and gives a shard that hangs no longer than twice the grace.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, nil)
		at := time.Now()
		r.Stop("must fail")
		r.Stop("again")
		for _, m := range members {
			<-m.Ended()
			require.Equal(t, meet.Stopped("must fail"), m.Why())
		}
		require.Zero(t, time.Since(at))
		go func() {
			_, _ = members[0].Deliver(context.Background(), meet.Delivery{Result: []byte("{}"), Problem: "it was stopped"})
		}()
		parts := r.Collect()
		require.GreaterOrEqual(t, time.Since(at), 2*r.run.Grace)
		require.LessOrEqual(t, time.Since(at), 2*r.run.Grace+farewell)
		require.Equal(t, "it was stopped", parts[0].Lost)
		require.Equal(t, "it had not delivered 4s after the stop", parts[1].Lost)
		closeAll(meetings(r, members)...)
	})
}

// What a shard sends after its end would be written while it is merged.
func TestNothingComesAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 2, nil)
		m := members[0]
		require.NoError(t, m.conn.sendJSON(kindEnd, end{Result: []byte("{}")}))
		require.NoError(t, m.conn.send(kindRecords, []byte("{}\n")))
		<-m.gone
		require.EqualError(t, m.Why(), "shard 0 at perf-0:7788: it gave shard 1 of 2 up: it sent more after its end")
		parts := r.Collect()
		require.Empty(t, parts[0].Lost, "what it had delivered stays")
		require.Empty(t, parts[0].Dir)
		closeAll(meetings(r, members)...)
	})
}

// A shard whose machine is busy at the end still hears how it ended.
func TestTheResultReachesASlowShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var late atomic.Int64
		_, r, members := begun(t, 2, func(s *shards) {
			s.cfgs[1].dial = s.net.dial(nil, func() time.Duration { return time.Duration(late.Load()) })
		})
		done := make(chan error)
		go func() {
			_, err := members[0].Deliver(context.Background(), meet.Delivery{Result: []byte("{}")})
			done <- err
		}()
		r.Collect()
		late.Store(int64(3 * time.Second)) // for a beat as well as for the result
		r.Announce(meet.Merged{Where: "there"})
		require.NoError(t, <-done)
		closeAll(meetings(r, members)...)
	})
}

// A message of another process is one bounded line.
func TestCleaned(t *testing.T) {
	require.Equal(t, "a b [31mc", cleaned("a\nb\x1b[31mc"))
	require.LessOrEqual(t, len(cleaned(strings.Repeat("ä", 1000))), mostText+len("…"))
	require.Equal(t, "\uFFFD", cleaned("\xff"))
}

// A shard that is gone when it has delivered takes nothing from the run, and is
// missed by the next one; one that leaves when it has heard how it ended is not.
func TestAShardIsGoneAfterItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, nil)
		for _, m := range members {
			go func() { _, _ = m.Deliver(context.Background(), meet.Delivery{Result: []byte("{}")}) }()
		}
		require.Len(t, r.Collect(), 2)
		require.Empty(t, r.Left())
		_ = members[1].conn.Close()
		synctest.Wait()
		require.NoError(t, r.Why())
		left := "shard 2 of 3 at pipe: its connection was lost: the process ended, or the network was cut"
		require.Equal(t, left, r.Left())
		r.Announce(meet.Merged{})
		closeAll(meetings(r, members)...)
		require.Equal(t, left, r.Left())
	})
}
