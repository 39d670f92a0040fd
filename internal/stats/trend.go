package stats

import (
	"math"
	"slices"
)

// Trend is Mann and Kendall's test for a monotone trend.
type Trend struct {
	S int     // pairs that rise less pairs that fall
	Z float64 // S as a standard normal deviate, with continuity and tie corrections; 0 without any variation
	P float64 // one-sided, for a rising trend
}

// MannKendall tests values in order of time for a trend (Mann 1945, Kendall
// 1975), with
//
//	var S = (n(n-1)(2n+5) - sum over ties of t(t-1)(2t+5)) / 18
//
// All is NaN with fewer than three values or a NaN among them.
func MannKendall(values []float64) Trend {
	n := len(values)
	if n < 3 || slices.ContainsFunc(values, math.IsNaN) {
		return Trend{Z: math.NaN(), P: math.NaN()}
	}
	s := 0
	for i, a := range values {
		for _, b := range values[i+1:] {
			switch {
			case b > a:
				s++
			case b < a:
				s--
			}
		}
	}
	weight := func(t int) float64 { return float64(t) * float64(t-1) * float64(2*t+5) }
	variance := weight(n)
	sorted := slices.Sorted(slices.Values(values))
	for i := 0; i < n; {
		j := i
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		variance -= weight(j - i)
		i = j
	}
	z := 0.0
	if s != 0 {
		z = (float64(s) - math.Copysign(1, float64(s))) / math.Sqrt(variance/18)
	}
	return Trend{S: s, Z: z, P: 0.5 * math.Erfc(z/math.Sqrt2)}
}

// TheilSen is the median of the slopes between all pairs of values, which are
// equally spaced in time: the change from one to the next (Theil 1950, Sen
// 1968). It is NaN with fewer than two values or a NaN among them.
func TheilSen(values []float64) float64 {
	if slices.ContainsFunc(values, math.IsNaN) {
		return math.NaN()
	}
	var slopes []float64
	for i, a := range values {
		for j, b := range values[i+1:] {
			slopes = append(slopes, (b-a)/float64(j+1))
		}
	}
	slices.Sort(slopes)
	return Percentile(slopes, 50)
}

// Span is one request in seconds: when it was sent, when it ended, and its time
// to first token. End and TTFT are NaN or +Inf for what never came.
type Span struct{ Start, End, TTFT float64 }

// InFlight gives the mean number of requests in flight in each of equal windows
// from one time to another. It is nil when there is no such time.
func InFlight(spans []Span, from, to float64, windows int) []float64 {
	if !(to > from) || windows < 1 || math.IsInf(to-from, 0) {
		return nil
	}
	out, width := make([]float64, windows), (to-from)/float64(windows)
	for _, s := range spans {
		end := s.End
		if !(end <= to) {
			end = to
		}
		start := max(s.Start, from)
		if !(end > start) {
			continue
		}
		first, last := int((start-from)/width), int((end-from)/width)
		for w := min(first, windows-1); w <= min(last, windows-1); w++ {
			low := max(start, from+float64(w)*width)
			high := min(end, from+float64(w+1)*width)
			out[w] += max(0, high-low) / width
		}
	}
	return out
}

const (
	trendWindows  = 20
	trendSkip     = 0.2  // of the run, for the ramp
	trendZ        = 2.33 // one-sided 1 %
	trendSlope    = 0.02 // of the arrival rate
	trendGrowth   = 1.3  // last quarter over first
	trendTTFT     = 1.5  // 4th quarter over 2nd
	steadyCV      = 0.5
	trendRequests = 4 * trendWindows
)

// Load is how a server bore its load over a run.
type Load struct {
	// Judged is false when there are fewer than 80 requests after the first
	// fifth: too few to tell.
	Judged bool
	// Saturated says that the server falls behind: all of Z > 2.33, Slope > 0.02,
	// Growth > 1.3 and TTFTGrowth > 1.5.
	Saturated bool
	// Trending says that in-flight grows in one direction, by z and Growth alone;
	// verdicts of such a run, and of one with a CV above 0.5, are too sure.
	Trending   bool
	InFlight   []float64 // means of 20 windows after the first fifth of the run
	Z          float64   // Mann-Kendall of these
	Slope      float64   // their Theil-Sen slope, per second, over the arrival rate
	Growth     float64   // last quarter of them over the first
	TTFTGrowth float64   // median TTFT of the requests sent in the 4th quarter over the 2nd; +Inf without first tokens
	CV         float64   // deviation of the windows over their mean
}

// Unsteady tells that a single run is shorter than the congestion cycle of its
// server and its verdict too sure: in-flight trends, or its windows vary by
// more than half their mean.
func (l Load) Unsteady() bool { return l.Judged && (l.Trending || l.CV > steadyCV) }

// JudgeLoad applies the saturation rule to requests sent between two times of a
// run. It has no absolute threshold, so that it holds for any SLO: 20 windows
// of mean in-flight after the first fifth rise steadily, faster than 2 % of the
// arrivals pile up, to 1.3 times, and first tokens come 1.5 times later. In
// a simulation it fires on 0 to 2 % of runs up to 80 % load and on nearly all at
// 120 %. A closed loop holds in-flight constant and never saturates by it.
func JudgeLoad(spans []Span, from, to float64) Load {
	nan := math.NaN()
	l := Load{Z: nan, Slope: nan, Growth: nan, TTFTGrowth: nan, CV: nan}
	begin := from + trendSkip*(to-from)
	l.InFlight = InFlight(spans, begin, to, trendWindows)
	if l.InFlight == nil {
		return l
	}
	var quarters [4][]float64
	sent := 0
	for _, s := range spans {
		if !(s.Start >= begin && s.Start < to) {
			continue
		}
		sent++
		ttft := s.TTFT
		if math.IsNaN(ttft) {
			ttft = math.Inf(1)
		}
		q := min(3, int(4*(s.Start-begin)/(to-begin)))
		quarters[q] = append(quarters[q], ttft)
	}
	if sent < trendRequests {
		return l
	}
	l.Judged = true
	l.Z = MannKendall(l.InFlight).Z
	windowSeconds, rate := (to-begin)/trendWindows, float64(sent)/(to-begin)
	l.Slope = TheilSen(l.InFlight) / windowSeconds / rate
	l.Growth = growth(Summarize(l.InFlight[:trendWindows/4]).Mean, Summarize(l.InFlight[3*trendWindows/4:]).Mean)
	all := Summarize(l.InFlight)
	l.CV = all.StdDev / all.Mean
	for i := range quarters {
		slices.Sort(quarters[i])
	}
	l.TTFTGrowth = growth(Percentile(quarters[1], 50), Percentile(quarters[3], 50))
	l.Trending = l.Z > trendZ && l.Growth > trendGrowth
	l.Saturated = l.Trending && l.Slope > trendSlope && l.TTFTGrowth > trendTTFT
	return l
}

// growth is after over before; +Inf when there is no finite after, as when no
// first token came any more.
func growth(before, after float64) float64 {
	switch {
	case math.IsInf(after, 1):
		return after
	case after == before:
		return 1
	}
	return after / before
}
