package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
)

// sent is a member that has written and followed some records.
func sent(t *testing.T, m *member, records string) (path string) {
	path = filepath.Join(t.TempDir(), "requests.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(records), 0o644))
	m.Follow(path)
	return path
}

// Shards that pause are waited for, however slow the network; shard 0 has then
// all that each has written, and all go on by the same number, together, or end.
func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 3, func(s *shards) {
			for i := range s.cfgs {
				s.cfgs[i].dial = s.net.dial(jittered(uint64(i), 50*time.Millisecond, 50*time.Millisecond), nil)
			}
		})
		epochs := r.Epochs()
		resumed := make([][]int, 3)
		began := make([]time.Time, 3)
		var work sync.WaitGroup
		for i, m := range members {
			work.Go(func() {
				path := sent(t, m, fmt.Sprintf("first of %d\n", i+1))
				time.Sleep(time.Duration(i) * time.Minute) // one is slower than the other
				for part := 1; ; part++ {
					n, err := m.Pause(t.Context(), meet.Delivery{Result: fmt.Appendf(nil, `{"part":%d}`, part), Taken: 7 * part})
					require.NoError(t, err)
					if resumed[i+1] = append(resumed[i+1], n); n == 0 {
						break
					}
					_, err = m.Begin(t.Context(), fmt.Sprint("part ", part+1))
					require.NoError(t, err)
					began[i+1] = time.Now()
					f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
					require.NoError(t, err)
					_, err = fmt.Fprintf(f, "part %d of %d\n", part+1, i+1)
					require.NoError(t, err)
					require.NoError(t, f.Close())
				}
				_, err := m.Deliver(t.Context(), meet.Delivery{Result: []byte("{}")})
				require.NoError(t, err)
			})
		}
		held := func(part int, want string) {
			parts, all := r.Pause(t.Context())
			require.True(t, all)
			require.Len(t, parts, 2)
			for i, p := range parts {
				require.Equal(t, []any{fmt.Sprintf(`{"part":%d}`, part), 7 * part, ""}, []any{string(p.Result), p.Taken, p.Lost})
				kept, err := os.ReadFile(filepath.Join(p.Dir, "requests.jsonl"))
				require.NoError(t, err)
				require.Equal(t, fmt.Sprintf(want, i+1), string(kept))
			}
		}
		held(1, "first of %d\n")
		r.Resume(40)
		_, err := r.Begin(t.Context(), "part 2")
		require.NoError(t, err)
		began[0] = time.Now()
		held(2, "first of %[1]d\npart 2 of %[1]d\n")
		require.Equal(t, epochs, r.Epochs(), "all stamps are moved by the clocks of the load's begin")
		r.Resume(0)
		for _, p := range r.Collect() {
			require.Empty(t, p.Lost)
		}
		r.Announce(meet.Merged{})
		work.Wait()
		require.Equal(t, [][]int{nil, {40, 0}, {40, 0}}, resumed)
		for _, at := range began[1:] {
			require.WithinDuration(t, began[0], at, 200*time.Millisecond)
		}
		require.NoError(t, r.Why())
		closeAll(meetings(r, members)...)
	})
}

// What ends a pause: a shard that is lost, one that has ended, one that cannot go
// on, a stop, and shard 0's own end, after which later ones are told at once.
func TestPauseEnds(t *testing.T) {
	paused := func(t *testing.T, m *member) <-chan error {
		done := make(chan error, 1)
		go func() {
			n, err := m.Pause(context.Background(), meet.Delivery{Result: []byte("{}")})
			require.Zero(t, n)
			done <- err
		}()
		return done
	}
	for name, c := range map[string]struct {
		end  func(r *root, m *member)
		lost string
		err  string // of the one that pauses
	}{
		"a lost shard": {func(_ *root, m *member) { _ = m.conn.Close() }, "shard 2 of 3 at pipe: its connection was lost: the process ended, or the network was cut", "shard 0 has stopped all shards (lost)"},
		"one that cannot go on": {func(_ *root, m *member) {
			_, _ = m.Pause(context.Background(), meet.Delivery{Problem: "no space left"})
		}, "shard 2 of 3 at pipe: no space left", "shard 0 has stopped all shards (lost)"},
		"one that has ended":       {func(_ *root, m *member) { go m.Deliver(context.Background(), meet.Delivery{Result: []byte("{}")}) }, "", ""},
		"a stop":                   {func(r *root, _ *member) { r.Stop("interrupted") }, "", "shard 0 has stopped all shards (interrupted)"},
		"more bytes than had come": {func(_ *root, m *member) { _ = m.conn.sendJSON(kindPause, end{Bytes: 9}) }, "shard 2 of 3 at pipe: 0 of the 9 bytes of its records came", "shard 0 has stopped all shards (lost)"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, r, members := begun(t, 3, nil)
				sent(t, members[0], "{}\n")
				waits := paused(t, members[0])
				time.AfterFunc(time.Second, func() { c.end(r, members[1]) })
				at := time.Now()
				_, all := r.Pause(t.Context())
				require.False(t, all)
				require.Equal(t, time.Second, time.Since(at))
				if c.lost != "" {
					require.EqualError(t, r.Why(), c.lost)
					r.Stop("lost")
				} else if require.NoError(t, r.Why()); c.err == "" {
					r.Resume(0)
				}
				if err := <-waits; c.err == "" {
					require.NoError(t, err)
				} else {
					require.EqualError(t, err, c.err)
				}
				r.Close("")
				closeAll(meetings(r, members)...)
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 2, nil)
		r.Resume(0) // its workload has ended
		at := time.Now()
		require.NoError(t, <-paused(t, members[0]))
		require.Zero(t, time.Since(at))
		closeAll(meetings(r, members)...)
	})
	synctest.Test(t, func(t *testing.T) { // without shard 0
		s, r, members := begun(t, 2, func(s *shards) { s.cfgs[1].silence -= time.Second })
		waits := paused(t, members[0])
		s.net.mu.Lock()
		s.net.cut = true
		s.net.mu.Unlock()
		require.ErrorContains(t, <-waits, "nothing was heard of it for 19s")
		closeAll(r, members[0])
	})
}

// A result so far that fits into no message ends the pause of its shard, which
// says so: nothing else would.
func TestPauseOfTooMuch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, r, members := begun(t, 2, nil)
		done := make(chan error, 1)
		go func() {
			_, err := members[0].Pause(t.Context(), meet.Delivery{Result: make([]byte, resultBytes)})
			done <- err
		}()
		select {
		case err := <-done:
			require.ErrorContains(t, err, "fit into a message")
		case <-time.After(time.Hour):
			require.Fail(t, "it waits for ever")
		}
		closeAll(meetings(r, members)...)
	})
}
