package perftest

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report/chart"
	"github.com/slogate/slogate/internal/report/page"
)

// pageFile is the report of a result's folder, for people, and chartsDir has
// its charts as files, when they are asked for.
const (
	pageFile  = "report.html"
	chartsDir = "charts"
)

// Compare writes report.html into dir, which it makes when it is missing: the
// given results side by side, with the difference of each mean, percentile and
// rate to the first one's, and what differs in how they ran.
// One result is a report of that run alone. The page is one file that needs no
// network. It fails without a result, and for one whose requests.jsonl is
// missing or damaged. With PERFTEST_CHARTS the charts are written as files too.
//
//	before, err := perftest.ReadResult("results/TestChat/20261129T152106.953Z")
//	…
//	err = perftest.Compare("compared", before, after)
func Compare(dir string, results ...*Result) error {
	if len(results) == 0 {
		return badField("Compare's results", "empty", "give it at least one")
	}
	for i, r := range results {
		if r == nil {
			return badField(fmt.Sprintf("Compare's result %d", i), "nil", "give it results of Run or ReadResult")
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	v := view{runs: make([]viewed, len(results)), title: "Comparison"}
	for i, r := range results {
		v.runs[i] = viewed{Result: r}
	}
	if len(results) == 1 {
		v.title = results[0].Name
	}
	return v.write(dir, time.Time{})
}

// writeReport writes the page of r beside its result.json, once its test is
// over, so that the page holds the verdicts. What is wrong with the page is
// logged and breaks no test.
func (r *Result) writeReport(t testing.TB) {
	t.Helper()
	v := view{title: r.Name, runs: []viewed{{Result: r, missed: t.Failed()}}}
	if err := v.write(r.Dir, pageDeadline(t)); err != nil {
		t.Logf("%s is not written: %v", pageFile, err)
	}
	r.reported = true
}

// pageDeadline is when the writing of a page has to give up, so that the test
// does not end in a panic; zero without a deadline.
func pageDeadline(t testing.TB) time.Time {
	d, ok := deadlineOf(t)
	if !ok {
		return time.Time{}
	}
	return d.Add(-reserve(time.Until(d)) / 5)
}

// view is what a page shows.
type view struct {
	title string
	sweep bool // the runs are levels, in their order
	runs  []viewed
}

// viewed is one run of it.
type viewed struct {
	*Result
	label    string // unique in the view
	missed   bool   // its test has failed
	gathered *gathered
}

// write gathers what the runs' requests hold and writes the page. It gives up
// at the deadline, unless that is zero.
func (v *view) write(dir string, deadline time.Time) error {
	v.name()
	for i := range v.runs {
		g, err := v.runs[i].gather(mostBars/len(v.runs), deadline)
		if err != nil {
			return fmt.Errorf("report: %w", err)
		}
		v.runs[i].gathered = g
	}
	p := v.page()
	if err := writePage(filepath.Join(dir, pageFile), p); err != nil {
		return err
	}
	return v.writeCharts(dir, p)
}

// writeCharts writes the page's charts as files, when they are asked for. The
// timeline has no place in a document: its bars are told apart by zooming.
func (v *view) writeCharts(dir string, p page.Page) error {
	formats, err := parseCharts(readSettings().chartsText)
	if err != nil || len(formats) == 0 {
		return err
	}
	dir = filepath.Join(dir, chartsDir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("charts: %w", err)
	}
	mark := ""
	for _, r := range v.runs {
		if r.Simulated {
			mark = "SIMULATED"
		}
		if r.Partial {
			mark = strings.TrimPrefix(mark+", PARTIAL", ", ")
			break
		}
	}
	for _, s := range p.Sections {
		for _, f := range s.Figures {
			err = errors.Join(err, chart.Write(dir, formats, mark, f))
		}
		for _, h := range s.Heats {
			err = errors.Join(err, chart.WriteHeat(dir, formats, mark, h))
		}
		for _, t := range s.Timelines {
			err = errors.Join(err, chart.WriteTimeline(dir, formats, mark, t))
		}
	}
	return err
}

// writePage writes a file whole or not at all.
func writePage(name string, p page.Page) error {
	f, err := os.Create(name + ".tmp")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	err = errors.Join(page.Write(b, p), b.Flush(), f.Close())
	if err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		_ = os.Remove(name + ".tmp")
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// name gives each run a label of its own: its name, and where runs share one,
// the time of its start.
func (v *view) name() {
	names := map[string]int{}
	for _, r := range v.runs {
		names[r.Name]++
	}
	taken := map[string]bool{}
	for i := range v.runs {
		r := &v.runs[i]
		if r.label == "" {
			if r.label = r.Name; names[r.Name] > 1 {
				r.label = r.Name + " " + r.Started.Format("2006-01-02 15:04:05")
			}
		}
		for n, base := 2, r.label; taken[r.label]; n++ {
			r.label = fmt.Sprintf("%s (%d)", base, n)
		}
		taken[r.label] = true
	}
}

// page lays the page out.
func (v *view) page() page.Page {
	p := page.Page{Title: v.title, Subtitle: v.subtitle(), Marks: v.marks()}
	p.Sections = []page.Section{
		{ID: "verdicts", Title: "Verdicts", Tables: v.verdictTable(), Note: v.verdictNote()},
		{ID: "summary", Title: "Summary", Tables: v.summaryTables(), Note: v.notes()},
		{ID: "levels", Title: "Throughput against latency", Figures: v.levelFigures(), Note: v.levelNote()},
		{ID: "percentiles", Title: "Percentiles", Tables: v.percentileTable(), Figures: v.curves(), Note: "Over the successes. Each further nine of a curve has as much room; a line ends where the count carries no percentile."},
		{ID: "time", Title: "Over time", Figures: v.overTime()},
		{ID: "requests", Title: "Requests", Timelines: v.timelines()},
		{ID: "gaps", Title: "Gaps between tokens", Heats: v.heats()},
		{ID: "server", Title: "The server's own metrics", Tables: v.serverTable(), Figures: v.serverFigures()},
		{ID: "failures", Title: "Failures", Tables: v.failureTable(), Note: v.failureNote()},
		{ID: "client", Title: "The client's health", Tables: v.healthTable(), Note: "Where the client was the bottleneck, the run can tell nothing of a real server."},
		{ID: "peers", Title: "What other tools would have printed", Tables: v.peerTables(), Note: v.peerNote()},
		{ID: "configuration", Title: "Configuration and environment", Tables: append(v.differenceTable(), v.environmentTable()...), Texts: v.configurations()},
	}
	return p
}

func (v *view) subtitle() string {
	r := v.runs[0]
	s := r.Started.Format("2006-01-02 15:04:05 MST")
	if r.Target.Model != "" {
		s = r.Target.Model + " at " + r.Target.URL + ", " + s
	}
	switch {
	case v.sweep:
		s = fmt.Sprintf("Sweep of %d levels: %s", len(v.runs), s)
	case len(v.runs) > 1:
		s = fmt.Sprintf("%d runs; the first: %s", len(v.runs), s)
	}
	return s
}

// marks are what no reader may overlook.
func (v *view) marks() (marks []string) {
	all := true
	for _, r := range v.runs {
		all = all && r.Simulated
	}
	if all {
		marks = append(marks, "SIMULATED: no real server was measured")
	}
	for _, r := range v.runs {
		of := ""
		if len(v.runs) > 1 {
			of = " (" + r.label + ")"
		}
		if r.Simulated && !all {
			marks = append(marks, "SIMULATED: no real server was measured"+of)
		}
		if partial := r.partialText(); partial != "" {
			marks = append(marks, "PARTIAL: "+partial+of)
		}
	}
	return marks
}
