package load

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Lag sums up how late something was.
type Lag struct {
	Count          int
	Mean, P50, P99 time.Duration // the percentiles to 3 %, rounded up
	Max            time.Duration
}

// lags counts times in buckets, so that a long run takes no more memory than a
// short one and writers need no lock. Up to 64 ns a bucket is 1 ns wide, above
// each power of two has 32 of them.
type lags struct {
	buckets  [64 * 32]atomic.Int64
	sum, max atomic.Int64
}

func (l *lags) add(d int64) {
	d = max(d, 0)
	l.buckets[bucket(d)].Add(1)
	l.sum.Add(d)
	for {
		m := l.max.Load()
		if d <= m || l.max.CompareAndSwap(m, d) {
			return
		}
	}
}

// bucket is the index of a time: its power of two, and the five bits below its
// highest one.
func bucket(d int64) int {
	shift := max(bits.Len64(uint64(d))-6, 0)
	return shift<<5 + int(d>>shift)
}

// top is the largest time of a bucket.
func top(bucket int) int64 {
	if bucket < 64 {
		return int64(bucket)
	}
	shift := bucket>>5 - 1
	return (int64(bucket&31+32)+1)<<shift - 1
}

// summary is what was added so far.
func (l *lags) summary() Lag {
	var n int64
	for i := range l.buckets {
		n += l.buckets[i].Load()
	}
	if n == 0 {
		return Lag{}
	}
	m := l.max.Load()
	return Lag{
		Count: int(n), Mean: time.Duration(l.sum.Load() / n),
		P50: time.Duration(min(l.rank((n+1)/2), m)), P99: time.Duration(min(l.rank(n-n/100), m)),
		Max: time.Duration(m),
	}
}

// rank is the k-th smallest time, from 1, to its bucket's top.
func (l *lags) rank(k int64) int64 {
	for i := range l.buckets {
		if k -= l.buckets[i].Load(); k <= 0 {
			return top(i)
		}
	}
	return 0
}
