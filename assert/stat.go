package assert

import (
	"strconv"

	"github.com/slogate/slogate/perftest"
)

// The usual figures of a distribution. A percentile needs enough requests to
// mean something: P99 of fewer than 100 is little more than the maximum.
const (
	Mean = perftest.Mean
	P50  = perftest.Stat("p50")
	P66  = perftest.Stat("p66")
	P75  = perftest.Stat("p75")
	P80  = perftest.Stat("p80")
	P90  = perftest.Stat("p90")
	P95  = perftest.Stat("p95")
	P98  = perftest.Stat("p98")
	P99  = perftest.Stat("p99")
	P999 = perftest.Stat("p99.9")
	Max  = perftest.Max
	// Min and Last are for Server alone.
	Min  = perftest.Min
	Last = perftest.Last
)

// Percentile is any percentile between 0 and 100: Percentile(99.5) is "p99.5".
// An objective on any other number gets a verdict of INVALID.
func Percentile(p float64) perftest.Stat {
	return perftest.Stat("p" + strconv.FormatFloat(p, 'f', -1, 64))
}
