package simulate

import (
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/slogate/slogate/internal/stats"
)

// warm is how many requests a run at a load that holds needs before it is
// steady: over half a minute.
const warm = 300

// Metric takes one figure of a request.
type Metric func(Request) float64

// TTFT and TPOT are the metrics that are judged.
func TTFT(r Request) float64 { return r.TTFT }
func TPOT(r Request) float64 { return r.TPOT }

// values are a metric of all requests that have it, in order.
func values(requests []Request, metric Metric) []float64 {
	out := make([]float64, 0, len(requests))
	for _, r := range requests {
		if v := metric(r); !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// seconds is how long the requests came in.
func seconds(requests []Request) float64 {
	return requests[len(requests)-1].Start - requests[0].Start
}

// percentile is the p-th percentile of a metric, p from 0 to 100.
func percentile(requests []Request, metric Metric, p float64) float64 {
	return stats.Percentile(slices.Sorted(slices.Values(values(requests, metric))), p)
}

// parallel calls f for 0 to n-1 on all cores; each call takes its own seed, so
// that the results do not depend on the order.
func parallel[T any](n int, f func(i int) T) []T {
	out := make([]T, n)
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				out[i] = f(i)
			}
		})
	}
	wg.Wait()
	return out
}

// share is the share of results for which f holds.
func share[T any](results []T, f func(T) bool) float64 {
	k := 0
	for _, r := range results {
		if f(r) {
			k++
		}
	}
	return float64(k) / float64(len(results))
}
