package perftest

import (
	"math"

	"github.com/slogate/slogate/internal/stats"
)

// proveMean tests an SLO on a mean, which failures leave without a bound.
func (r judged) proveMean(v Verdict, values []float64, bounded bool) (Verdict, stats.Evidence) {
	if !bounded {
		return v, stats.Evidence{Valid: true, Refuted: true}
	}
	m := stats.MeanTest{Limit: v.SLO.bound(), AtLeast: v.SLO.lower(), Alpha: r.proofLevel(v.SLO), FailAlpha: r.refuteLevel(v.SLO)}.Run(values)
	v.mean(m)
	return v, m.Evidence
}

// mean takes over what a test of a mean says.
func (v *Verdict) mean(m stats.Mean) {
	v.Needed, v.MeasuredBound = m.Needed, Value(m.Upper)
	if v.SLO.lower() {
		v.MeasuredBound = Value(m.Lower)
	}
}

// rateWindows is into how many windows a run is cut to test a rate, and the
// least number of requests in them that make a test.
const (
	rateWindows  = 20
	rateRequests = 5 * rateWindows
)

// proveRate tests an SLO on a rate, by what ends in each of equal windows; of
// is what a success adds.
func (r judged) proveRate(v Verdict, of func(*sample) float64) (Verdict, stats.Evidence) {
	if v.Point == Invalid {
		return v, stats.Evidence{}
	}
	windows := r.windowRates(of)
	if v.Samples < rateRequests {
		v.Needed = rateRequests
		return v, stats.Evidence{Valid: true, FailP: 1}
	}
	m := stats.MeanTest{Limit: v.SLO.bound(), AtLeast: v.SLO.lower(), Alpha: r.proofLevel(v.SLO), FailAlpha: r.refuteLevel(v.SLO)}.Run(windows)
	v.mean(m)
	if v.Needed > 0 { // of windows
		v.Needed = int(math.Ceil(float64(v.Needed) / float64(len(windows)) * float64(v.Samples)))
	}
	return v, m.Evidence
}

// windowRates is what ends in each of a run's windows, a second; of a repeated
// scenario, in those of all its runs.
func (r *Result) windowRates(of func(*sample) float64) (windows []float64) {
	for _, part := range r.parts {
		windows = append(windows, part.windowRates(of)...)
	}
	if r.parts != nil {
		return windows
	}
	times := r.busyTimes()
	length := float64(times.length())
	windows = make([]float64, rateWindows)
	for _, part := range [][]sample{r.samples.start, r.samples.all} {
		for i := range part {
			s := &part[i]
			if at, in := times.at(s.done); in && !s.failed && !s.cancelled {
				windows[min(int(float64(at)/length*rateWindows), rateWindows-1)] += of(s)
			}
		}
	}
	for i := range windows {
		windows[i] /= length / 1e9 / rateWindows
	}
	return windows
}
