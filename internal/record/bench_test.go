package record

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// typical fills r as a plain answer of n events does.
func typical(r *Record, i, n int) {
	rnd := rand.New(rand.NewPCG(uint64(i), 0))
	r.Index, r.Slot = i, i%64
	at := int64(i) * 1_234_567
	r.Scheduled, r.Sent, r.Connected, r.Headers = at, at+1500, at+2500, at+90_000_000
	at += 200_000_000
	r.FirstEvent, r.FirstToken, r.FirstAnswer = at, at, at
	for range n {
		r.Events = append(r.Events, Event{At: at, Kind: KindChoices | KindAnswer})
		at += 20_000_000 + rnd.Int64N(1_000_000)
	}
	r.LastToken, r.UsageAt, r.Done = at, at, at
	r.Status, r.FinishReason, r.Class = 200, "stop", ""
	r.InputTokens, r.OutputTokens, r.InputSource, r.OutputSource = 1024, int64(n), SourceUsage, SourceUsage
	r.DataEvents, r.TokenEvents, r.Bytes = n, n, 12_345
}

func BenchmarkAppendLine(b *testing.B) {
	var r Record
	r.Reset()
	typical(&r, 1, 64)
	buf := appendLine(nil, &r)
	b.SetBytes(int64(len(buf)))
	b.ReportAllocs()
	for b.Loop() {
		buf = appendLine(buf[:0], &r)
	}
}

func BenchmarkReader(b *testing.B) {
	var r Record
	r.Reset()
	typical(&r, 1, 64)
	line := appendLine(nil, &r)
	file := bytes.Repeat(line, 1000)
	rd := NewReader(bytes.NewReader(file))
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		err := rd.Next(&r)
		if err == io.EOF {
			rd = NewReader(bytes.NewReader(file))
			err = rd.Next(&r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriter hands over 100,000 records of 64 events as fast as it can,
// which is far above any load, and reports what the sender waits a record and
// how much memory the backlog took.
func BenchmarkWriter(b *testing.B) {
	const records, events = 100_000, 64
	var put time.Duration
	var high, heap float64
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard, nil)
		for i := range records {
			r := w.Get()
			typical(r, i, events)
			start := time.Now()
			w.Put(r)
			put += time.Since(start)
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		high = max(high, float64(w.Stats().HighWater))
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = max(heap, float64(m.HeapSys))
	}
	b.ReportMetric(float64(put.Nanoseconds())/float64(b.N)/records, "put-ns/record")
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/records, "ns/record")
	b.ReportMetric(high, "queue-max")
	b.ReportMetric(heap/(1<<20), "heap-MiB")
}
