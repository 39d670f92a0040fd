package simulate

import (
	"github.com/slogate/slogate/internal/stats"
)

// Truth is the true percentile of a metric at a rate, from n requests in eight
// runs.
func Truth(rate float64, metric Metric, p float64, n int) float64 {
	runs := parallel(8, func(i int) []Request {
		return Engine{}.Open(uint64(1e9)+uint64(i), rate, 2*warm, n/8)
	})
	var all []Request
	for _, r := range runs {
		all = append(all, r...)
	}
	return percentile(all, metric, p)
}

// AtLimit is how often each rule decides about a p99 SLO whose limit is a
// multiple of the true p99: at 1 the service is exactly at its limit, and a
// PASS or FAIL more than 5 % of the time breaks the promise.
type AtLimit struct {
	Multiple   float64
	Pass, Fail float64 // the verdict of stats.ShareTest
	Share      float64 // PASS by the share alone, without the margin rule
	Binomial   float64 // PASS by the binomial rule, which supposes independence
	Naive      float64 // "failed", where the sample's p99 is over the limit
}

// Percentile judges runs of n requests at a rate against limits at multiples
// of the true p99.
func Percentile(rate float64, metric Metric, n, runs int, truth float64, multiples ...float64) []AtLimit {
	type counts struct{ pass, fail, share, binomial, naive bool }
	results := parallel(runs, func(i int) []counts {
		requests := Engine{}.Open(uint64(i), rate, warm, n)
		ys := values(requests, metric)
		p99 := percentile(requests, metric, 99)
		out := make([]counts, len(multiples))
		for j, m := range multiples {
			limit := m * truth
			v := stats.FlagViolations(ys, limit, 0.99, true)
			s := stats.ShareTest{P: 0.99, Seconds: seconds(requests)}.Run(v)
			out[j] = counts{
				pass: s.Decision == stats.Pass, fail: s.Decision == stats.Fail, share: s.Decision == stats.Pass && s.Rule == stats.RuleShare,
				binomial: stats.PassP(float64(s.K), float64(s.N), 0.01) <= 0.05, naive: p99 > limit,
			}
		}
		return out
	})
	out := make([]AtLimit, len(multiples))
	for j, m := range multiples {
		of := func(f func(counts) bool) float64 {
			return share(results, func(c []counts) bool { return f(c[j]) })
		}
		out[j] = AtLimit{m,
			of(func(c counts) bool { return c.pass }), of(func(c counts) bool { return c.fail }),
			of(func(c counts) bool { return c.share }), of(func(c counts) bool { return c.binomial }),
			of(func(c counts) bool { return c.naive })}
	}
	return out
}

// Curtailed is what stopping early did.
type Curtailed struct {
	Multiple  float64 // of the true p99
	Runs      int
	Early     int     // runs that would have been stopped
	Disagree  int     // of these, runs whose whole is no FAIL
	MeanStop  float64 // requests at the stop, over the runs that were stopped
	FinalFail int     // runs whose whole is a FAIL
}

// EarlyStop lets runs of n requests go on to the end, and notes where the FAIL
// rule would have stopped them, asked after each of 20 batches.
func EarlyStop(rate, truth, multiple float64, n, runs int) Curtailed {
	type result struct {
		stop int
		fail bool
	}
	test := stats.ShareTest{P: 0.99}
	results := parallel(runs, func(i int) result {
		v := stats.FlagViolations(values(Engine{}.Open(uint64(5e6)+uint64(i), rate, warm, n), TTFT), multiple*truth, 0.99, true)
		r := result{fail: test.Run(v).Decision == stats.Fail}
		for at := n / 20; at < n; at += n / 20 {
			if test.MustFail(v.Over[:at], n) {
				r.stop = at
				break
			}
		}
		return r
	})
	c := Curtailed{Multiple: multiple, Runs: runs}
	total := 0
	for _, r := range results {
		if r.fail {
			c.FinalFail++
		}
		if r.stop > 0 {
			c.Early++
			total += r.stop
			if !r.fail {
				c.Disagree++
			}
		}
	}
	c.MeanStop = float64(total) / float64(max(c.Early, 1))
	return c
}
