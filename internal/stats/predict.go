package stats

import "math"

// minHistory is how many runs a single candidate needs behind it.
const minHistory = 10

// Predict compares one run with a history of ten or more of the same build, by
// the interval in which such a history predicts the next run:
//
//	d = z_c - mean(z_b);  se = s sqrt(1 + 1/N), s at least 0.01;  nu = N-1
//
// with the rules of [Compare.Welch]. With a shorter history it is INCONCLUSIVE.
func (c Compare) Predict(history []float64, candidate float64) Change {
	change, c, b, z, ok := c.start(history, []float64{candidate})
	if !ok {
		return change
	}
	s := Summarize(b)
	d := z[0] - s.Mean
	if s.N < minHistory {
		change.Reason, change.Effect, change.Ratio = ReasonHistory, d, c.ratio(d)
		return change
	}
	se := max(s.StdDev, minSpread) * math.Sqrt(1+1/float64(s.N))
	return c.decide(change, d, se, float64(s.N-1))
}

// PredictionInterval is the two-sided interval, at level alpha, of the next of
// values: mean ± t_{1-alpha/2, n-1} s sqrt(1+1/n), the t-test threshold of
// Bencher. Both ends are NaN for fewer than two values, a NaN or infinite one,
// or an alpha outside of 0 to 1.
func PredictionInterval(values []float64, alpha float64) (lower, upper float64) {
	s := Summarize(values)
	if s.N < 2 || !level(alpha) {
		return math.NaN(), math.NaN()
	}
	half := StudentQuantile(1-alpha/2, float64(s.N-1)) * s.StdDev * math.Sqrt(1+1/float64(s.N))
	return s.Mean - half, s.Mean + half
}
