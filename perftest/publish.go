package perftest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

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
	for _, err := range []error{n.stepSummary(os.Getenv("GITHUB_STEP_SUMMARY")), n.metrics(os.Getenv("PERFTEST_METRICS")), n.benchmarks(os.Getenv("PERFTEST_BENCH"))} {
		if err != nil {
			n.t.Log(err)
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
	if name == "" || len(n.results)+len(n.texts)+len(n.misses) == 0 {
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
	written := 0
	if info, err := os.Stat(name); err == nil {
		written = int(info.Size())
	}
	return appendTo(name, report.Markdown(v, mostOfSummary-written))
}

// benchmarks appends the test's runs as benchmark lines.
func (n *notes) benchmarks(name string) error {
	if name == "" || len(n.results) == 0 {
		return nil
	}
	return appendTo(inPackage(name), BenchmarkLines(n.results...))
}

// appendTo appends a text in one write, so that packages tested at the same time
// do not mix theirs.
func appendTo(name, text string) error {
	if text == "" {
		return nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return fmt.Errorf("not written: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("not written: %w", err)
	}
	return nil
}

// metrics puts the test's figures into the file of OpenMetrics text, in the
// place of those that an earlier run of it had there.
func (n *notes) metrics(name string) error {
	if name == "" || len(n.results) == 0 {
		return nil
	}
	name = inPackage(name)
	unlock, err := lockFile(name)
	if err != nil {
		return fmt.Errorf("PERFTEST_METRICS: %w", err)
	}
	defer unlock()
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("PERFTEST_METRICS: %w", err)
	}
	// All at once: the labels of a run that has the test's name are the start of
	// those of its other runs.
	var all []report.Metric
	for _, r := range n.results {
		all = append(all, r.openMetrics()...)
	}
	if text, err = report.OpenMetrics(text, report.Labels(n.results[0].testLabels()...), all); err != nil {
		return badField("PERFTEST_METRICS", fmt.Sprintf("%q", name), "that file holds other text ("+err.Error()+"): name a new one")
	}
	tmp := name + ".tmp"
	if err = os.WriteFile(tmp, text, 0o644); err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		_ = os.Remove(tmp)
		return fmt.Errorf("PERFTEST_METRICS: %w", err)
	}
	return nil
}

// inPackage is a path that counts from the package's folder.
func inPackage(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(packageDir, name)
}
