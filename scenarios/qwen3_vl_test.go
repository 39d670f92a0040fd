package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestQwen3VL asks a model that sees about made-up pictures. The text has
// exactly as many tokens as asked; those of the pictures come on top and are the
// server's to say.
func TestQwen3VL(t *testing.T) {
	profile := simserver.Qwen3_32B
	profile.Model = "Qwen3-VL-32B-Instruct"
	target := fixtures.Server(t, profile)
	s := sized(t, target,
		size{levels: []int{4}, requests: 32, least: 100, input: 128, output: 128},
		size{levels: []int{4}, requests: 5, input: 128, output: 16})
	pictures := number(t, "PERFTEST_IMAGES", 1, 1)
	side := setting(t, "PERFTEST_IMAGE_SIZE", [2]int{512, 512}, parseSize)
	// No picture twice in a level, since servers remember them. The simulated one
	// does not, so that a few do, which are soon encoded.
	distinct := min(1024, pictures*s.most())
	if target.Simulated {
		distinct = 4
	}
	perftest.Sweep(t, perftest.Scenario{
		Target: target,
		Workload: fixtures.Images{
			Width: side[0], Height: side[1], PerRequest: pictures, Distinct: distinct,
			Text: fixtures.Random{Input: s.input, Output: s.output, Prefix: s.prefix, IgnoreEOS: ignoreEOS(t)},
		},
		Warmup: s.warmup(),
	}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.TTFT(assert.P99).Below(2*time.Second),
			assert.TPOT(assert.Mean).Below(50*time.Millisecond),
			assert.ErrorRate().AtMost(0),
		)
		if res.Simulated {
			const each = 256 // as the simulated server counts a picture, and Qwen3-VL one of 512 x 512
			require.EqualValues(t, s.input+each*pictures, res.Metrics.InputTokens.Min)
			require.EqualValues(t, s.input+each*pictures, res.Metrics.InputTokens.Max)
		}
	})
}
