package stats

import "math/bits"

// A histogram counts values from 0 in buckets that are 1 wide below 2048, and
// above that in 1,024 buckets for each power of two, as HdrHistogram has them.
// A bucket's middle is therefore off by at most half a bucket, which is
// 1/2048 of the smallest value in it.
type histogram struct {
	counts [histogramBuckets]int64
}

const (
	subBits          = 10
	subBuckets       = 1 << subBits
	histogramBuckets = 2*subBuckets + (63-subBits-1)*subBuckets
	histogramError   = 1.0 / (2 * subBuckets)
)

// bucketOf gives the bucket of v, which is 0 or more.
func bucketOf(v int64) int {
	if v < 2*subBuckets {
		return int(v)
	}
	shift := bits.Len64(uint64(v)) - 1 - subBits // 1 or more
	return shift*subBuckets + int(v>>shift)      // v>>shift is in [1024, 2048)
}

// middleOf gives the middle of a bucket's smallest and largest value.
func middleOf(bucket int) float64 {
	if bucket < 2*subBuckets {
		return float64(bucket)
	}
	shift := bucket/subBuckets - 1
	first := int64(bucket-shift*subBuckets) << shift
	return float64(first) + float64(int64(1)<<shift-1)/2
}

func (h *histogram) add(v int64) { h.counts[bucketOf(v)]++ }

func (h *histogram) merge(o *histogram) {
	for i, c := range o.counts {
		h.counts[i] += c
	}
}

// at gives the order statistics i <= j, counted from 0, each as the middle of
// its bucket; the last bucket in use stands for ranks beyond the end.
func (h *histogram) at(i, j int) (a, b float64) {
	seen, found := int64(0), false
	for k, c := range h.counts {
		if c == 0 {
			continue
		}
		seen += c
		b = middleOf(k)
		if !found && seen > int64(i) {
			a, found = b, true
		}
		if seen > int64(j) {
			break
		}
	}
	return a, b
}

// countFrom is how many values are in the given bucket and above.
func (h *histogram) countFrom(bucket int) int {
	n := int64(0)
	for _, c := range h.counts[bucket:] {
		n += c
	}
	return int(n)
}
