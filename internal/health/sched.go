package health

import (
	"math"
	"runtime/metrics"
	"time"
)

// The runtime's own figures. Its CPU classes are not among them: they are
// brought up to date by collections only, and say nothing without one.
const (
	gcCycles   = "/gc/cycles/total:gc-cycles"
	gcPauses   = "/sched/pauses/total/gc:seconds"
	schedDelay = "/sched/latencies:seconds"
)

// schedSample is the runtime's counters since the process began.
type schedSample struct {
	cycles        uint64
	pauses, waits *metrics.Float64Histogram
}

func readSched() schedSample {
	s := []metrics.Sample{{Name: gcCycles}, {Name: gcPauses}, {Name: schedDelay}}
	metrics.Read(s)
	var out schedSample
	if s[0].Value.Kind() == metrics.KindUint64 {
		out.cycles = s[0].Value.Uint64()
	}
	// A runtime that has a metric no more leaves its histogram nil.
	if s[1].Value.Kind() == metrics.KindFloat64Histogram {
		out.pauses = s[1].Value.Float64Histogram()
	}
	if s[2].Value.Kind() == metrics.KindFloat64Histogram {
		out.waits = s[2].Value.Float64Histogram()
	}
	return out
}

// since is what happened after an earlier sample.
func (s schedSample) since(a schedSample) (GC, Spread) {
	pauses := difference(a.pauses, s.pauses)
	waits := difference(a.waits, s.waits)
	return GC{Cycles: int(s.cycles - a.cycles), Pause: pauses.percentile(100)},
		Spread{Count: int(waits.total()), P50: waits.percentile(50), P99: waits.percentile(99), Max: waits.percentile(100)}
}

// histogram has counts[i] times between edges[i] and edges[i+1], in seconds;
// the first and the last edge may be infinite.
type histogram struct {
	counts []uint64
	edges  []float64
}

// difference is what came into b after a, which is an earlier reading of the
// same metric.
func difference(a, b *metrics.Float64Histogram) histogram {
	if a == nil || b == nil || len(a.Counts) != len(b.Counts) {
		return histogram{}
	}
	h := histogram{counts: make([]uint64, len(b.Counts)), edges: b.Buckets}
	for i, n := range b.Counts {
		// Counters of several threads are read one after the other.
		h.counts[i] = n - min(n, a.Counts[i])
	}
	return h
}

func (h histogram) total() (n uint64) {
	for _, c := range h.counts {
		n += c
	}
	return n
}

// percentile is the upper edge of the bucket that holds the p*n/100-th smallest
// of n times, rounded up (the nearest rank); 0 without times. Of a bucket that
// has no upper edge it is the lower one.
func (h histogram) percentile(p uint64) time.Duration {
	rank := max(1, (h.total()*p+99)/100)
	for i, c := range h.counts {
		if c < rank {
			rank -= c
			continue
		}
		edge := h.edges[i+1]
		if math.IsInf(edge, 1) {
			edge = h.edges[i]
		}
		return time.Duration(math.Round(max(0, edge) * 1e9))
	}
	return 0
}
