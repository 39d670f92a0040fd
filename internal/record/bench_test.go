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
	b.Run("whole", func(b *testing.B) { benchmarkReader(b, false) })
	b.Run("without events", func(b *testing.B) { benchmarkReader(b, true) })
}

func benchmarkReader(b *testing.B, without bool) {
	var r Record
	r.Reset()
	typical(&r, 1, 64)
	line := appendLine(nil, &r)
	file := bytes.Repeat(line, 1000)
	rd := NewReader(bytes.NewReader(file))
	rd.WithoutEvents = without
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		err := rd.Next(&r)
		if err == io.EOF {
			rd = NewReader(bytes.NewReader(file))
			rd.WithoutEvents = without
			err = rd.Next(&r)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkWriter hands over 100,000 records of 64 events, at 64,000 a second
// at most and then as fast as it can, which is far above any load. It reports
// what the sender waits a record and the memory in use at the end, with the
// backlog that there was.
func BenchmarkWriter(b *testing.B) {
	b.Run("paced", func(b *testing.B) { benchmarkWriter(b, time.Millisecond) })
	b.Run("flood", func(b *testing.B) { benchmarkWriter(b, 0) })
}

func benchmarkWriter(b *testing.B, pause time.Duration) {
	const records, events = 100_000, 64
	var put time.Duration
	var high int
	var heap uint64
	b.ReportAllocs()
	for b.Loop() {
		w := NewWriter(io.Discard, nil)
		for i := range records {
			r := w.Get()
			typical(r, i, events)
			start := time.Now()
			w.Put(r)
			put += time.Since(start)
			if pause > 0 && i%64 == 63 {
				time.Sleep(pause)
			}
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = max(heap, m.HeapInuse)
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		high = max(high, w.Stats().HighWater)
	}
	b.ReportMetric(float64(put.Nanoseconds())/float64(b.N)/records, "put-ns/record")
	b.ReportMetric(float64(high), "queue-max")
	b.ReportMetric(float64(heap)/(1<<20), "heap-MiB")
}
