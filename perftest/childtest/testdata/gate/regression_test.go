package gate

import (
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/perftest"
)

// TestNoSlower compares three runs with the baseline that CHILD_BASELINE names.
func TestNoSlower(t *testing.T) {
	s := scenario(t, 20)
	s.Repeat = 3
	assert.NoRegression(t, perftest.Run(t, s), assert.Baseline{File: os.Getenv("CHILD_BASELINE"), Tolerance: 0.50})
}

// TestSearch would take minutes: a server that meets every load.
func TestSearch(t *testing.T) {
	s := scenario(t, 0)
	s.Load = perftest.Closed{Concurrency: 1, Duration: 2 * time.Second}
	s.Warmup.Requests = 1
	found := perftest.MaxLoad(t, s, assert.TTFT(assert.P90).Below(time.Minute))
	assert.MaxLoadAtLeast(t, found, 1)
}
