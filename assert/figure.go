package assert

import (
	"time"

	"github.com/slogate/slogate/perftest"
)

// Time is a figure in time, which becomes an objective by a limit. A limit is
// more than zero; any other makes a verdict of INVALID, which fails the test.
type Time struct {
	metric perftest.Metric
	stat   perftest.Stat
}

// Below asks for less than limit.
func (f Time) Below(limit time.Duration) perftest.SLO { return f.slo(perftest.Below, limit) }

// AtMost asks for limit or less.
func (f Time) AtMost(limit time.Duration) perftest.SLO { return f.slo(perftest.AtMost, limit) }

// AtLeast asks for limit or more. With a percentile the share is counted from
// below: Percentile(10) of AtLeast is kept when at most 10 % of the requests are lower.
func (f Time) AtLeast(limit time.Duration) perftest.SLO { return f.slo(perftest.AtLeast, limit) }

// Above asks for more than limit; see AtLeast.
func (f Time) Above(limit time.Duration) perftest.SLO { return f.slo(perftest.Above, limit) }

func (f Time) slo(op perftest.Op, limit time.Duration) perftest.SLO {
	return perftest.SLO{Metric: f.metric, Stat: f.stat, Op: op, Limit: limit.Seconds()}
}

// Number is a figure that is a number: tokens, a rate per second, or a share
// from 0 to 1 (not percent). A limit makes it an objective; it is finite and
// not negative, and any other makes a verdict of INVALID, which fails the test.
type Number struct {
	metric perftest.Metric
	stat   perftest.Stat
	limits perftest.Limits
	series string
}

// Below asks for less than limit.
func (f Number) Below(limit float64) perftest.SLO { return f.slo(perftest.Below, limit) }

// AtMost asks for limit or less.
func (f Number) AtMost(limit float64) perftest.SLO { return f.slo(perftest.AtMost, limit) }

// AtLeast asks for limit or more. With a percentile the share is counted from
// below: Percentile(10) of AtLeast is kept when at most 10 % of the requests are lower.
func (f Number) AtLeast(limit float64) perftest.SLO { return f.slo(perftest.AtLeast, limit) }

// Above asks for more than limit; see AtLeast.
func (f Number) Above(limit float64) perftest.SLO { return f.slo(perftest.Above, limit) }

func (f Number) slo(op perftest.Op, limit float64) perftest.SLO {
	return perftest.SLO{Metric: f.metric, Stat: f.stat, Op: op, Limit: limit, Limits: f.limits, Series: f.series}
}
