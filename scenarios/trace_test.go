package scenarios

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestTraceReplay sends what a service was asked, when it was asked: five
// seconds made up in Mooncake's form, in which some prompts begin alike, or the
// trace that PERFTEST_TRACE names.
func TestTraceReplay(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	trace := fixtures.Trace{
		Path: os.Getenv("PERFTEST_TRACE"), IgnoreEOS: ignoreEOS(t),
		MaxInput: number(t, "PERFTEST_INPUT_TOKENS", 1, 0), MaxOutput: number(t, "PERFTEST_OUTPUT_TOKENS", 1, 0),
	}
	own := trace.Path != ""
	if !own {
		trace.Path = "testdata/trace.jsonl"
	}
	var loads []perftest.Load
	for _, speed := range speeds(t, "PERFTEST_SPEEDS", 1) {
		loads = append(loads, perftest.Replay{Speed: speed})
	}
	perftest.Sweep(t, perftest.Scenario{
		Target:   target,
		Workload: trace,
		Warmup:   perftest.Warmup{Requests: 1},
	}, perftest.Levels{Loads: loads}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.TTFT(assert.P90).Below(2*time.Second),
			assert.TPOT(assert.Mean).Below(100*time.Millisecond),
			assert.Goodput(perftest.Limits{TTFT: 4 * time.Second, TPOT: 200 * time.Millisecond}).AtLeast(0.95),
			assert.ErrorRate().AtMost(0),
		)
		if !own {
			asPlanned(t, res)
		}
		if res.Simulated && !own {
			require.Positive(t, float64(res.Metrics.CachedTokens.Max), "blocks of one hash_id are the same tokens")
		}
	})
}
