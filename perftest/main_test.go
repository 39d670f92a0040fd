package perftest_test

import (
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives a run.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
