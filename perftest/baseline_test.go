package perftest

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// runsOf is a result of runs whose median TTFT, mean TPOT and throughput are
// those of a server that is so many times slower than one of 100 ms, 20 ms and
// 1000 tok/s.
func runsOf(slower ...float64) *Result {
	r := &Result{
		Name: "T", Test: "T", Started: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), stored: true,
		Target:      TargetInfo{Model: "m", API: "chat", Labels: map[string]string{"gpu": "A100"}},
		Scenario:    ScenarioInfo{Load: LoadInfo{Type: "perftest.Closed", Concurrency: 4, Config: []byte(`{"concurrency":4}`), ShardCount: 1}, WorkloadType: "fixtures.Builtin", Workload: []byte(`{"output":4}`)},
		Environment: Environment{CPU: "c", CPUs: 2, OS: "linux", Arch: "amd64", Commit: "0123456789abcdef"},
	}
	for _, x := range slower {
		f := Value(x)
		r.Runs = append(r.Runs, RunFigures{
			Requests: 1000, TTFTp50: 0.1 * f, TTFTp99: 0.3 * f, TPOTMean: 0.02 * f, TPOTp99: 0.03 * f, LatencyP50: 2 * f,
			OutputRate: 1000 / f, RequestRate: 10 / f, ErrorRate: 0,
		})
	}
	return r
}

// against compares with a file of other runs.
func against(t *testing.T, b Baseline, baseline, candidate *Result) Comparison {
	t.Helper()
	b.File = filepath.Join(t.TempDir(), "b.jsonl")
	if baseline != nil {
		_, err := baseline.AppendBaseline(b)
		require.NoError(t, err)
	}
	c, err := candidate.Against(b)
	require.NoError(t, err)
	return c
}

// Five runs against three, worked out by hand: the logs of 5 runs at ×(0.98,
// 0.99, 1, 1.01, 1.02) deviate by 0.0158, those of 3 at ×1.3×(0.99, 1, 1.01) by
// 0.0100; se = sqrt(0.0158²/5 + 0.01²/3) = 0.0091, and log 1.3 = 0.262 is 23 of
// them above log 1.05.
func TestCompareOutcomes(t *testing.T) {
	base := []float64{0.98, 0.99, 1, 1.01, 1.02}
	noisy := []float64{0.8, 0.9, 1, 1.1, 1.25}
	for _, c := range []struct {
		name                string
		by                  Baseline
		baseline, candidate []float64
		want                Outcome
		advisory            bool
		reason              string
	}{
		{"slower by 30%", Baseline{}, base, []float64{1.29, 1.3, 1.31}, Regressed, false, "3 of 3 figures proved more than 5% worse"},
		{"the same", Baseline{}, base, []float64{0.99, 1, 1.01}, Unchanged, false, "no figure is more than 10% worse"},
		{"faster by 23%", Baseline{}, base, []float64{0.76, 0.77, 0.78}, Improved, false, "3 of 3 figures proved more than 5% better"},
		{"slower by 7%, which is tolerated and within the margin", Baseline{Tolerance: 0.10, Margin: 0.15}, base, []float64{1.06, 1.07, 1.08}, Unchanged, false, ""},
		{"slower by 7%, between tolerance and margin", Baseline{}, base, []float64{1.04, 1.07, 1.10}, Inconclusive, false, ""},
		{"noise", Baseline{}, noisy, []float64{0.85, 1, 1.2}, Inconclusive, false, ""},
		{"two and two cannot prove anything", Baseline{}, []float64{1, 1.01}, []float64{1.5, 1.51}, Inconclusive, false, ""},
		{"no variance", Baseline{}, []float64{1, 1, 1, 1, 1}, []float64{1, 1, 1}, Unchanged, false, ""},
		{"no variance, slower", Baseline{}, []float64{1, 1, 1, 1, 1}, []float64{1.2, 1.2, 1.2}, Regressed, false, ""},
		{"one against ten", Baseline{}, []float64{0.97, 0.98, 0.98, 0.99, 1, 1, 1.01, 1.02, 1.02, 1.03}, []float64{1.3}, Regressed, false, ""},
		{"one against five", Baseline{}, base, []float64{1}, Inconclusive, true, ""}, // a stored run has no spread
	} {
		t.Run(c.name, func(t *testing.T) {
			got := against(t, c.by, runsOf(c.baseline...), runsOf(c.candidate...))
			require.Equal(t, c.want, got.Outcome, got.Reason)
			require.Equal(t, c.advisory, got.Advisory)
			require.Contains(t, got.Reason, c.reason)
			require.Equal(t, []int{len(c.baseline), len(c.candidate)}, []int{got.Baseline, got.Candidate})
			require.Equal(t, []bool{true, true, true, false, false, false, false}, gatesOf(got))
		})
	}
}

