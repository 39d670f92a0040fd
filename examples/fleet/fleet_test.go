// Package fleet is a scenario for more load than one machine can send: the
// folders examples/kubernetes and examples/slurm start it on several at once,
// as the shards of one job.
//
// Nothing of the scenario itself says so. The import of perftest/cluster lets
// the shards find each other by their environment, and without one the test
// runs by itself:
//
//	go test ./examples/fleet
package fleet

import (
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	_ "github.com/slogate/slogate/perftest/cluster" // many machines, one plan, one verdict
)

// TestMain makes a gate that ran nothing red (PERFTEST_REQUIRED=1).
func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }

func TestFleet(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	// The plan of all shards together: each sends its part of it.
	load := perftest.Closed{Concurrency: 64, Requests: 6400}
	if target.Simulated {
		load = perftest.Closed{Concurrency: 8, Requests: 16} // to see that it works
	}
	res := perftest.Run(t, perftest.Scenario{
		Target:   target,
		Workload: fixtures.Builtin{Output: 32},
		Load:     load,
		Warmup:   perftest.Warmup{Requests: load.Concurrency},
	})
	assert.SLOs(t, res,
		assert.TTFT(assert.P99).Below(1*time.Second),
		assert.TPOT(assert.Mean).Below(50*time.Millisecond),
		assert.ErrorRate().AtMost(0),
	)
}
