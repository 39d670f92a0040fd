package client

import (
	"fmt"
	"math/bits"
	"sync/atomic"
	"time"
)

// Lag is how late the client was with its socket reads: the return of a read
// minus the kernel's stamp of what it brought. It is the client's own delay,
// and no part of any stamp that the kernel gave.
type Lag struct {
	Reads  int64 // reads with a kernel's stamp; 0 where the system gives none
	Others int64 // reads without one, whose return is the time of arrival
	// Of the reads with a stamp; P50 and P99 are at most an eighth too high.
	P50, P99, Max time.Duration
}

// Names of the clocks behind the stamps of arrival.
const (
	clockKernel = "kernel receive (SO_TIMESTAMPING)"
	clockRead   = "socket read"
)

// Clock says what the stamps of arrival were so far: "kernel receive
// (SO_TIMESTAMPING)" or, where the system gives no such stamp, "socket read",
// the return of the read. Where some reads had none, it adds how many.
func (c *Client) Clock() string {
	switch l := c.ReadLag(); {
	case l.Reads == 0:
		return clockRead
	case l.Others == 0:
		return clockKernel
	default:
		return fmt.Sprintf("%s, but %s for %d of %d reads", clockKernel, clockRead, l.Others, l.Reads+l.Others)
	}
}

// ReadLag tells of all reads since the start, or since ResetReadLag. It may be
// called at any time.
func (c *Client) ReadLag() Lag {
	var l Lag
	var sum [lagBuckets]int64
	for _, s := range c.all() {
		l.Others += s.lags.others.Load()
		l.Max = max(l.Max, time.Duration(s.lags.max.Load()))
		for i := range s.lags.counts {
			n := int64(s.lags.counts[i].Load())
			sum[i] += n
			l.Reads += n
		}
	}
	l.P50 = min(l.Max, quantile(&sum, (l.Reads+1)/2))
	l.P99 = min(l.Max, quantile(&sum, l.Reads-l.Reads/100))
	return l
}

// ResetReadLag forgets all reads, as between warm-up and measurement. Reads at
// the same moment may be forgotten or not.
func (c *Client) ResetReadLag() {
	for _, s := range c.all() {
		s.lags.others.Store(0)
		s.lags.max.Store(0)
		for i := range s.lags.counts {
			s.lags.counts[i].Store(0)
		}
	}
}

// A bucket is an eighth of a power of two wide, from 64 ns to half a minute.
const (
	lagUnit    = 6 // bits
	lagBuckets = 8 + 8*26
)

// lags counts the read lags of a slot. Its reads are one after the other, but
// for those of connections whose bodies' ends are awaited, so that the counts
// are hardly ever contended.
type lags struct {
	counts [lagBuckets]atomic.Uint32
	max    atomic.Int64
	others atomic.Int64
}

// add counts a read; lag is negative where there is no stamp.
func (l *lags) add(lag int64) {
	if lag < 0 {
		l.others.Add(1)
		return
	}
	l.counts[bucket(lag)].Add(1)
	for m := l.max.Load(); lag > m && !l.max.CompareAndSwap(m, lag); m = l.max.Load() {
	}
}

func bucket(lag int64) int {
	u := uint64(lag) >> lagUnit
	if u < 8 {
		return int(u)
	}
	e := bits.Len64(u) - 4
	return min(8*e+int(u>>e), lagBuckets-1)
}

// quantile is the upper bound of the bucket of the lag with that rank, from 1.
func quantile(counts *[lagBuckets]int64, rank int64) time.Duration {
	for i, n := range counts {
		if rank -= n; n > 0 && rank <= 0 {
			return ceiling(i)
		}
	}
	return 0
}

// ceiling is the largest lag in bucket i.
func ceiling(i int) time.Duration {
	low, e := uint64(i), 0
	if i >= 8 {
		e = i/8 - 1
		low = uint64(8+i%8) << e
	}
	return time.Duration((low+1<<e)<<lagUnit - 1)
}
