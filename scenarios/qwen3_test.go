package scenarios

import (
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
	s := sized(t, target,
		size{levels: []int{1, 4, 8}, requests: 32, least: 100, input: 1024, output: 128},
		size{levels: []int{1, 4, 8}, requests: 4, least: 8, input: 256, output: 16})
	tokenIDs := yes(t, "PERFTEST_TOKENIZE_PROMPT", false)
	if tokenIDs {
		target.API = perftest.Completions
	}
	perftest.Sweep(t, perftest.Scenario{
		Target: target,
		Workload: anyModel{
			Random: fixtures.Random{
				Input: s.input, Output: s.output, Prefix: s.prefix, IgnoreEOS: ignoreEOS(t), TokenIDs: tokenIDs,
			},
			logf: t.Logf,
		},
		Warmup: s.warmup(),
	}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.TTFT(assert.P99).Below(1*time.Second),
			assert.TPOT(assert.Mean).Below(50*time.Millisecond),
			assert.ErrorRate().AtMost(0),
		)
		asPlanned(t, res)
	})
}
