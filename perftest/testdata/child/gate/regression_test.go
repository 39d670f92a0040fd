package gate

import (
	"os"
	"testing"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/perftest"
)

// TestNoSlower compares three runs with the baseline that CHILD_BASELINE names.
func TestNoSlower(t *testing.T) {
	s := scenario(t, 20)
	s.Repeat = 3
	assert.NoRegression(t, perftest.Run(t, s), assert.Baseline{File: os.Getenv("CHILD_BASELINE"), Tolerance: 0.50})
}
