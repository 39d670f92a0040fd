package perftest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// A million requests are written, folded, saved and rendered. The bounds are
// 60 s on two cores and 1 GiB of memory:
//
//	go test -run '^$' -bench ReportOfAMillion -benchtime 1x ./perftest
func BenchmarkReportOfAMillion(b *testing.B) {
	const requests, events = 1_000_000, 16
	for b.Loop() {
		dir := b.TempDir()
		c := newCollector()
		w, err := record.Create(filepath.Join(dir, requestsFile), c.add)
		require.NoError(b, err)
		for i := range requests {
			rec := w.Get()
			fillRecord(rec, i, events)
			w.Put(rec)
			for i%100 == 0 && i-w.Stats().Written > 10_000 { // a load is slower than the disk
				time.Sleep(time.Millisecond)
			}
		}
		require.NoError(b, w.Close())
		r := &Result{Schema: ResultSchema, Version: ResultVersion, Name: "million", Ended: endedComplete, Dir: dir}
		c.finish(r, 64)
		require.NoError(b, r.save())
		b.ReportMetric(float64(peak())/(1<<20), "before-page-MiB")
		start := time.Now()
		require.NoError(b, Compare(dir, r))
		b.ReportMetric(time.Since(start).Seconds(), "page-s")
		page, err := os.Stat(filepath.Join(dir, pageFile))
		require.NoError(b, err)
		b.ReportMetric(float64(page.Size())/(1<<20), "page-MiB")
	}
	b.ReportMetric(float64(peak())/(1<<20), "peak-MiB")
}

// peak is the most memory that the process has had resident, in bytes; 0 where
// there is no /proc.
func peak() (bytes int64) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			_, _ = fmt.Sscanf(rest, "%d kB", &bytes)
		}
	}
	return bytes << 10
}

// fillRecord makes rec an answer of 64 slots that send every half millisecond,
// or one time in 500 a failure.
func fillRecord(rec *record.Record, i, events int) {
	rec.Reset()
	at := int64(i) * 5e5
	rec.Index, rec.Slot, rec.Scheduled, rec.Ready, rec.Sent = i, i%64, at, at, at+int64(i%1000)
	rec.FirstToken = at + 20e6 + int64(i%7)*1e6
	for k := range events {
		rec.LastToken = rec.FirstToken + int64(k)*1e6*int64(1+i%3)
		rec.Events = append(rec.Events, record.Event{At: rec.LastToken, Kind: record.KindAnswer | record.KindChoices})
	}
	rec.FirstEvent, rec.FirstAnswer, rec.SecondToken, rec.Done = rec.FirstToken, rec.FirstToken, rec.Events[1].At, rec.LastToken+1e5
	rec.DataEvents, rec.TokenEvents, rec.OutputTokens, rec.InputTokens = events, events, int64(events), 100
	rec.InputSource, rec.OutputSource = record.SourceUsage, record.SourceUsage
	if i%500 == 3 {
		rec.Class, rec.Message = record.ClassReset, "connection reset by peer"
	}
}
