package scenarios

import (
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestQwen3TokenIDs sends token ids in place of text, to /v1/completions: no
// tokenizer and no chat template of the server's is in the way.
func TestQwen3TokenIDs(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	target.API = perftest.Completions
	s := sized(t, target,
		size{levels: []int{4}, requests: 32, least: 100, input: 1024, output: 128},
		size{levels: []int{4}, requests: 5, input: 512, output: 16})
	perftest.Sweep(t, perftest.Scenario{
		Target: target,
		Workload: fixtures.Random{
			Input: s.input, Output: s.output, Prefix: s.prefix, IgnoreEOS: ignoreEOS(t), TokenIDs: true,
		},
		Warmup: s.warmup(),
	}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.TTFT(assert.P99).Below(2*time.Second),
			assert.TPOT(assert.Mean).Below(50*time.Millisecond),
			assert.ErrorRate().AtMost(0),
		)
		asPlanned(t, res)
	})
}
