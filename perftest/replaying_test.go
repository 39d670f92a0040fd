package perftest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// replayT is a test under way of which all is kept.
type replayT struct {
	testing.TB
	name     string
	errors   []string
	cleanups []func()
}

func (t *replayT) Helper()                   {}
func (t *replayT) Name() string              { return t.name }
func (t *replayT) Failed() bool              { return len(t.errors) > 0 }
func (t *replayT) Cleanup(f func())          { t.cleanups = append(t.cleanups, f) }
func (t *replayT) Logf(string, ...any)       {}
func (t *replayT) Attr(string, string)       {}
func (t *replayT) Errorf(f string, a ...any) { t.errors = append(t.errors, fmt.Sprintf(f, a...)) }
func (t *replayT) Fatalf(f string, a ...any) {
	t.errors = append(t.errors, fmt.Sprintf(f, a...))
	runtime.Goexit()
}

// as runs f as a test of that name to its end, and gives its errors.
func as(t *testing.T, name string, f func(t testing.TB)) []string {
	fake := &replayT{TB: t, name: name}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(fake)
	}()
	<-done
	for _, f := range slices.Backward(fake.cleanups) {
		f()
	}
	return fake.errors
}

var eight = fixtures.Prompts{Prompts: []string{"Hello"}, Output: 8}

// recordedIn runs a scenario against a simulated server, and gives the folder
// of all results.
func recordedIn(t *testing.T, name string, s perftest.Scenario) string {
	t.Helper()
	inResults(t)
	t.Setenv("PERFTEST_REPLAY", "")
	root := os.Getenv("PERFTEST_RESULTS")
	synctest.Test(t, func(t *testing.T) {
		s := s
		s.Target = simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond}).Target()
		require.Empty(t, as(t, name, func(t testing.TB) { perftest.Run(t, s) }))
	})
	return root
}

// replayed sets the environment for a replay, into a new folder, and gives it.
func replayed(t *testing.T, folders string) string {
	t.Helper()
	inResults(t)
	t.Setenv("PERFTEST_REPLAY", folders)
	t.Setenv("PERFTEST_REQUIRED", "1") // what is replayed needs no server
	return os.Getenv("PERFTEST_RESULTS")
}

// files are the contents of all files below a folder.
func files(t *testing.T, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			data, err := os.ReadFile(path)
			all[path] = string(data)
			return err
		}
		return err
	}))
	return all
}

// A replayed run is judged by what the code says now, without a server, and its
// page is new; what is stored stays.
func TestReplay(t *testing.T) {
	s := perftest.Scenario{Workload: eight, Load: perftest.Closed{Concurrency: 2, Requests: 40}}
	root := recordedIn(t, "TestChat", s)
	before := files(t, root)
	stored, err := perftest.ReadResult(resultDirs(t, root)[0])
	require.NoError(t, err)
	for _, folders := range []string{root, stored.Dir, root + ", " + stored.Dir} {
		results := replayed(t, folders)
		errors := as(t, "TestChat", func(t testing.TB) {
			s.SLOs = []perftest.SLO{assert.TTFT(assert.P90).Below(time.Millisecond)}
			res := perftest.Run(t, s)
			if d := cmp.Diff(stored, res, cmpopts.IgnoreUnexported(perftest.Result{}), cmpopts.IgnoreFields(perftest.Result{}, "Scenario.SLOs")); d != "" {
				t.Errorf("replayed (-stored +replayed):\n%s", d)
			}
			require.True(t, assert.SLOs(t, res, assert.TTFT(assert.P90).Below(time.Minute)))
			assert.SLOs(t, res)
		})
		require.Len(t, errors, 1)
		require.Contains(t, errors[0], "FAIL TestChat: 1 of 1 SLO missed")
		require.Equal(t, before, files(t, root))
		var pages []string
		for name, data := range files(t, results) {
			pages = append(pages, filepath.Base(name))
			require.Contains(t, data, "TTFT p90")
		}
		require.Equal(t, []string{"report.html"}, pages)
	}
}

