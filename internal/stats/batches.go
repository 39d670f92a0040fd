package stats

import "math"

// batchCount is b of verdicts: the batches into which a run is cut, in order of
// intended start, to see how much its requests move together. 20 leave 19
// degrees of freedom and batches long enough to be nearly independent.
const batchCount = 20

// batchMeans cuts values into b runs of equal length, give or take one, and
// gives the mean of each. There must be b values or more.
func batchMeans(values []float64, b int) []float64 {
	means := make([]float64, b)
	for i := range means {
		from, to := i*len(values)/b, (i+1)*len(values)/b
		sum := 0.0
		for _, v := range values[from:to] {
			sum += v
		}
		means[i] = sum / float64(to-from)
	}
	return means
}

// DesignEffect is how many times larger the variance of a count of flags is
// than that of independent flags, from 20 batch means:
//
//	D = m var(batch means) / (x (1-x)), m = n/20, x = the mean
//
// It is 1 when all flags are equal, and NaN for fewer than 20 flags. It may be
// below 1; the tests take no credit for that. The requests of one server are
// not independent: one congestion puts many over the limit (D is 3 to 9 at half
// the capacity, over 80 near it).
func DesignEffect(flags []bool) float64 {
	n := len(flags)
	if n < batchCount {
		return math.NaN()
	}
	means := make([]float64, batchCount)
	total := 0
	for i := range means {
		from, to := i*n/batchCount, (i+1)*n/batchCount
		k := countTrue(flags[from:to])
		total += k
		means[i] = float64(k) / float64(to-from)
	}
	if total == 0 || total == n {
		return 1
	}
	x := float64(total) / float64(n)
	s := Summarize(means).StdDev
	return float64(n) / batchCount * s * s / (x * (1 - x))
}

func countTrue(flags []bool) int {
	k := 0
	for _, f := range flags {
		if f {
			k++
		}
	}
	return k
}

// effectiveSize is Korn and Graubard's effective sample size ("Confidence
// Intervals for Proportions with Small Expected Number of Positive Counts
// Estimated from Survey Data", 1998) for n requests with design effect d that
// was estimated from 20 batches: n/d, less a penalty for the estimate,
//
//	min(n, n/d (t_{1-a, n-1} / t_{1-a, 19})²)
func effectiveSize(n, d, alpha float64) float64 {
	// At 1/2 both quantiles are 0; their ratio is continuous there.
	a := min(alpha, 0.4999)
	r := StudentQuantile(a, n-1) / StudentQuantile(a, batchCount-1)
	return min(n, n/d*r*r)
}
