package perftest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// runs counts the calls of Run and ReadResult in this process.
var runs atomic.Int64

// Main runs the tests and gives the exit code for a TestMain:
//
//	func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }
//
// With PERFTEST_REQUIRED it is a failure when no scenario ran: "-run" with a
// typing error would otherwise be a green gate.
//
// With -perf.compare it runs no test: it compares stored results, as [Compare]
// does, in a new folder below the results' one, and says where.
func Main(m interface{ Run() int }) int {
	if !flag.Parsed() {
		flag.Parse()
	}
	if *flagCompare != "" {
		return compareStored(*flagCompare, os.Stdout, os.Stderr)
	}
	holdAnnotations()
	closeLivePage := holdLivePage()
	code := m.Run()
	closeLivePage()
	showAnnotations(os.Stdout)
	if code == 0 && runs.Load() == 0 && Required() && !listing() {
		fmt.Fprintln(os.Stderr, "PERFTEST_REQUIRED is set, and no scenario ran and no stored result was read: check -run and -skip")
		return 1
	}
	return code
}

// compareStored compares the results in folders that commas separate.
func compareStored(folders string, out, errs io.Writer) int {
	var results []*Result
	for _, folder := range strings.Split(folders, ",") {
		r, err := ReadResult(strings.TrimSpace(folder))
		if err != nil {
			fmt.Fprintf(errs, "-perf.compare: %s: %v\n", report.Escape(folder), err)
			return 1
		}
		results = append(results, r)
	}
	dir, err := makeResultDir(readSettings().results, "compare", time.Now())
	if err == nil {
		err = Compare(dir, results...)
	}
	if err != nil {
		fmt.Fprintf(errs, "-perf.compare: %v\n", err)
		return 1
	}
	fmt.Fprintf(out, "compared %d results: %s\n", len(results), filepath.Join(dir, pageFile))
	return 0
}

// listing reports whether the tests were only to be listed.
func listing() bool {
	f := flag.Lookup("test.list")
	return f != nil && f.Value.String() != ""
}