// What is not the scenario's is one error.
func TestReplayRefuses(t *testing.T) {
	s := perftest.Scenario{Workload: eight, Load: perftest.Closed{Concurrency: 2, Requests: 10}}
	root := recordedIn(t, "TestChat", s)
	empty := t.TempDir()
	other, longer, named := s, s, s
	other.Load = perftest.Closed{Concurrency: 3, Requests: 10}
	longer.Workload = fixtures.Prompts{Prompts: []string{"Hello"}, Output: 9}
	named.Name = "mine"
	for want, c := range map[string]struct {
		folder, test string
		scenario     perftest.Scenario
	}{
		"it holds no run of TestOther of github.com/slogate/slogate/perftest, but of TestChat of github.com/slogate/slogate/perftest": {root, "TestOther", s},
		`it holds no run of TestChat, scenario "mine" of`:        {root, "TestChat", named},
		"there is no result.json in it or below":                 {empty, "TestChat", s},
		"cannot be read (no such file or directory)":             {filepath.Join(empty, "absent"), "TestChat", s},
		"Load is another than that of the stored run in " + root: {root, "TestChat", other},
		"of the two, config.output is 8 and 9; judge it by":      {root, "TestChat", longer},
	} {
		replayed(t, c.folder)
		errors := as(t, c.test, func(t testing.TB) { perftest.Run(t, c.scenario) })
		require.Len(t, errors, 1)
		require.Contains(t, errors[0], ": nothing is replayed: ")
		require.Contains(t, errors[0], want)
		require.NotContains(t, errors[0], "\n")
	}
}

// The runs of a repeated scenario are found again in their order, and one
// folder too many is an error.
func TestReplayOfManyRuns(t *testing.T) {
	s := perftest.Scenario{Workload: eight, Load: perftest.Closed{Concurrency: 2, Requests: 10}, Repeat: 3}
	root := recordedIn(t, "TestChat", s)
	replayed(t, root)
	require.Empty(t, as(t, "TestChat", func(t testing.TB) {
		res := perftest.Run(t, s)
		require.Len(t, res.Runs, 3)
	}))
	s.Repeat = 2
	errors := as(t, "TestChat", func(t testing.TB) { perftest.Run(t, s) })
	require.Len(t, errors, 1)
	require.Contains(t, errors[0], "holds 3 runs of it, and the oldest 2 were replayed: name the folders")
	s.Repeat = 4
	errors = as(t, "TestChat", func(t testing.TB) { perftest.Run(t, s) })
	require.Len(t, errors, 1)
	require.Contains(t, errors[0], "holds 3 runs of it, and the test makes more")
}

// Shards that lie in folders of their own are merged.
func TestReplayMergesShards(t *testing.T) {
	s := perftest.Scenario{Workload: eight, Load: perftest.Open{Rate: 100, Requests: 40}}
	t.Setenv("PERFTEST_NONCE", "7")
	var folders []string
	for i := range 2 {
		t.Setenv("PERFTEST_SHARD", fmt.Sprintf("%d/2", i))
		folders = append(folders, recordedIn(t, "TestChat", s))
	}
	t.Setenv("PERFTEST_SHARD", "")
	replayed(t, strings.Join(folders, ","))
	require.Empty(t, as(t, "TestChat", func(t testing.TB) {
		res := perftest.Run(t, s)
		require.Len(t, res.Shards, 2)
		require.Equal(t, 40, res.Counts.Succeeded)
		require.True(t, assert.SLOs(t, res, assert.ErrorRate().AtMost(0)))
		again, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		require.Len(t, again.Verdicts, 1)
	}))

	results := replayed(t, folders[1])
	errors := as(t, "TestChat", func(t testing.TB) { perftest.Run(t, s) })
	require.Len(t, errors, 1)
	require.Contains(t, errors[0], "of 2 shards these are missing: 0;")
	require.Empty(t, files(t, results))
	t.Setenv("PERFTEST_MISSING", "1")
	errors = as(t, "TestChat", func(t testing.TB) { perftest.Run(t, s) })
	require.Equal(t, []string{"TestChat: the stored run is partial: missing shards after 20 of 40 requests"}, errors)
}

// A sweep's levels are found by the names of their sub-tests.
func TestReplayOfASweep(t *testing.T) {
	inResults(t)
	root := os.Getenv("PERFTEST_RESULTS")
	levels := perftest.Levels{Loads: perftest.Concurrencies(4, 1, 2)}
	s := perftest.Scenario{Target: simserver.Start(t, simserver.Profile{}).Target(), Workload: eight}
	first := perftest.Sweep(t, s, levels, nil)
	replayed(t, root)
	s.Target = perftest.Target{}
	// The sub-tests of a second call have names of their own: these are the first's.
	for i, l := range levels.Loads {
		s.Load = l
		require.Empty(t, as(t, first[i].Test, func(t testing.TB) {
			require.Equal(t, first[i].Metrics.TTFT.Mean, perftest.Run(t, s).Metrics.TTFT.Mean)
		}))
	}
}
