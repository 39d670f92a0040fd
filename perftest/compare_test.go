package perftest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	// 4 percentile curves, 5 charts over time, 3 of throughput and 2 heat maps, less none without points
	require.Len(t, charts, 2*(4+5+3+2), "%q", charts)
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