func gatesOf(c Comparison) (gates []bool) {
	for _, d := range c.Changes {
		gates = append(gates, d.Gates)
	}
	return gates
}

// p99 is advice: a regression of it alone changes no outcome.
func TestCompareAdvises(t *testing.T) {
	candidate := runsOf(0.99, 1, 1.01)
	for i := range candidate.Runs {
		candidate.Runs[i].TTFTp99 *= 3
	}
	c := against(t, Baseline{}, runsOf(0.98, 0.99, 1, 1.01, 1.02), candidate)
	require.Equal(t, Unchanged, c.Outcome)
	for _, d := range c.Changes {
		if d.Metric == TTFT && d.Stat == "p99" {
			require.Equal(t, Regressed, d.Outcome)
			require.InDelta(t, 3, float64(d.Ratio), 0.001)
			require.False(t, d.Gates)
		}
	}
}

// What has no output is judged by its latency and requests a second; what
// vanished from the candidate is no pass.
func TestCompareOfWhatIsAbsent(t *testing.T) {
	without := func(r *Result) *Result {
		for i := range r.Runs {
			f := &r.Runs[i]
			f.TTFTp50, f.TTFTp99, f.TPOTMean, f.TPOTp99, f.OutputRate = Absent, Absent, Absent, Absent, Absent
		}
		return r
	}
	base, same, slow := []float64{0.98, 0.99, 1, 1.01, 1.02}, []float64{0.99, 1, 1.01}, []float64{1.29, 1.3, 1.31}
	c := against(t, Baseline{}, without(runsOf(base...)), without(runsOf(slow...)))
	require.Equal(t, Regressed, c.Outcome)
	require.Equal(t, []bool{true, true}, gatesOf(c))
	require.Equal(t, Unchanged, against(t, Baseline{}, without(runsOf(base...)), without(runsOf(same...))).Outcome)

	c = against(t, Baseline{}, runsOf(base...), without(runsOf(same...)))
	require.Equal(t, Invalid, c.Outcome)
	require.Contains(t, c.Changes[0].Reason, "known of 5 runs of the baseline and 0 of the candidate")

	for _, odd := range []Value{0, Value(math.NaN()), Value(math.Inf(1))} {
		candidate := runsOf(same...)
		candidate.Runs[1].TTFTp50 = odd
		require.Equal(t, Invalid, against(t, Baseline{}, runsOf(base...), candidate).Outcome, odd)
	}
	c = against(t, Baseline{}, without(runsOf(base...)), runsOf())
	require.Equal(t, Invalid, c.Outcome, "a result of no request")
}

