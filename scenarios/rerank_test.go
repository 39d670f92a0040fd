package scenarios

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/perftest"
)

// TestRerank ranks documents by a query with Qwen3-Reranker. The summary has
// the documents and the input tokens a second.
func TestRerank(t *testing.T) {
	target := fixtures.Server(t, simulatedEncoder("Qwen3-Reranker-0.6B", nil))
	target.API = perftest.Rerank
	s := sized(t, target,
		size{levels: []int{1, 4}, requests: 64, least: 100, input: 256},
		size{levels: []int{1, 4}, requests: 8, input: 128})
	documents, query := number(t, "PERFTEST_DOCUMENTS", 1, 10), 32
	perftest.Sweep(t, perftest.Scenario{
		Target:   target,
		Workload: fixtures.Rerank{Query: query, Documents: documents, Document: s.input},
		Warmup:   s.warmup(),
	}, perftest.Levels{Loads: s.loads()}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.Latency(assert.P99).Below(1*time.Second),
			assert.ErrorRate().AtMost(0),
		)
		if res.Simulated {
			// The simulated server reads the query with each document.
			require.EqualValues(t, documents*(query+s.input), res.Metrics.InputTokens.Min)
			require.EqualValues(t, documents*(query+s.input), res.Metrics.InputTokens.Max)
		}
	})
}
