//go:build unix

package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/stats"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// fiveAtOnce answers five requests at once, and refuses those beyond.
func fiveAtOnce(t *testing.T) string {
	return fiveWithin(t, 20*time.Millisecond) // far more than a client takes from answer to request
}

// caller is a request to fiveWithin's server.
type caller struct {
	ctx      context.Context
	answered bool
}

// gone says that the client has not waited for an answer. A step of a search
// gives up what it has in flight at its end, which a busy machine may tell the
// server no sooner than the next step's requests.
func (c *caller) gone() bool { return !c.answered && c.ctx.Err() != nil }

func fiveWithin(t *testing.T, each time.Duration) string {
	var mu sync.Mutex
	var flying []*caller
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // after which net/http sees that a client is gone
		c := &caller{ctx: r.Context()}
		mu.Lock()
		met := slices.Clone(flying)
		flying = append(flying, c)
		mu.Unlock()
		time.Sleep(each)
		mu.Lock()
		met = slices.DeleteFunc(met, (*caller).gone)
		// Its place is free before the client can know of its end.
		flying = slices.DeleteFunc(flying, func(o *caller) bool { return o == c })
		c.answered = !c.gone()
		mu.Unlock()
		if len(met) >= 5 {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, token := range []string{"a", "b"} {
			fmt.Fprintf(w, `data: {"choices":[{"index":0,"delta":{"content":%q}}]}`+"\n\n", token)
		}
		fmt.Fprint(w, `data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// capacity is shard 0's search.
func (j *job) capacity() *perftest.Capacity {
	j.t.Helper()
	var found []string
	require.NoError(j.t, filepath.WalkDir(j.results[0], func(path string, _ fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), "maxload-") {
			found = append(found, path)
		}
		return err
	}))
	require.Len(j.t, found, 1, j.out[0].String())
	data, err := os.ReadFile(found[0])
	require.NoError(j.t, err)
	c := new(perftest.Capacity)
	require.NoError(j.t, json.Unmarshal(data, c))
	return c
}

// requireSearch holds a search of shards against the one that a process of its own
// makes of the same requests: each step is judged by its merged requests alone, and
// leads to the next one.
func requireSearch(t *testing.T, c *perftest.Capacity, start float64) {
	t.Helper()
	search, err := stats.NewSearch(stats.SearchConfig{Start: start, Integer: true})
	require.NoError(t, err)
	for _, p := range c.Probes {
		next, more := search.Next()
		require.True(t, more)
		require.Equal(t, next, stats.Probe{Load: float64(p.Load), Confirm: p.Confirm})
		r, err := perftest.ReadResult(p.Dir)
		require.NoError(t, err)
		v := r.Judge(c.SLOs...)[0]
		outcome := v.Point
		if p.Confirm {
			outcome = v.Outcome
		}
		if p.Saturated {
			outcome = perftest.Fail
		}
		require.Equal(t, outcome, p.Outcome, "at %v", p.Load)
		tried := stats.Tried{Probe: next, Outcome: stats.ProbeOpen}
		switch p.Outcome {
		case perftest.Pass:
			tried.Outcome = stats.ProbeMet
		case perftest.Fail:
			tried.Outcome = stats.ProbeMissed
		}
		search.Report(tried)
	}
	_, more := search.Next()
	require.False(t, more)
	require.Equal(t, search.Found().Lo, float64(c.Lo))
}

// Three shards search together as one process does. On a machine with time, by
// hand, 2, 4 and 8 double, sqrt(4·8) is 5.7, which rounds to 6, and 5 is left, and
// is confirmed; on a busy one six requests may not meet, and 6 be tried in vain
// later. With two slots the third shard looks on.
func TestShardsSearchTogether(t *testing.T) {
	t.Parallel()
	const n = 3
	j := startJob(t, n, "TestChildSearch", fiveAtOnce(t), nil)
	require.Equal(t, make([]int, n), j.wait(), j.out[1].String()+j.out[0].String())
	c := j.capacity()
	requireSearch(t, c, 2)
	if p := c.Probes; p[2].Outcome == perftest.Fail && p[3].Outcome == perftest.Fail { // as on a machine with time
		var loads []float64
		for _, p := range p {
			loads = append(loads, float64(p.Load))
		}
		require.Equal(t, []float64{2, 4, 8, 6, 5, 5}, loads, j.out[0].String())
	}
	require.GreaterOrEqual(t, float64(c.Lo), 5.0, j.out[0].String())
	require.True(t, c.Probes[len(c.Probes)-1].Confirm)
	var rows []int
	for i, p := range c.Probes {
		r, err := perftest.ReadResult(p.Dir)
		require.NoError(t, err)
		shards := min(n, int(p.Load))
		require.Len(t, r.Shards, shards)
		require.NoDirExists(t, filepath.Join(p.Dir, "shards"))
		slots := map[int]bool{}
		measured := 0
		for _, l := range lines(t, p.Dir) {
			rows = append(rows, l.Row)
			if l.Phase == "measured" {
				measured++
				require.Equal(t, l.Index%int(p.Load)%shards, l.Slot%shards, "requests are dealt out as slots are")
				slots[l.Slot] = true
			}
		}
		require.Len(t, slots, int(p.Load))
		if p.Outcome == perftest.Pass {
			require.Equal(t, r.Counts.Planned, measured, "step %d", i+1)
		}
		requireSameFigures(t, r)
	}
	slices.Sort(rows)
	require.Len(t, slices.Compact(slices.Clone(rows)), len(rows), "each step goes on with the workload")
	for i := 1; i < n; i++ {
		require.Empty(t, dirs(t, j.results[i]))
		require.Contains(t, j.out[i].String(), "TestChildSearch: the verdict on its max load is shard 0's, in "+j.results[0])
		require.Contains(t, j.out[i].String(), "assert.MaxLoadAtLeast: the verdict is shard 0's, in "+j.results[0])
		require.Contains(t, j.out[i].String(), fmt.Sprintf("found %v\n", c.Lo))
	}
}

// A shard that is lost in a step ends the search of all.
func TestAShardIsLostInASearch(t *testing.T) {
	t.Parallel()
	dies := startJob(t, 3, "TestChildSearch", fiveAtOnce(t), func(i int) []string {
		if i == 1 {
			return []string{"CLUSTER_DIES_AT=100"}
		}
		return nil
	})
	require.Equal(t, []int{1, 3}, dies.wait()[:2], "the third one has passed its verdict on, or had not begun")
	require.Contains(t, dies.out[0].String(), "INVALID: ")
	require.Contains(t, dies.out[0].String(), "shard 1 of 3 at 127.0.0.1: its connection was lost")
}

// One that had no part in a step, and is gone before the next one, ends the search
// as well: none waits for it.
func TestAShardThatLooksOnIsLost(t *testing.T) {
	t.Parallel()
	// Twenty requests of each of two slots take five seconds. When nearly half of
	// them have come, shard 2 has long said that it has nothing to send, and the
	// next step is far.
	j := startJob(t, 3, "TestChildSearch", fiveWithin(t, 250*time.Millisecond), nil)
	require.Eventually(t, func() bool {
		files, err := filepath.Glob(filepath.Join(j.results[0], "*", "*", "*", "shards", "1", "requests.jsonl"))
		require.NoError(t, err)
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil && strings.Count(string(data), `"phase":"measured"`) >= 8 {
				return true
			}
		}
		return false
	}, childTimeout/2, 5*time.Millisecond)
	killed := time.Now()
	require.NoError(t, j.cmds[2].Process.Kill())
	require.Equal(t, 1, j.wait()[0], j.out[0].String())
	require.Less(t, time.Since(killed), childTimeout/2, "none waits for the test's deadline")
	require.Contains(t, j.out[0].String(), "shard 2 of 3 at 127.0.0.1: its connection was lost: the process ended, or the network was cut: its part had come")
	require.Contains(t, j.out[0].String(), "cut short (lost shard)")
	require.Equal(t, "lost shard", j.capacity().CutShort)
}