func TestCompareRefusesUnfitRuns(t *testing.T) {
	broken := runsOf(1, 1, 1)
	broken.Runs[1].Unfit = "it ended early (deadline)"
	c := against(t, Baseline{}, runsOf(1, 1, 1), broken)
	require.Equal(t, Invalid, c.Outcome)
	require.Equal(t, "run 2 of 3 cannot be compared: it ended early (deadline)", c.Reason)
	_, err := broken.AppendBaseline(Baseline{File: filepath.Join(t.TempDir(), "b.jsonl")})
	require.ErrorContains(t, err, "it ended early")

	missed := runsOf(1, 1, 1)
	missed.Verdicts = []Verdict{{Point: Fail, SLO: SLO{Metric: TTFT, Stat: "p99", Op: Below, Limit: 1}}}
	file := filepath.Join(t.TempDir(), "b.jsonl")
	_, err = missed.AppendBaseline(Baseline{File: file})
	require.ErrorContains(t, err, "the run missed its SLOs: FAIL TTFT p99 < 1s")
	require.NoFileExists(t, file)
}

func TestCompareFingerprints(t *testing.T) {
	file := filepath.Join(t.TempDir(), "b.jsonl")
	b := Baseline{File: file}
	c, err := runsOf(1, 1, 1).Against(b)
	require.NoError(t, err)
	require.Equal(t, NoBaseline, c.Outcome)
	require.NoFileExists(t, file)

	_, err = runsOf(1, 1, 1).AppendBaseline(b)
	require.NoError(t, err)
	other := runsOf(2, 2, 2)
	other.Target.Labels = map[string]string{"gpu": "H200"}
	other.Scenario.Load.Config = []byte(`{"concurrency":8}`)
	c, err = other.Against(b)
	require.NoError(t, err)
	require.Equal(t, Incomparable, c.Outcome)
	diff := strings.ReplaceAll(c.Differs, "\u00a0", " ")
	for _, want := range []string{`- `, `"A100"`, `+ `, `"H200"`, `float64(4)`, `float64(8)`} {
		require.Contains(t, diff, want)
	}

	// Both live in one file, and each is compared with its own.
	_, err = other.AppendBaseline(b)
	require.NoError(t, err)
	for _, r := range []*Result{runsOf(1, 1, 1), other} {
		c, err = r.Against(b)
		require.NoError(t, err)
		require.Equal(t, []any{Unchanged, 3}, []any{c.Outcome, c.Baseline})
	}

	// Of two servers, only the load has to be the same.
	c, err = runsOf(1, 1, 1).Against(Baseline{Result: other})
	require.NoError(t, err)
	require.Equal(t, Incomparable, c.Outcome)
	require.NotContains(t, c.Differs, "H200")
	other.Scenario.Load.Config = []byte(`{"concurrency":4}`)
	c, err = runsOf(1, 1, 1).Against(Baseline{Result: other})
	require.NoError(t, err)
	require.Equal(t, Improved, c.Outcome)
}

// An update that finds nothing changed makes the baseline longer; one that
// finds a change begins it anew. Nothing is ever rewritten.
func TestAppendBaseline(t *testing.T) {
	file := filepath.Join(t.TempDir(), "deep", "er", "b.jsonl")
	b := Baseline{File: file}
	lines := func() []string {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	}
	at := 0
	update := func(slower ...float64) Comparison {
		r := runsOf(slower...)
		at++
		r.Started = r.Started.Add(time.Duration(at) * time.Hour)
		c, err := r.AppendBaseline(b)
		require.NoError(t, err)
		return c
	}
	require.Equal(t, NoBaseline, update(0.99, 1, 1.01).Outcome)
	first := lines()
	require.Len(t, first, 3)
	require.Equal(t, Unchanged, update(0.99, 1, 1.01).Outcome)
	c, err := runsOf(1, 1, 1).Against(b)
	require.NoError(t, err)
	require.Equal(t, 6, c.Baseline)
	require.Equal(t, Regressed, update(1.5, 1.5, 1.5, 1.5, 1.5).Outcome)
	c, err = runsOf(1.5, 1.5, 1.5).Against(b)
	require.NoError(t, err)
	require.Equal(t, []any{Unchanged, 5}, []any{c.Outcome, c.Baseline})
	require.Len(t, lines(), 11)
	require.Equal(t, first, lines()[:3])
	attributes, err := os.ReadFile(filepath.Join(filepath.Dir(file), ".gitattributes"))
	require.NoError(t, err)
	require.Equal(t, "*.jsonl merge=union\n", string(attributes))
}

