package perftest

import (
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
)

// notes are what a test under way leaves for CI: its runs, what of them was
// missed and where in the source, and texts. They are published when it ends.
type notes struct {
	t testing.TB

	mu      sync.Mutex
	results []*Result
	misses  []miss
	texts   []string // such as the table of a sweep's levels
}

// miss is an assertion that failed, or a run that could not be made.
type miss struct {
	file string // as the compiler had it; empty where it is not known
	line int
	test string
	what string // such as "TTFT p99"
	text string // in one line
	rank int    // how bad: a smaller one is worse
	off  float64
	more int // others of the same test
}

// Ranks of misses.
const (
	rankFail = iota
	rankRegressed
	rankInvalid
	rankUnproven
)

// underWay are the notes of all tests under way, by their names.
var underWay struct {
	sync.Mutex
	of map[string]*notes
}

// notesOf are the notes of a test, which are published after its other
// cleanups.
func notesOf(t testing.TB) *notes {
	underWay.Lock()
	defer underWay.Unlock()
	if n := underWay.of[t.Name()]; n != nil {
		return n
	}
	n := &notes{t: t}
	if underWay.of == nil {
		underWay.of = map[string]*notes{}
	}
	underWay.of[t.Name()] = n
	t.Cleanup(func() {
		t.Helper()
		underWay.Lock()
		delete(underWay.of, t.Name())
		underWay.Unlock()
		n.publish()
	})
	return n
}

// notesFor are those of the test that made r; nil once it has ended.
func notesFor(r *Result) *notes {
	underWay.Lock()
	defer underWay.Unlock()
	return underWay.of[r.Test]
}

func (n *notes) result(r *Result) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.results = append(n.results, r)
}

func (n *notes) text(s string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.texts = append(n.texts, s)
}

// failed keeps that a run could not be made or is not whole, and gives the
// message.
func (n *notes) failed(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	m := miss{test: n.t.Name(), what: "run", text: text, rank: rankInvalid}
	m.file, m.line = caller()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.misses = append(n.misses, m)
	return text
}

// noteMisses keeps the misses of an assertion on r. A test that has ended already,
// as a sweep's level, is told of at once.
func (r *Result) noteMisses(misses []miss) {
	if len(misses) == 0 || r.stored && !r.replayed {
		return
	}
	file, line := caller()
	for i := range misses {
		misses[i].test, misses[i].file, misses[i].line = r.Test, file, line
	}
	n := notesFor(r)
	if n == nil {
		annotate(worst(misses))
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.misses = append(n.misses, misses...)
}

// misses are the verdicts that are red.
func (r *Result) misses(verdicts []Verdict) (all []miss) {
	view := r.verdictsView(verdicts)
	for i, v := range verdicts {
		m := miss{what: v.SLO.label(), text: view.Verdicts[i].Line()}
		switch v.Decided() {
		case Pass:
			continue
		case Fail:
			m.rank, m.off = rankFail, math.Abs(float64(v.Measured)-v.SLO.Limit)/math.Abs(v.SLO.Limit)
			if math.IsNaN(m.off) {
				m.off = math.Inf(1)
			}
		case Inconclusive:
			m.rank = rankUnproven
		default:
			m.rank = rankInvalid
		}
		if v.SLO.Stat != "" {
			m.what += " " + string(v.SLO.Stat)
		}
		all = append(all, m)
	}
	return all
}

// changeMisses is a comparison that may be red.
func (r *Result) changeMisses(c Comparison) []miss {
	m := miss{what: "baseline", text: r.changesView(c).Line(), rank: rankInvalid}
	switch c.Outcome {
	case Unchanged, Improved:
		return nil
	case Regressed:
		m.rank = rankRegressed
	case Inconclusive:
		m.rank = rankUnproven
	}
	return []miss{m}
}

// worse orders misses from the worst to the least.
func worse(a, b miss) int {
	switch {
	case a.rank != b.rank:
		return a.rank - b.rank
	case a.off > b.off:
		return -1
	case a.off < b.off:
		return 1
	}
	return 0
}

// worst is the worst of a test's misses, and how many others there are.
func worst(misses []miss) miss {
	m := slices.MinFunc(misses, worse)
	m.more = len(misses) - 1
	return m
}

// module is this module's path.
const module = "github.com/slogate/slogate"

// caller is the place outside of this module's own code that called it: the
// assertion in the test.
func caller() (file string, line int) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		own := strings.HasPrefix(f.Function, module+"/perftest.") || strings.HasPrefix(f.Function, module+"/assert.")
		if f.File != "" && (!own || strings.HasSuffix(f.File, "_test.go")) {
			return f.File, f.Line
		}
		if !more {
			return "", 0
		}
	}
}

// fromWorkspace is a source file as CI names it: from the folder of the checkout,
// with slashes. With -trimpath the compiler gives the package's path instead.
func fromWorkspace(file, workspace string) string {
	if !filepath.IsAbs(file) {
		if info, ok := debug.ReadBuildInfo(); ok {
			file = strings.TrimPrefix(file, info.Main.Path+"/")
		}
		return file
	}
	if rel, err := filepath.Rel(workspace, file); workspace != "" && err == nil && !strings.HasPrefix(rel, "..") {
		file = rel
	}
	return filepath.ToSlash(file)
}
