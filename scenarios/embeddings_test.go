package scenarios

import (
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// TestEmbeddings embeds batches of texts with Qwen3-Embedding. The summary has
// the texts and the input tokens a second.
func TestEmbeddings(t *testing.T) {
	target := fixtures.Server(t, simulatedEncoder("Qwen3-Embedding-0.6B", endOfText))
	target.API = perftest.Embeddings
	s := sized(t, target,
		size{levels: []int{1, 4, 8}, requests: 64, least: 100, input: 256},
		size{levels: []int{1, 4, 8}, requests: 8, input: 128})
	perftest.Sweep(t, perftest.Scenario{
		Target:   target,
		Workload: fixtures.Embeddings{Batch: number(t, "PERFTEST_BATCH", 1, 8), Input: s.input, Overhead: len(endOfText)},
		Warmup:   s.warmup(),
	}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.Latency(assert.P99).Below(1*time.Second),
			assert.ErrorRate().AtMost(0),
		)
		asPlanned(t, res)
	})
}

// endOfText is what Qwen3-Embedding's tokenizer adds to each text:
// <|endoftext|>.
var endOfText = []int32{151643}

// simulatedEncoder stands for a small model that reads and does not write, on
// one card; its figures are made up. It adds some tokens to each text.
func simulatedEncoder(model string, added []int32) simserver.Profile {
	encode := simserver.Qwen3_32B.Encode
	return simserver.Profile{
		Model: model, Slots: 256, Accelerators: 1,
		Encode: func(text string) []int32 { return append(encode(text), added...) },
		Engine: simserver.Engine{PrefillRate: 100_000, StepTokens: 8192, StepTime: 2 * time.Millisecond, Intake: time.Millisecond},
	}
}