// Each line that is no run is named, and no baseline with one is used.
func TestReadBaselineNamesTheLine(t *testing.T) {
	good := filepath.Join(t.TempDir(), "good.jsonl")
	_, err := runsOf(1).AppendBaseline(Baseline{File: good})
	require.NoError(t, err)
	line, err := os.ReadFile(good)
	require.NoError(t, err)
	for want, bad := range map[string]string{
		"b.jsonl:2: it is no run (unexpected end of JSON input): restore the line":    string(line[:40]),
		"b.jsonl:2: it is the mark of a merge conflict":                               "<<<<<<< HEAD",
		`b.jsonl:2: its schema is "slogate/result" and not "slogate/baseline"`:        `{"schema":"slogate/result"}`,
		"b.jsonl:2: its version is 99, and this reads 1 to 1: use a newer slogate":    `{"schema":"slogate/baseline","version":99}`,
		"b.jsonl:2: it is no run (json: cannot unmarshal string into Go struct field": `{"schema":"slogate/baseline","version":1,"figures":{"ttft_p50_s":"fast"}}`,
	} {
		file := filepath.Join(t.TempDir(), "b.jsonl")
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "%s%s\n\n", line, bad), 0o644))
		_, err := runsOf(1).Against(Baseline{File: file})
		require.ErrorContains(t, err, want)
		_, err = runsOf(1).AppendBaseline(Baseline{File: file})
		require.ErrorContains(t, err, want)
	}
}

// A line of another version that lacks a figure says nothing of it.
func TestRunFiguresOfAnOlderVersion(t *testing.T) {
	var f RunFigures
	require.NoError(t, f.UnmarshalJSON([]byte(`{"requests":3,"ttft_p50_s":0.5}`)))
	want := RunFigures{Requests: 3, TTFTp50: 0.5, TTFTp99: Absent, TPOTMean: Absent, TPOTp99: Absent, LatencyP50: Absent, OutputRate: Absent, RequestRate: Absent, ErrorRate: Absent}
	if d := cmp.Diff(want, f); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestBaselineChecks(t *testing.T) {
	for want, b := range map[string]Baseline{
		"Baseline.Tolerance is -0.1":       {Tolerance: -0.1},
		"Baseline.Tolerance is NaN":        {Tolerance: math.NaN()},
		"Baseline.Margin is 0.05: set it":  {Tolerance: 0.1, Margin: 0.05},
		"Baseline.Alpha is 0.5":            {Alpha: 0.5},
		"Baseline.File is \"x\": leave it": {File: "x", Result: runsOf(1)},
	} {
		_, err := runsOf(1).Against(b)
		require.ErrorContains(t, err, want)
	}
	file, shown := Baseline{}.file("TestX/c=1")
	require.Equal(t, filepath.Join("testdata", "perftest", "TestX", "c=1.jsonl"), shown)
	require.Equal(t, filepath.Join(packageDir, shown), file)
}

// The workload's files are part of what makes runs comparable, their folders
// are not.
func TestFingerprintHashesFiles(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	print := func(dir, text string) Fingerprint {
		path := filepath.Join(dir, "prompts.jsonl")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		r := runsOf(1)
		r.Scenario.Workload = fmt.Appendf(nil, `[{"path":%q,"output":4}]`, path)
		f, err := r.Fingerprint()
		require.NoError(t, err)
		return f
	}
	require.Empty(t, print(b, "one").differs(print(a, "one")))
	d := print(b, "two").differs(print(a, "one"))
	// SHA-256 of "one", by sha256sum
	require.Contains(t, d, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed")
	r := runsOf(1)
	r.Scenario.Workload = []byte(`{"path":"is/not/there"}`)
	_, err := r.Against(Baseline{})
	require.ErrorContains(t, err, `Workload.Path is "is/not/there"`)
	require.NotContains(t, fmt.Sprint(print(a, "one")), a)
}
