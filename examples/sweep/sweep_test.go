// Package sweep finds out how a server does at several concurrencies: each
// level is a sub-test with its own objectives, and one table shows all.
//
//	go test -v ./examples/sweep
//	PERFTEST_URL=http://host:8000 go test -v ./examples/sweep
package sweep

import (
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }

func TestLevels(t *testing.T) {
	perftest.Sweep(t, perftest.Scenario{
		Target:   fixtures.Server(t, simserver.Qwen3_32B),
		Workload: fixtures.Builtin{Output: 16},
		// As many as the largest level has slots: a level that begins with fewer warns.
		Warmup: perftest.Warmup{Requests: 16},
	}, perftest.Levels{
		// 4 requests a slot: 4, 16 and 64 in all. For a p99, let it be 100.
		Loads:    perftest.Concurrencies(4, 1, 4, 16),
		CoolDown: 100 * time.Millisecond,
	}, func(t *testing.T, res *perftest.Result) {
		assert.SLOs(t, res,
			assert.TTFT(assert.P90).Below(2*time.Second),
			assert.ErrorRate().AtMost(0),
		)
	})
}
