package perftest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slogate/slogate/internal/report"
)

// publish gives what a test leaves to CI, in the forms that the environment asks
// for. What goes wrong with it is logged and breaks no test.
func (n *notes) publish() {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.results = slices.DeleteFunc(n.results, func(r *Result) bool { return r.within })
	verdicts := 0 // of all runs
	for _, r := range n.results {
		r.outcomes(verdicts, func(key, value string) { n.t.Attr("perftest."+key, value) })
		verdicts += len(r.Verdicts)
	}
	if len(n.misses) > 0 && n.t.Failed() {
		annotate(worst(n.misses))
	}
	for _, to := range []struct {
		name  string
		write func(file string) error
	}{{"GITHUB_STEP_SUMMARY", n.stepSummary}, {"PERFTEST_METRICS", n.metrics}, {"PERFTEST_BENCH", n.benchmarks}} {
		if file := os.Getenv(to.name); file != "" {
			if err := to.write(file); err != nil {
				n.t.Log(badField(to.name, fmt.Sprintf("%q", file), "it is not written to ("+report.Escape(err.Error())+"): name a file that can be"))
			}
		}
	}
}

// outcomes are properties of the test, for JUnit: the verdicts, each in a line,
// numbered after those of the runs before.
func (r *Result) outcomes(before int, attr func(key, value string)) {
	view := r.verdictsView(r.Verdicts)
	for i, v := range view.Verdicts {
		attr(fmt.Sprintf("verdict.%d", before+i+1), v.Line())
		if needed := r.Verdicts[i].Needed; needed > 0 && r.Verdicts[i].Outcome == Inconclusive {
			attr(fmt.Sprintf("verdict.%d.needed", before+i+1), fmt.Sprint(needed))
		}
	}
	if r.Comparison != nil {
		attr("baseline", r.changesView(*r.Comparison).Line())
	}
}

// mostOfSummary bounds a step's summary: GitHub drops one of more than 1 MiB as
// a whole.
const mostOfSummary = 900_000

// stepSummary appends the test's part to the summary of GitHub's step.
func (n *notes) stepSummary(name string) error {
	if len(n.results)+len(n.texts)+len(n.misses) == 0 {
		return nil
	}
	v := report.StepView{Test: n.t.Name(), Failed: n.t.Failed()}
	for _, r := range n.results {
		verdicts := r.verdictsView(r.Verdicts)
		v.Verdicts = append(v.Verdicts, verdicts)
		if r.Comparison != nil {
			v.Changes = append(v.Changes, r.changesView(*r.Comparison))
		}
	}
	for _, m := range n.misses {
		if m.what == "run" {
			v.Notes = append(v.Notes, m.text)
		}
	}
	v.Details = slices.Clone(n.texts)
	for _, r := range n.results {
		v.Details = append(v.Details, r.Summary())
	}
	return appendTo(name, "\n\n", func(written int) string { return report.Markdown(v, mostOfSummary-written) })
}

// benchmarks appends the test's runs as benchmark lines.
func (n *notes) benchmarks(name string) error {
	if len(n.results) == 0 {
		return nil
	}
	return appendTo(inPackage(name), "\n", func(int) string { return BenchmarkLines(n.results...) })
}

// appendTo appends a text to a file, of which it is told the size, at a time
// when no package tested beside does. What is in the file already, from whomever,
// ends with sep before it.
func appendTo(name, sep string, text func(written int) string) error {
	if unlock, err := lockFile(name); err == nil { // without it a single write mixes no lines either
		defer unlock()
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	written, gap := 0, ""
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
		end := make([]byte, min(int(info.Size()), len(sep)))
		if _, err := f.ReadAt(end, info.Size()-int64(len(end))); err == nil {
			gap = sep[overlap(string(end), sep):]
		}
		written = int(info.Size()) + len(gap)
	}
	if s := text(written); s != "" {
		_, err = f.WriteString(gap + s)
	}
	return errors.Join(err, f.Close())
}

// overlap is how much of the start of sep text ends with.
func overlap(text, sep string) int {
	n := len(sep)
	for !strings.HasSuffix(text, sep[:n]) {
		n--
	}
	return n
}

// metrics puts the test's figures into the file of OpenMetrics text, in the
// place of those that an earlier run of it had there.
func (n *notes) metrics(name string) error {
	if len(n.results) == 0 {
		return nil
	}
	name = inPackage(name)
	unlock, err := lockFile(name)
	if err != nil {
		return err
	}
	defer unlock()
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	// All at once: the labels of a run that has the test's name are the start of
	// those of its other runs.
	var all []report.Metric
	for _, r := range n.results {
		all = append(all, r.openMetrics()...)
	}
	if text, err = report.OpenMetrics(text, report.Labels(n.results[0].testLabels()...), all); err != nil {
		return fmt.Errorf("that file holds other text: %w", err)
	}
	tmp := name + ".tmp"
	if err = os.WriteFile(tmp, text, 0o644); err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

// inPackage is a path that counts from the package's folder.
func inPackage(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(packageDir, name)
}
