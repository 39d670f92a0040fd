package perftest

import (
	"flag"
	"fmt"
	"os"
	"sync/atomic"
)

// runs counts the calls of Run and ReadResult in this process.
var runs atomic.Int64

// Main runs the tests and gives the exit code for a TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }
//
// With PERFTEST_REQUIRED it is a failure when no scenario ran: "-run" with a
// typing error would otherwise be a green gate.
func Main(m interface{ Run() int }) int {
	code := m.Run()
	if code == 0 && runs.Load() == 0 && Required() && !listing() {
		fmt.Fprintln(os.Stderr, "PERFTEST_REQUIRED is set, and no scenario ran and no stored result was read: check -run and -skip")
		return 1
	}
	return code
}

// listing reports whether the tests were only to be listed.
func listing() bool {
	f := flag.Lookup("test.list")
	return f != nil && f.Value.String() != ""
}
