package perftest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// stored writes three answers and a failure as a run would, and gives the folder.
func stored(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := newCollector()
	w, err := record.Create(filepath.Join(dir, requestsFile), c.add)
	require.NoError(t, err)
	put := func(i int, r record.Record) {
		rec := w.Get()
		*rec = r
		rec.Index = i
		w.Put(rec)
	}
	for i := range 3 {
		put(i, answer(time.Duration(i)*time.Second, time.Duration(100*(i+1))*time.Millisecond, 5))
	}
	put(3, failure(3*time.Second, record.ClassReset))
	require.NoError(t, w.Close())
	r := &Result{Schema: ResultSchema, Version: ResultVersion, Name: "T", Ended: endedComplete, Dir: dir}
	c.finish(r, 1)
	require.NoError(t, r.save())
	return dir
}

var ttftBelow = SLO{Metric: TTFT, Stat: "p75", Op: Below, Limit: 0.301}

func TestReadResultJudgesAgain(t *testing.T) {
	dir := stored(t)
	for _, path := range []string{dir, filepath.Join(dir, resultFile)} {
		r, err := ReadResult(path)
		require.NoError(t, err)
		v := r.Judge(ttftBelow, SLO{Metric: ITL, Stat: Mean, Op: AtMost, Limit: 0.01})
		require.Equal(t, Pass, v[0].Point) // one of four over
		require.Equal(t, Fail, v[1].Point) // a mean with a failure in it
		require.Equal(t, Value(0.010), v[1].Measured)
		require.NoError(t, r.SaveVerdicts(v))
		require.Equal(t, ttftBelow, r.Verdicts[0].SLO)
	}
	r, err := ReadResult(dir)
	require.NoError(t, err)
	require.Empty(t, r.Verdicts, "a stored result stays as it is")
}

// What a killed run leaves is readable, and can prove no pass.
func TestReadResultOfAKilledRun(t *testing.T) {
	dir := stored(t)
	require.NoError(t, os.Remove(filepath.Join(dir, resultFile)))
	name := filepath.Join(dir, requestsFile)
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(name, data[:len(data)-20], 0o644)) // in the last line
	r, err := ReadResult(dir)
	require.NoError(t, err)
	require.True(t, r.Partial)
	require.Equal(t, Counts{Sent: 3, Succeeded: 3, Events: 15, TokenEvents: 15, Dialled: 0}, r.Counts)
	require.Equal(t, Value(0.2), r.Metrics.TTFT.Mean)
	require.Equal(t, Invalid, r.Judge(ttftBelow)[0].Point)
	require.Contains(t, strings.Join(r.Warnings, "\n"), "cut off")
}

func TestReadResultErrors(t *testing.T) {
	for name, c := range map[string]struct {
		change func(result, requests string) (string, string)
		want   string
	}{
		"newer":    {func(a, b string) (string, string) { return strings.Replace(a, `"version": 2`, `"version": 99`, 1), b }, "version is 99: this reads 1 to 2: use a newer slogate"},
		"other":    {func(a, b string) (string, string) { return strings.Replace(a, ResultSchema, "x/y", 1), b }, `schema is "x/y"`},
		"no JSON":  {func(a, b string) (string, string) { return a[:len(a)/2], b }, "unexpected end of JSON"},
		"too few":  {func(a, b string) (string, string) { return a, b[strings.Index(b, "\n")+1:] }, "requests.jsonl holds 3 measured requests, result.json says 4"},
		"bad line": {func(a, b string) (string, string) { return a, strings.Replace(b, `"sent_s":1`, `"sent_s":"x"`, 1) }, "line 2: sent_s"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := stored(t)
			read := func(name string) string {
				data, err := os.ReadFile(filepath.Join(dir, name))
				require.NoError(t, err)
				return string(data)
			}
			a, b := c.change(read(resultFile), read(requestsFile))
			require.NoError(t, os.WriteFile(filepath.Join(dir, resultFile), []byte(a), 0o644))
			require.NoError(t, os.WriteFile(filepath.Join(dir, requestsFile), []byte(b), 0o644))
			_, err := ReadResult(dir)
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := ReadResult(filepath.Join(t.TempDir(), "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestResultDir(t *testing.T) {
	root := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	first, err := makeResultDir(root, `TestX/c=1/a:b "q"/../.`, now)
	require.NoError(t, err)
	rel, err := filepath.Rel(root, first)
	require.NoError(t, err)
	require.Equal(t, "TestX/c=1/a_b _q_/_/_/20260102T030405.678Z", filepath.ToSlash(rel))
	second, err := makeResultDir(root, `TestX/c=1/a:b "q"/../.`, now)
	require.NoError(t, err)
	require.Equal(t, first+"-1", second)

	file := filepath.Join(root, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o644))
	_, err = makeResultDir(file, "T", now)
	require.ErrorContains(t, err, "PERFTEST_RESULTS is \""+file+"\": it cannot be made")
}
