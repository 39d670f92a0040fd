package assert_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// A scenario and the objectives that it has to keep.
func ExampleSLOs() {
	_ = func(t *testing.T) { // a TestXxx of your own
		res := perftest.Run(t, perftest.Scenario{
			Target:   fixtures.Server(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond}),
			Workload: fixtures.Builtin{Output: 64},
			Load:     perftest.Closed{Concurrency: 4, Requests: 200},
		})
		assert.SLOs(t, res,
			assert.TTFT(assert.P99).Below(time.Second),
			assert.TPOT(assert.Mean).Below(50*time.Millisecond),
			assert.ErrorRate().AtMost(0),
		)
	}
}

func ExampleTTFT() {
	fmt.Println(assert.TTFT(assert.P99).Below(time.Second))
	// Output: TTFT p99 < 1s
}

func ExampleTTFA() {
	fmt.Println(assert.TTFA(assert.P95).Below(10 * time.Second))
	// Output: TTFA p95 < 10s
}

func ExampleTTST() {
	fmt.Println(assert.TTST(assert.P90).AtMost(80 * time.Millisecond))
	// Output: TTST p90 <= 80ms
}

func ExampleTPOT() {
	fmt.Println(assert.TPOT(assert.Mean).Below(50 * time.Millisecond))
	// Output: TPOT mean < 50ms
}

func ExampleITL() {
	fmt.Println(assert.ITL(assert.P999).Below(200 * time.Millisecond))
	// Output: ITL p99.9 < 200ms
}

func ExampleITLPerToken() {
	fmt.Println(assert.ITLPerToken(assert.P99).Below(50 * time.Millisecond))
	// Output: ITL per token p99 < 50ms
}

func ExampleLatency() {
	fmt.Println(assert.Latency(assert.P50).Below(1500 * time.Millisecond))
	// Output: latency p50 < 1.5s
}

func ExampleResponse() {
	fmt.Println(assert.Response(assert.Max).AtMost(30 * time.Second))
	// Output: response max <= 30s
}

func ExampleInputTokens() {
	fmt.Println(assert.InputTokens(assert.Mean).AtLeast(1000))
	// Output: input tokens mean >= 1000
}

// At most one answer in ten may be shorter than 200 tokens.
func ExampleOutputTokens() {
	fmt.Println(assert.OutputTokens(assert.Percentile(10)).AtLeast(200))
	// Output: output tokens p10 >= 200
}

func ExampleErrorRate() {
	fmt.Println(assert.ErrorRate().AtMost(0.01))
	// Output: error rate <= 1%
}

func ExampleOutputRate() {
	fmt.Println(assert.OutputRate().Above(1000))
	// Output: output rate > 1000 tok/s
}

func ExampleTotalRate() {
	fmt.Println(assert.TotalRate().AtLeast(5000))
	// Output: total rate >= 5000 tok/s
}

func ExampleRequestRate() {
	fmt.Println(assert.RequestRate().AtLeast(2.5))
	// Output: request rate >= 2.5 req/s
}

// 99 of 100 requests have to be quick in both ways.
func ExampleGoodput() {
	fmt.Println(assert.Goodput(perftest.Limits{TTFT: time.Second, TPOT: 50 * time.Millisecond}).AtLeast(0.99))
	// Output: goodput(TTFT < 1s, TPOT < 50ms) >= 99%
}

func ExampleGoodputRate() {
	fmt.Println(assert.GoodputRate(perftest.Limits{TTFT: time.Second}).AtLeast(3))
	// Output: goodput rate(TTFT < 1s) >= 3 req/s
}

func ExamplePercentile() {
	fmt.Println(assert.TTFT(assert.Percentile(99.5)).Below(2 * time.Second))
	// Output: TTFT p99.5 < 2s
}

func ExampleTagged() {
	for _, slo := range assert.Tagged("chat", assert.TTFT(assert.P99).Below(time.Second), assert.ErrorRate().AtMost(0)) {
		fmt.Println(slo)
	}
	// Output:
	// chat: TTFT p99 < 1s
	// chat: error rate <= 0%
}

// No more than nine requests may be seen waiting, and none may be preempted.
func ExampleServer() {
	fmt.Println(assert.Server("vllm:num_requests_waiting", assert.Max).Below(10))
	fmt.Println(assert.Server("vllm:num_preemptions_total", assert.Last).AtMost(0))
	// Output:
	// vllm:num_requests_waiting max < 10
	// vllm:num_preemptions_total last <= 0
}

// Three runs against those of a file under version control, which
// PERFTEST_UPDATE=1 makes.
func ExampleNoRegression() {
	_ = func(t *testing.T) { // a TestXxx of your own
		res := perftest.Run(t, perftest.Scenario{
			Target:   fixtures.Server(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond}),
			Workload: fixtures.Builtin{Output: 64},
			Load:     perftest.Closed{Concurrency: 4, Requests: 400},
			Repeat:   3,
		})
		assert.NoRegression(t, res, assert.Baseline{Tolerance: 0.10})
	}
}

// A canary against production: the same load on both, in turns.
func ExampleNoRegression_canary() {
	_ = func(t *testing.T) { // a TestXxx of your own
		at := func(url string) perftest.Scenario {
			return perftest.Scenario{
				Target:   perftest.Target{URL: url},
				Workload: fixtures.Builtin{Output: 64},
				Load:     perftest.Open{Rate: 5, Requests: 1000},
				Warmup:   perftest.Warmup{Requests: 8},
			}
		}
		production, canary := perftest.AB(t, at("http://production:8000"), at("http://canary:8000"))
		assert.NoRegression(t, canary, assert.Baseline{Result: production})
	}
}

// At least eight requests at once, with the first token within a second.
func ExampleMaxLoadAtLeast() {
	_ = func(t *testing.T) { // a TestXxx of your own
		found := perftest.MaxLoad(t, perftest.Scenario{
			Target:   fixtures.Server(t, simserver.Qwen3_32B),
			Workload: fixtures.Builtin{Output: 64},
			Load:     perftest.Closed{Concurrency: 4}, // from which the search starts
		}, assert.Interactivity()...)
		assert.MaxLoadAtLeast(t, found, 8)
	}
}
