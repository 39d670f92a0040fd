package perftest

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slogate/slogate/internal/report"
)

// UpdateBaselines reports whether PERFTEST_UPDATE (or -perf.update) asks for
// new baselines.
func UpdateBaselines() bool { return readSettings().update }

// AppendBaseline appends r's runs to the baseline's file, which it makes where
// there is none, and gives what they say against the runs that were there. Where
// these found a change, or cannot be compared, the new runs are what later ones
// are compared with; else they are added to the ones before, which makes the
// baseline surer.
//
// Runs that cannot be compared are not appended: the error says why.
func (r *Result) AppendBaseline(b Baseline) (Comparison, error) {
	if b.Result != nil {
		return Comparison{}, badField("Baseline.Result", "set", "leave it nil: only a file can be appended to")
	}
	c, with, err := r.compare(b)
	if err != nil {
		return c, err
	}
	if unfit := unfit(r.runs(), nil); unfit != "" {
		return c, errors.New(unfit)
	}
	if missed := r.missed(); missed != "" {
		return c, errors.New("the run missed its SLOs: " + missed)
	}
	print, err := r.Fingerprint()
	if err != nil {
		return c, err
	}
	series := ""
	if len(with) > 0 && (c.Outcome == Unchanged || c.Outcome == Inconclusive) {
		series = with[0].Series
	}
	file, shown := b.file(r.Test)
	if err := appendBaseline(file, r.newRuns(print, series)); err != nil {
		return c, fmt.Errorf("baseline %s: %s", shown, cause(err))
	}
	return c, nil
}

// missed names a verdict on r that is red.
func (r *Result) missed() string {
	for _, v := range r.Verdicts {
		if o := v.Decided(); o != Pass {
			return string(o) + " " + v.SLO.String()
		}
	}
	return ""
}

// SaveComparison adds a comparison to the result, writes result.json again, and
// shows it on the terminal where go test hides what a passing test says. A
// result that was read back, or that has no folder, is not written.
func (r *Result) SaveComparison(c Comparison) error {
	r.Comparison = &c
	r.noteMisses(r.changeMisses(c))
	if r.stored {
		return nil
	}
	if !testing.Verbose() {
		report.ToTerminal(r.ComparisonTable(c) + "\n\n")
	}
	return r.save()
}

// ComparisonTable shows a comparison of r with a baseline: the outcome, a
// figure in each row, and what to do.
func (r *Result) ComparisonTable(c Comparison) string {
	return report.Changes(r.changesView(c))
}

// changesView is what a table of changes shows.
func (r *Result) changesView(c Comparison) report.ChangesView {
	v := report.ChangesView{
		Scenario: r.Name, Simulated: r.Simulated, Outcome: string(c.Outcome), Reason: c.Reason, Advisory: c.Advisory,
		Baseline: c.Baseline, Candidate: c.Candidate, Differs: c.Differs,
	}
	for _, d := range c.Changes {
		v.Changes = append(v.Changes, report.Change{
			Outcome: string(d.Outcome), Metric: d.Metric.label(), Stat: string(d.Stat), Unit: d.Metric.unit(), Gates: d.Gates,
			Baseline: float64(d.Baseline), Candidate: float64(d.Candidate),
			Ratio: float64(d.Ratio), Lower: float64(d.Lower), Upper: float64(d.Upper), Reason: d.Reason,
		})
	}
	if c.File != "" && c.Baseline > 0 {
		v.Source = fmt.Sprintf("%s, last run %s", c.File, c.Time.UTC().Format("2006-01-02"))
		if c.Commit != "" {
			v.Source += " at " + c.Commit[:min(len(c.Commit), 12)]
		}
	}
	v.Remedies = r.remedies(c)
	return v
}

// remedies say what to do about an outcome that is no pass.
func (r *Result) remedies(c Comparison) (lines []string) {
	again := ""
	if len(r.Shards) > 0 && r.Dir != "" { // they ran where the package is not, and need not run again
		again = "PERFTEST_REPLAY=" + filepath.Dir(r.Dir) + " "
	}
	update := "PERFTEST_UPDATE=1 " + again + strings.TrimSpace("go test "+r.Package) + r.only() + " appends its runs to " + c.File
	switch c.Outcome {
	case NoBaseline:
		lines = append(lines, "to make a baseline, "+update+"; then commit that file")
	case Incomparable:
		lines = append(lines, "run what the baseline ran, or make a baseline of such runs, too: "+update+" (those before stay)")
		if c.File == "" {
			lines = []string{"run the same load on both sides"}
		}
	case Regressed:
		if c.File != "" {
			lines = append(lines, "if the change is wanted, "+update+", and later runs are compared with them")
		}
	case Inconclusive:
		switch {
		case c.MoreRuns > 0:
			lines = append(lines, fmt.Sprintf("about %d more on each side would decide it: Scenario.Repeat %d here, and %d in the baseline", c.MoreRuns, c.Candidate+c.MoreRuns, c.Baseline+c.MoreRuns))
		default:
			lines = append(lines, fmt.Sprintf("ten more runs on each side would probably not decide it: they differ too much from one another, or the change lies between %g%% and %g%%", percentOf(c.Tolerance), percentOf(c.Margin)))
		}
	}
	if c.Advisory && c.Outcome != Invalid {
		lines = append(lines, "advisory: a single run is a hint and no evidence; Scenario.Repeat of 3 against a baseline of 5 is some")
	}
	return slices.Clip(lines)
}
