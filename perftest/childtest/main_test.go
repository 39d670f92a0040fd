// Package childtest runs scenarios as a user does: each of its tests is a real
// go test, or gotestsum, on one of the packages below testdata, some of which
// fail on purpose, and looks at what it prints, leaves and exits with. The
// tests wait for the go command and for time-outs more than they work, so they
// run side by side, and beside those of package perftest.
package childtest

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "3")
	goleak.VerifyTestMain(m)
}
