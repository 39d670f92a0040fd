// Package gate is what a deploy has to pass: objectives that are proven, and no
// regression against a baseline under version control. For a canary against
// production see perftest.AB, for a capacity perftest.MaxLoad and
// assert.MaxLoadAtLeast.
//
// In CI, against the server that is to be deployed:
//
//	PERFTEST_REQUIRED=1 PERFTEST_URL=http://host:8000 go test -p 1 -timeout 1h ./examples/gate
//
// Once, and again when a change is wanted, to make the baseline that TestNoSlower
// compares with; then commit testdata/perftest:
//
//	PERFTEST_UPDATE=1 PERFTEST_URL=http://host:8000 go test -timeout 1h ./examples/gate -run TestNoSlower
package gate

import (
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestMain makes a gate that ran nothing red (PERFTEST_REQUIRED=1).
func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }

// served stands in where no server is given.
var served = simserver.Profile{Model: "m", TTFT: 20 * time.Millisecond, TPOT: 2 * time.Millisecond, Slots: 64}

// A scenario's SLOs are proven or the gate is red. Run refuses a plan that could
// not prove them, and ends as soon as one of them must fail.
func TestProven(t *testing.T) {
	assert.Gate(t, perftest.Run(t, perftest.Scenario{
		Target:   fixtures.Server(t, served),
		Workload: fixtures.Builtin{Output: 16},
		Load:     perftest.Closed{Concurrency: 16, Requests: 1000},
		Warmup:   perftest.Warmup{Requests: 16},
		// A p99 takes some thousands of requests to prove: assert.Interactivity(),
		// or assert.MLPerf("llama3.1-8b", assert.MLPerfInteractive).
		SLOs: []perftest.SLO{assert.TTFT(assert.P95).Below(time.Second), assert.TPOT(assert.Mean).Below(50 * time.Millisecond)},
	}))
}

// Runs are what a comparison counts: three here against the baseline's. For a
// baseline, five are better.
func TestNoSlower(t *testing.T) {
	res := perftest.Run(t, perftest.Scenario{
		Target:   fixtures.Server(t, served),
		Workload: fixtures.Builtin{Output: 16},
		Load:     perftest.Closed{Concurrency: 8, Requests: 80},
		Warmup:   perftest.Warmup{Requests: 8},
		Repeat:   3,
	})
	assert.NoRegression(t, res, assert.Baseline{Tolerance: 0.10})
}
