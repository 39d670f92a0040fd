package perftest

import "math"

// bind marks the verdict that is nearest to its limit, or farthest beyond it.
// Of those that are INVALID none does.
func bind(verdicts []Verdict) {
	best, at := math.Inf(-1), -1
	for i, v := range verdicts {
		if v.Point == Invalid {
			continue
		}
		if h := v.pressure(); h > best {
			best, at = h, i
		}
	}
	if at >= 0 {
		verdicts[at].Binding = true
	}
}

// pressure is how far the figure has come towards the limit: 1 is on it.
func (v Verdict) pressure() float64 {
	if v.Point == Fail && v.Over > v.Allowed { // failures are in no figure
		return max(1, float64(v.Over)/float64(v.Allowed))
	}
	measured, limit := float64(v.Measured), v.SLO.bound()
	switch {
	case math.IsNaN(measured):
		return math.Inf(1) // nothing succeeded
	case v.SLO.Metric == Goodput: // by what is missing
		measured, limit = 1-measured, 1-limit
	case v.SLO.lower():
		measured, limit = limit, measured
	}
	if limit == 0 {
		if measured == 0 {
			return 1
		}
		return math.Inf(1)
	}
	return measured / limit
}
