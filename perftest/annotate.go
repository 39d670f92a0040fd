package perftest

import (
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/slogate/slogate/internal/report"
)

// mostAnnotations is how many GitHub shows of a step.
const mostAnnotations = 10

// annotations are those of this process, one a failed test.
//
// They are held until the end, so that the worst ones stand first, where this
// process's output goes to go test as it is. What turns it into events
// (go test -json, gotestsum) shows the output of failed tests and often nothing
// of the package's: there, each is printed before its test ends.
var annotations struct {
	sync.Mutex
	held  []miss
	shown int
	hold  bool // Main will show them
}

// holdAnnotations is called by Main before the tests.
func holdAnnotations() {
	annotations.Lock()
	defer annotations.Unlock()
	f := flag.Lookup("test.v")
	annotations.hold = f == nil || f.Value.String() != "test2json"
}

// annotate shows a failed test's worst miss in GitHub Actions, at its line of
// the source.
func annotate(m miss) {
	if os.Getenv("GITHUB_ACTIONS") != "true" {
		return
	}
	annotations.Lock()
	defer annotations.Unlock()
	if annotations.hold {
		annotations.held = append(annotations.held, m)
		return
	}
	if annotations.shown == mostAnnotations {
		return
	}
	annotations.shown++
	note := ""
	if annotations.shown == mostAnnotations {
		note = "further failed tests are in the log"
	}
	// The output of the test may not have ended in a newline.
	fmt.Fprintf(os.Stdout, "\n%s\n", m.annotation(note))
}

// showAnnotations shows those that were held: the worst ones.
func showAnnotations(out io.Writer) {
	annotations.Lock()
	defer annotations.Unlock()
	slices.SortStableFunc(annotations.held, worse)
	for i, m := range annotations.held {
		if i == mostAnnotations {
			break
		}
		note := ""
		if rest := len(annotations.held) - mostAnnotations; i == mostAnnotations-1 && rest > 0 {
			note = fmt.Sprintf("and %d more failed tests", rest)
		}
		fmt.Fprintln(out, m.annotation(note))
	}
	annotations.held = nil
}

func (m miss) annotation(note string) report.Annotation {
	a := report.Annotation{Line: m.line, Title: report.Escape(m.test + ": " + m.what), Message: report.Escape(m.text)}
	if m.file != "" {
		a.File = fromWorkspace(m.file, os.Getenv("GITHUB_WORKSPACE"))
	}
	if m.more > 0 {
		a.Message += fmt.Sprintf("\nand %d more of this test", m.more)
	}
	if note != "" {
		a.Message += "\n" + note
	}
	return a
}
