package perftest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// mostBelow is an objective of all but a share of the requests.
func mostBelow(p string, limit time.Duration) SLO {
	return SLO{Metric: TTFT, Stat: Stat(p), Op: Below, Limit: limit.Seconds()}
}

// lines are records as a run writes them.
func lines(t *testing.T, records []record.Record) []byte {
	t.Helper()
	var out bytes.Buffer
	w := record.NewWriter(&out, nil)
	for i := range records {
		r := w.Get()
		*r = records[i]
		r.Events = slices.Clone(r.Events) // which the writer uses again
		w.Put(r)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Of the same records in the same order the watch of all shards decides at the
// same one, and says the same, as the watch of one process.
func TestTheWatchOfAllShardsIsThatOfOneProcess(t *testing.T) {
	records := manyRecords(2000, 16, true)
	stops := 0
	for _, slo := range []SLO{
		mostBelow("p99", 80*time.Millisecond), mostBelow("p90", 90*time.Millisecond), mostBelow("p50", 65*time.Millisecond), mostBelow("p50", time.Minute),
		{Metric: ErrorRate, Op: AtMost, Limit: 0.01}, {Metric: TTFT, Stat: Max, Op: Below, Limit: 60},
	} {
		require.NoError(t, slo.check())
		watched := func() watch { return watch{slos: []SLO{slo}, planned: 1984, lost: func() {}} }
		one, c, at := watched(), newCollector(), 0
		all, gone := newWatchAll(watched(), nil, nil), 0
		for i := range records {
			if c.add(&records[i]); one.why == "" {
				one.look(c)
				at = i
			}
			if all.add(&records[i]) {
				gone = i + 1
			}
		}
		if one.why != "" {
			stops++
			require.Equal(t, at, gone, "the same request decides: %v", slo)
		}
		require.Equal(t, one.why, all.close(), "%v", slo)
	}
	require.Equal(t, 5, stops)
}

// The files of three shards, whose clocks and speeds differ, grow by pieces that
// end within lines: all that is measured is seen, at the times of shard 0.
func TestTheWatchFollowsFiles(t *testing.T) {
	records := manyRecords(600, 6, true)
	epochs := []time.Duration{0, -3 * time.Second, -5 * time.Second}
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var files []string
		for i := range epochs {
			files = append(files, filepath.Join(dir, strconv.Itoa(i), requestsFile))
		}
		all := newWatchAll(watch{slos: []SLO{mostBelow("p50", time.Minute)}, planned: 594, lost: func() {}}, files, epochs)
		for i, epoch := range epochs {
			go func() {
				var part []record.Record
				for _, r := range records {
					if r.Index%3 == i {
						r.Events = slices.Clone(r.Events)
						r.Shift(-int64(epoch))
						part = append(part, r)
					}
				}
				time.Sleep(time.Duration(i+1) * time.Second) // all are followed by then
				f, err := os.Create(files[i])                // anew, as shard 0 does at the first records
				if err != nil {
					t.Error(err)
					return
				}
				defer f.Close()
				random := rand.New(rand.NewPCG(uint64(i), 3))
				for data := lines(t, part); len(data) > 0; {
					n := min(len(data), 1+random.IntN(30_000))
					if _, err := f.Write(data[:n]); err != nil {
						t.Error(err)
					}
					data = data[n:]
					time.Sleep(time.Duration(random.IntN(300*(i+1))) * time.Millisecond)
				}
			}()
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		all.mu.Lock()
		seen := map[int64]int{}
		for i := range all.seen.samples.all {
			seen[all.seen.samples.all[i].scheduled]++
		}
		all.mu.Unlock()
		want := map[int64]int{}
		for _, r := range records {
			if r.Part == record.Measured {
				want[r.Scheduled]++
			}
		}
		require.Empty(t, all.close())
		require.Empty(t, cmp.Diff(want, seen))
		require.Empty(t, all.close(), "again")
	})
}

// What is not there yet may keep the objective: a shard that is late, or that has
// all the misses, proves nothing before they are too many of the whole plan.
func TestTheWatchWaitsForTheWholePlan(t *testing.T) {
	at := func(all *watchAll, i int, ttft time.Duration) {
		var r record.Record
		fillRecord(&r, i, 2)
		r.Class, r.Part, r.FirstToken = "", record.Measured, r.Sent+int64(ttft)
		all.add(&r)
	}
	lost := 0
	all := newWatchAll(watch{slos: []SLO{mostBelow("p90", 100*time.Millisecond)}, planned: 3000, lost: func() { lost++ }}, nil, nil)
	for i := 0; i < 1000; i += 10 { // 100 of shard 0 of 10, of which a third is over: of its own plan too many
		at(all, i, time.Duration(50+100*(i/10%3/2))*time.Millisecond)
	}
	require.Zero(t, lost)
	for i := 1; i < 3000; i += 2 { // half of all
		at(all, i, 200*time.Millisecond)
	}
	require.Equal(t, 1, lost)
	require.Contains(t, all.close(), "of 3000 do")
}
