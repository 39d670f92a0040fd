package stats

import (
	"math"
	"slices"
)

// exactSamples is how many samples a Distribution keeps as they are: 8 MiB.
// More gaps than these are rare in a test and cost no memory.
const exactSamples = 1 << 20

// Distribution gathers integer samples that may be too many to keep, such as
// the gaps between tokens in nanoseconds. Count, mean, deviation, minimum and
// maximum are always exact. Percentiles are exact up to 1,048,576 samples;
// beyond that they come from a histogram of fixed size and are off by at most
// [Distribution.Resolution].
//
// All figures depend on the samples alone, not on their order or on how they
// were merged. The zero value is ready for use. It is not safe for concurrent
// use.
type Distribution struct {
	sums
	samples []int64    // all of them, while they are few enough
	sorted  bool       // samples are ascending
	hist    *histogram // in place of samples, once they are too many
	limit   int        // samples to keep; 0 means exactSamples
}

// Add adds one sample. A gap is never below zero; where a clock's mapping makes
// it seem so, it counts as 0.
func (d *Distribution) Add(v int64) {
	v = max(v, 0)
	d.sums.add(v)
	if d.hist != nil {
		d.hist.add(v)
		return
	}
	d.sorted = false
	d.samples = append(d.samples, v)
	d.fold()
}

// AddN adds n samples of value v each.
func (d *Distribution) AddN(v int64, n int) {
	for range n {
		d.Add(v)
	}
}

// Merge adds the samples of o, which stays as it is.
func (d *Distribution) Merge(o *Distribution) {
	d.sums.merge(o.sums)
	switch {
	case o.hist == nil && d.hist == nil:
		d.sorted = false
		d.samples = append(d.samples, o.samples...)
		d.fold()
	case o.hist == nil:
		for _, v := range o.samples {
			d.hist.add(v)
		}
	default:
		d.toHistogram()
		d.hist.merge(o.hist)
	}
}

// fold gives up the single samples when they have become too many.
func (d *Distribution) fold() {
	limit := d.limit
	if limit == 0 {
		limit = exactSamples
	}
	if len(d.samples) > limit {
		d.toHistogram()
	}
}

func (d *Distribution) toHistogram() {
	if d.hist == nil {
		d.hist = new(histogram)
	}
	for _, v := range d.samples {
		d.hist.add(v)
	}
	d.samples = nil
}

// N is the number of samples.
func (d *Distribution) N() int { return d.sums.n }

// Approximate reports whether percentiles come from the histogram.
func (d *Distribution) Approximate() bool { return d.hist != nil }

// Resolution is the largest relative error of a percentile: 0 while they are
// exact, else 1/2048.
func (d *Distribution) Resolution() float64 {
	if d.hist == nil {
		return 0
	}
	return histogramError
}

// Summary describes the samples, exactly but for the final rounding to float64.
func (d *Distribution) Summary() Summary { return d.sums.summary() }

// Percentile gives the p-th percentile as [Percentile] defines it, NaN without
// samples and for a p that is no percent. The first call after new samples
// sorts them.
func (d *Distribution) Percentile(p float64) float64 {
	if d.hist == nil {
		if !d.sorted {
			slices.Sort(d.samples)
			d.sorted = true
		}
		return Percentile(d.samples, p)
	}
	if !inPercent(p) {
		return math.NaN()
	}
	k, f := rank(d.sums.n, p)
	a, b := d.hist.at(k, k+1)
	return lerp(d.order(k, a), d.order(min(k+1, d.sums.n-1), b), f)
}

// order is the k-th order statistic: that of the histogram, or what is known
// better at the ends.
func (d *Distribution) order(k int, bucket float64) float64 {
	switch low, high := float64(d.sums.low), float64(d.sums.high); k {
	case 0:
		return low
	case d.sums.n - 1:
		return high
	default:
		return min(max(bucket, low), high)
	}
}

// CountAtLeast is how many samples are v or more. Of a histogram's bucket that
// holds v all count, so that what is over a limit is never missed.
func (d *Distribution) CountAtLeast(v int64) int {
	if v > d.sums.high {
		return 0 // known exactly, where a bucket would not tell
	}
	if d.hist != nil {
		return d.hist.countFrom(bucketOf(max(v, 0)))
	}
	n := 0
	for _, s := range d.samples {
		if s >= v {
			n++
		}
	}
	return n
}
