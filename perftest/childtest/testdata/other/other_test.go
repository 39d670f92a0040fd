// Package other measures the same server as package gate at the same time.
package other

import (
	"testing"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

func TestHeld(t *testing.T) {
	perftest.Run(t, perftest.Scenario{
		Target:   fixtures.Server(t, simserver.Qwen3_32B),
		Workload: fixtures.Builtin{Output: 4},
		Load:     perftest.Closed{Concurrency: 2, Requests: 20},
	})
}

// TestTurns is like the one of package gate.
func TestTurns(t *testing.T) {
	target := fixtures.Server(t, simserver.Qwen3_32B)
	target.Params = map[string]any{"user": "other"}
	perftest.Run(t, perftest.Scenario{
		Target:   target,
		Workload: fixtures.Builtin{Output: 4},
		Load:     perftest.Closed{Concurrency: 2, Requests: 20, KeepEnds: true},
	})
}
