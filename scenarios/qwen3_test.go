package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestQwen3 gates Qwen3-32B at three concurrencies. On a real server
// (PERFTEST_URL) it sends enough for a p99; on the simulated one it is short,
// and its p99 is marked as one of too few samples.
func TestQwen3(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	output, each, atLeast := 128, 64, 100
	if target.Simulated {
		output, each, atLeast = 32, 8, 8
	}
	for _, c := range []int{1, 4, 8} {
		t.Run(fmt.Sprintf("c=%d", c), func(t *testing.T) {
			res := perftest.Run(t, perftest.Scenario{
				Target:   target,
				Workload: fixtures.Builtin{Output: output},
				Load:     perftest.Closed{Concurrency: c, Requests: max(each*c, atLeast)},
				Warmup:   perftest.Warmup{Requests: c},
			})
			assert.SLOs(t, res,
				assert.TTFT(assert.P99).Below(1*time.Second),
				assert.TPOT(assert.Mean).Below(50*time.Millisecond),
				assert.ErrorRate().AtMost(0),
			)
		})
	}
}
