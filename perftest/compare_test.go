package perftest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slogate/slogate/internal/report/page"
	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	dir := t.TempDir()
	a, err := ReadResult(stored(t))
	require.NoError(t, err)
	b, err := ReadResult(stored(t))
	require.NoError(t, err)
	b.Rates.Requests = a.Rates.Requests * 1.5
	require.NoError(t, Compare(filepath.Join(dir, "new", "folder"), a, b))
	html, err := os.ReadFile(filepath.Join(dir, "new", "folder", pageFile))
	require.NoError(t, err)
	require.True(t, strings.Contains(string(html), "(&#43;50%)"), "the difference to the first run")
	require.Equal(t, "T 0001-01-01 00:00:00", (&view{runs: []viewed{{Result: a}, {Result: b}}}).named()[0])
	require.Equal(t, "T 0001-01-01 00:00:00 (2)", (&view{runs: []viewed{{Result: a}, {Result: b}}}).named()[1])
}

// A comparison says how the percentiles have changed and in what the runs
// differ, but not their nonces; the curves of its chart are those that the
// objectives are about.
func TestCompareSaysWhatDiffers(t *testing.T) {
	a, err := ReadResult(stored(t))
	require.NoError(t, err)
	b, err := ReadResult(stored(t))
	require.NoError(t, err)
	b.Metrics.TTFT.Mean, b.Scenario.Nonce, b.Target.Model = a.Metrics.TTFT.Mean*0.9, 77, "</b>"
	a.Verdicts = []Verdict{{SLO: SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 1}}}
	a.Server.Metrics = []ServerFigures{{Name: "n_total", Counter: true, Scrapes: 3, Mean: 5, Min: 1, Max: 9, Last: 10, PerSecond: 2}}
	v := view{runs: []viewed{{Result: a, label: "a"}, {Result: b, label: "b"}}}
	require.Equal(t, "The runs differ in target.model: see the configuration.", v.differenceNote())
	rows := v.differenceTable()[0].Rows
	require.Len(t, rows, 1)
	require.Equal(t, []page.Cell{text("target.model"), text(shortJSON(a.Target.Model)), text(shortJSON("</b>"))}, rows[0])
	require.Contains(t, v.percentileTable()[0].Rows[1][3].Text, " (-10%)")
	require.Contains(t, v.percentileTable()[0].Rows[1][6].Text, " (+0%)")
	var names []string
	for _, s := range v.levelFigures()[0].Series {
		names = append(names, s.Name)
	}
	require.Equal(t, []string{"mean", "p99", "p90"}, names)
	cells := v.serverTable()[0].Rows[0]
	require.Equal(t, []page.Cell{number("-"), number("-"), number("-"), number("10"), number("2")}, cells[4:])

	v.sweep = true
	require.Empty(t, v.differenceNote())
	require.NotContains(t, v.percentileTable()[0].Rows[1][3].Text, "%")
}

func TestCompareErrors(t *testing.T) {
	dir := t.TempDir()
	require.ErrorContains(t, Compare(dir), "Compare's results is empty")
	require.ErrorContains(t, Compare(dir, nil), "Compare's result 0 is nil")
	require.ErrorContains(t, Compare(dir, &Result{}), "no folder")
	r, err := ReadResult(stored(t))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(r.Dir, requestsFile)))
	require.ErrorIs(t, Compare(dir, r), os.ErrNotExist)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	require.ErrorContains(t, Compare(file, r), "file")
	left, err := filepath.Glob(filepath.Join(dir, "report*"))
	require.NoError(t, err)
	require.Empty(t, left)
}

// -perf.compare writes a page, and the charts that are asked for, and names
// what it cannot read.
func TestCompareStored(t *testing.T) {
	root := t.TempDir()
	t.Setenv("PERFTEST_RESULTS", root)
	t.Setenv("PERFTEST_CHARTS", "svg, png")
	var out, errs strings.Builder
	require.Zero(t, compareStored(stored(t)+", "+stored(t), &out, &errs), &errs)
	pages, err := filepath.Glob(filepath.Join(root, "compare", "*", pageFile))
	require.NoError(t, err)
	require.Len(t, pages, 1)
	require.Equal(t, "compared 2 results: "+pages[0]+"\n", out.String())
	charts, err := filepath.Glob(filepath.Join(filepath.Dir(pages[0]), chartsDir, "*"))
	require.NoError(t, err)
	// 4 percentile curves, 5 charts over time, 3 of throughput, 2 heat maps and 2 timelines, less none without points
	require.Len(t, charts, 2*(4+5+3+2+2), "%q", charts)
	require.Equal(t, 1, compareStored(filepath.Join(root, "absent"), &out, &errs))
	require.Contains(t, errs.String(), "-perf.compare: ")
	require.Contains(t, errs.String(), "absent")
}

func TestChartsSetting(t *testing.T) {
	for text, want := range map[string][]string{"": nil, "svg": {"svg"}, "png, svg": {"png", "svg"}} {
		got, err := parseCharts(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	_, err := parseCharts("svg,gif")
	require.ErrorContains(t, err, `PERFTEST_CHARTS is "svg,gif": set it to "svg", "png" or "svg,png"`)
}

func (v *view) named() (labels []string) {
	v.name()
	for _, r := range v.runs {
		labels = append(labels, r.label)
	}
	return labels
}

// The level with the highest throughput of those that pass is the best one.
func TestBestLevel(t *testing.T) {
	level := func(rate Value, missed bool, outcomes ...Outcome) viewed {
		r := &Result{Rates: Rates{Output: rate}}
		for _, o := range outcomes {
			r.Verdicts = append(r.Verdicts, Verdict{Outcome: o, Point: o})
		}
		return viewed{Result: r, missed: missed}
	}
	v := view{runs: []viewed{level(10, false, Pass), level(20, false, Pass, Pass), level(30, false, Pass, Invalid), level(40, true, Pass), level(50, false)}}
	require.Equal(t, 1, v.best())
	v.runs = v.runs[2:]
	require.Equal(t, -1, v.best())
	require.True(t, strings.HasPrefix(v.levelNote(), "No run"))
}

// Runs of both kinds of server, stopped ones and whole ones are appended to one
// file: each says which it is.
func TestBenchmarkLinesSayOfWhatTheyAre(t *testing.T) {
	r := &Result{Name: "T"}
	require.Contains(t, BenchmarkLines(r), "simulated: false\n")
	r.Simulated = true
	require.Contains(t, BenchmarkLines(r), "simulated: true\n")
	require.Contains(t, BenchmarkLines(r), "partial: false\n")
	r.Partial = true
	require.Contains(t, BenchmarkLines(r), "partial: true\n", "benchstat keeps it from whole runs")
}
