package perftest

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// Four shards of 250,000 requests each become one result. The bounds are those
// of a run of a million: 60 s on two cores and 1 GiB of memory, the page included:
//
//	go test -run '^$' -bench MergeOfAMillion -benchtime 1x ./perftest
func BenchmarkMergeOfAMillion(b *testing.B) {
	const shards, requests, events = 4, 1_000_000, 16
	for b.Loop() {
		b.StopTimer()
		var parts []*Result
		for shard := range shards {
			dir := b.TempDir()
			c := newCollector()
			w, err := record.Create(filepath.Join(dir, requestsFile), c.add)
			require.NoError(b, err)
			for i := shard; i < requests; i += shards {
				rec := w.Get()
				fillRecord(rec, i, events)
				rec.Slot /= shards
				w.Put(rec)
				if i%mostAhead == shard {
					w.Sync()
				}
			}
			require.NoError(b, w.Close())
			r := &Result{Schema: ResultSchema, Version: ResultVersion, Name: "million", Ended: endedComplete, Dir: dir, Started: time.Unix(0, 0)}
			r.Scenario.Load = LoadInfo{Concurrency: 64, ShardIndex: shard, ShardCount: shards, Rate: Absent, Duration: Absent}
			c.finish(r, 64)
			parts = append(parts, r)
		}
		b.ReportMetric(float64(peak())/(1<<20), "before-MiB")
		b.StartTimer()
		merged, err := Merge(filepath.Join(b.TempDir(), "merged"), Shards{Results: parts})
		require.NoError(b, err)
		require.Equal(b, requests, merged.Counts.Sent)
	}
	b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
}
