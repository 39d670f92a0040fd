package gather

import (
	"math"
	"slices"

	"github.com/slogate/slogate/internal/report/figure"
	"github.com/slogate/slogate/internal/stats"
)

// OverTime are the series of a run over its time: one value a slice, at its
// middle, in seconds, a second, or requests. NaN is a slice without any.
type OverTime struct {
	Width   float64 // seconds of a slice
	Mid     figure.Values
	Sent    figure.Values // requests a second
	Done    figure.Values // successes a second
	Failed  figure.Values // failures a second
	Output  figure.Values // tokens a second, at their arrival
	Flight  figure.Values // mean number of requests in flight
	TTFT    [2]figure.Values
	TPOT    [2]figure.Values // p50 and p99 of the requests sent in the slice
	Warmup  float64          // seconds at which the warm-up's last answer ended; 0 without one
	Failure figure.Values    // moments of failures, the first 2,000
}

// OverTime gives them.
func (g *Run) OverTime() OverTime {
	o := OverTime{Width: float64(g.width) / 1e9, Warmup: float64(g.warmupEnd) / 1e9}
	whole := 0.0
	for i := range g.slices {
		s := &g.slices[i]
		whole += g.busy[i]
		from := int64(i) * g.width
		to := min(from+g.width, g.opts.End)
		width := float64(to-from) / 1e9
		if width < o.Width/2 && len(g.slices) > 1 { // a rest too short to have a rate
			break
		}
		o.Mid = append(o.Mid, float64(from+to)/2e9)
		o.Sent = append(o.Sent, float64(s.sent)/width)
		o.Done = append(o.Done, float64(s.done)/width)
		o.Failed = append(o.Failed, float64(s.failed)/width)
		o.Output = append(o.Output, s.tokens/width)
		o.Flight = append(o.Flight, whole+s.busy/width)
		for k, p := range [...]float64{50, 99} {
			o.TTFT[k] = append(o.TTFT[k], percentile(s.ttft, p))
			o.TPOT[k] = append(o.TPOT[k], percentile(s.tpot, p))
		}
	}
	for _, f := range g.failures {
		o.Failure = append(o.Failure, f.at)
	}
	slices.Sort(o.Failure)
	return o
}

// percentile is type 7, as everywhere, of values that it sorts.
func percentile(values []float32, p float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	slices.Sort(values)
	all := make([]float64, len(values))
	for i, v := range values {
		all[i] = float64(v)
	}
	return stats.Percentile(all, p)
}
