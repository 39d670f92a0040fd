package perftest_test

import (
	"expvar"
	"fmt"
	"log"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// A scenario is one test function, here written as a variable.
func ExampleRun() {
	var TestChat = func(t *testing.T) {
		res := perftest.Run(t, perftest.Scenario{
			Target:   fixtures.Server(t, simserver.Qwen3_32B),
			Workload: fixtures.Builtin{Output: 128},
			Load:     perftest.Closed{Concurrency: 8, Requests: 512},
			Warmup:   perftest.Warmup{Requests: 8},
		})
		assert.SLOs(t, res, assert.TTFT(assert.P99).Below(time.Second))
	}
	_ = TestChat
}

// A live page: /debug/vars of this process shows how the run stands, and how many
// requests were slow. A slow reader of it holds nothing up.
func ExampleObserver() {
	stands, slow := expvar.NewString("perftest"), expvar.NewInt("perftest_slow")
	page := perftest.ObserverFunc(func(s perftest.Snapshot) {
		for _, r := range s.Finished {
			if r.OK() && r.Part == "measured" && r.TTFT > 0.5 {
				slow.Add(1)
			}
		}
		stands.Set(fmt.Sprintf("%s: %d of %d, %d in flight, %.1f req/s", s.Run.Name, s.Live.Done, s.Live.Asked, s.Live.InFlight, s.Live.Requests))
	})
	var TestChat = func(t *testing.T) {
		perftest.Run(t, perftest.Scenario{
			Target:    fixtures.Server(t, simserver.Qwen3_32B),
			Workload:  fixtures.Builtin{Output: 128},
			Load:      perftest.Closed{Concurrency: 8, Requests: 512},
			Observers: []perftest.Observer{page},
		})
	}
	_ = TestChat
}

// A target can be named in code; its secrets do not print.
func ExampleTarget() {
	target := perftest.Target{
		URL:     "https://api.example.com/v1",
		Model:   "some-model",
		APIKey:  "sk-123",
		Headers: perftest.Headers{"X-Team": "serving"},
		Params:  map[string]any{"temperature": 0},
	}
	fmt.Println(target.APIKey, target.Headers)
	// Output: [redacted] map[X-Team:[redacted]]
}

// A stored result can be held against other objectives without sending
// anything.
func ExampleReadResult() {
	res, err := perftest.ReadResult("testdata/stored")
	if err != nil {
		log.Fatal(err)
	}
	for _, v := range res.Judge(
		perftest.SLO{Metric: perftest.TTFT, Stat: "p90", Op: perftest.Below, Limit: 0.25},
		perftest.SLO{Metric: perftest.TTFT, Stat: "p90", Op: perftest.Below, Limit: 0.15},
	) {
		fmt.Println(v.Point, v.SLO, "-", v.Reason)
	}
	// Output:
	// PASS TTFT p90 < 250ms - 0 of 10 over, 1 allowed
	// FAIL TTFT p90 < 150ms - 10 of 10 over, 1 allowed
}
