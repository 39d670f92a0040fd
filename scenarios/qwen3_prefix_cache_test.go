package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestQwen3PrefixCache sends prompts that share nothing, and then prompts of
// the same length that share their first half. The second must be answered
// sooner where the server keeps what it has computed of a prompt: where it says
// that it took tokens from its cache, and where PERFTEST_PREFIX_CACHE says so.
// A prefix of a few dozen tokens saves less than what TTFT varies by.
//
// Compared is the TTFT that one request in ten stays below: waiting, for other
// prompts or for a processor that others use, only ever adds to what the prompt
// itself takes, and least to the fastest. The simulated server, which may share
// its processors with much else, gets one request at a time.
func TestQwen3PrefixCache(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	s := sized(t, target,
		size{levels: []int{4}, requests: 32, least: 100, input: 1024, output: 64, prefix: 512},
		size{levels: []int{1}, requests: 20, input: 1024, output: 2, prefix: 512})
	caching := yes(t, "PERFTEST_PREFIX_CACHE", false)
	if s.prefix == 0 {
		t.Skip("PERFTEST_PREFIX_TOKENS is 0: there is nothing to compare")
	}
	measured := func(prefix int) (results []*perftest.Result) {
		t.Run(fmt.Sprintf("prefix=%d", prefix), func(t *testing.T) {
			results = perftest.Sweep(t, perftest.Scenario{
				Target:   target,
				Workload: fixtures.Random{Input: s.input, Output: s.output, Prefix: prefix, IgnoreEOS: ignoreEOS(t)},
				Warmup:   s.warmup(), // the prefix is in the cache after it
			}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
				assert.SLOs(t, res,
					assert.TTFT(assert.P99).Below(2*time.Second),
					assert.ErrorRate().AtMost(0),
				)
				asPlanned(t, res)
			})
		})
		return results
	}
	alone, shared := measured(0), measured(s.prefix)
	t.Run("TTFT", func(t *testing.T) {
		for i := range min(len(alone), len(shared)) {
			a, b := alone[i].Metrics, shared[i].Metrics
			without, with := a.TTFT.P(10), b.TTFT.P(10)
			t.Logf("c=%d: TTFT p10 %.4gs, with a prefix %.4gs (p50 %.4gs and %.4gs); tokens from the cache %.4g, with a prefix %.4g",
				s.levels[i], without, with, a.TTFT.P(50), b.TTFT.P(50), a.CachedTokens.Mean, b.CachedTokens.Mean)
			const enough = 20 // below it, one odd request moves the tenth
			if n := min(alone[i].Counts.Succeeded, shared[i].Counts.Succeeded); n < enough {
				t.Skipf("%d requests are too few to compare: send %d or more (PERFTEST_REQUESTS times the level)", n, enough)
			}
			if !caching && !(b.CachedTokens.Mean > a.CachedTokens.Mean) {
				t.Skip("the server does not say that it took tokens from a cache: set PERFTEST_PREFIX_CACHE=true if it has one")
			}
			const least = 0.05 // what two runs without a cache differ by is less
			require.Less(t, with, (1-least)*without, "TTFT p10 in seconds, c=%d: the shared prefix does not make it fall by 5%% or more", s.levels[i])
		}
	})
}
