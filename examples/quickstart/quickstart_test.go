// Package quickstart is a first objective: copy it, change the numbers, and
// point it at a server.
//
//	go test ./examples/quickstart
//	PERFTEST_URL=http://host:8000 go test ./examples/quickstart
package quickstart

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

func TestChat(t *testing.T) {
	res := perftest.Run(t, perftest.Scenario{
		// The server at PERFTEST_URL, or else a simulated one.
		Target: fixtures.Server(t, simserver.Qwen3_32B),
		// Prompts that come with slogate, 32 tokens of answer each.
		Workload: fixtures.Builtin{Output: 32},
		// Four requests in flight all the time, 40 in all.
		Load: perftest.Closed{Concurrency: 4, Requests: 40},
		// Sent before, and not counted.
		Warmup: perftest.Warmup{Requests: 4},
	})
	assert.SLOs(t, res,
		assert.TTFT(assert.P95).Below(1*time.Second),
		assert.TPOT(assert.Mean).Below(50*time.Millisecond),
		assert.ErrorRate().AtMost(0),
	)
}
