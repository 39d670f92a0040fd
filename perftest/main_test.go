package perftest_test

import (
	"os"
	"os/signal"
	"testing"

	"go.uber.org/goleak"
)

// No goroutine outlives a run.
func TestMain(m *testing.M) {
	// The runtime's own goroutine for signals begins with the first that wants
	// one, and must not be of a bubble: the next bubble would end the process.
	first := make(chan os.Signal, 1)
	signal.Notify(first, os.Interrupt)
	signal.Stop(first)
	goleak.VerifyTestMain(m)
}
