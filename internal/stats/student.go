package stats

import "math"

// StudentCDF is P(T <= t) for Student's t with nu degrees of freedom (real,
// positive), from T²/(nu+T²) being Beta(1/2, nu/2). An infinite nu is the normal
// distribution. It is NaN for a NaN or a nu that is not positive.
//
// gonum's distuv.StudentsT is off by 1e-5 near the middle at nu = 300,000.
func StudentCDF(t, nu float64) float64 {
	switch {
	case math.IsNaN(t) || !(nu > 0):
		return math.NaN()
	case math.IsInf(nu, 1):
		return 0.5 * math.Erfc(-t/math.Sqrt2)
	case math.IsInf(t, 0):
		return (1 + math.Copysign(1, t)) / 2
	}
	s := t * t
	tail := 0.5 * RegIncBeta(nu/2, 0.5, nu/(nu+s)) // P(T >= |t|)
	if s < 0.5 {                                   // there nu/(nu+s) rounds to 1
		tail = 0.5 * (1 - RegIncBeta(0.5, nu/2, s/(nu+s)))
	}
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// StudentQuantile is the p-quantile of Student's t with nu degrees of freedom,
// -Inf and +Inf at p = 0 and 1. It is NaN where [StudentCDF] is and for a p
// outside of 0 to 1.
func StudentQuantile(p, nu float64) float64 {
	switch {
	case !(p >= 0 && p <= 1) || !(nu > 0):
		return math.NaN()
	case math.IsInf(nu, 1):
		return math.Sqrt2 * math.Erfinv(2*p-1)
	case p == 0.5:
		return 0
	case p > 0.5:
		return -StudentQuantile(1-p, nu)
	case p == 0:
		return math.Inf(-1)
	case p < 0.1:
		x := InvRegIncBeta(nu/2, 0.5, 2*p)
		return -math.Sqrt(nu * (1 - x) / x)
	}
	x := InvRegIncBeta(0.5, nu/2, 1-2*p)
	return -math.Sqrt(nu * x / (1 - x))
}
