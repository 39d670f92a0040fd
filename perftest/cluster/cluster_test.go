//go:build unix

package cluster_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

const (
	token        = "a-token-that-nobody-may-see"
	ports        = 12_000 // that freeAddress takes from
	childTimeout = 2 * time.Minute
)

// job is a test as the processes of so many shards.
type job struct {
	t       *testing.T
	results []string // folder of each shard's
	cmds    []*exec.Cmd
	out     []*bytes.Buffer
}

// startJob starts a child test as n shards on this machine; env is for shard i.
func startJob(t *testing.T, n int, test, url string, env func(i int) []string) *job {
	t.Helper()
	address := freeAddress(t)
	j := &job{t: t}
	for i := range n {
		j.results = append(j.results, t.TempDir())
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v", "-test.timeout="+childTimeout.String())
		cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
			return strings.HasPrefix(v, "PERFTEST_") || strings.HasPrefix(v, "SLURM_") || strings.HasPrefix(v, "JOB_")
		})
		cmd.Env = append(cmd.Env, "CLUSTER_CHILD=1", "CI=true", "PERFTEST_BOTTLENECK=warn", "PERFTEST_URL="+url, "PERFTEST_MODEL=m",
			"PERFTEST_RESULTS="+j.results[i], "PERFTEST_RENDEZVOUS="+address, "PERFTEST_TOKEN="+token, fmt.Sprintf("PERFTEST_SHARD=%d/%d", i, n))
		if env != nil {
			cmd.Env = append(cmd.Env, env(i)...)
		}
		out := new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = out, out
		require.NoError(t, cmd.Start())
		j.cmds, j.out = append(j.cmds, cmd), append(j.out, out)
	}
	return j
}

// lastPort is the one that freeAddress tried last, after a random beginning.
var lastPort atomic.Uint32

func init() { lastPort.Store(rand.Uint32N(ports)) }

// freeAddress is one that no connection of another test can take meanwhile, as
// systems give those ports from 32768 on, and that no other test of this process
// gets: a shard would meet that one's.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		free, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20_000+lastPort.Add(1)%ports))
		if err == nil {
			require.NoError(t, free.Close())
			return free.Addr().String()
		}
	}
	require.FailNow(t, "no port is free")
	return ""
}

// wait waits for all shards, and gives their exit codes.
func (j *job) wait() (codes []int) {
	j.t.Helper()
	for i, cmd := range j.cmds {
		_ = cmd.Wait()
		codes = append(codes, cmd.ProcessState.ExitCode())
		require.NotContains(j.t, j.out[i].String(), token)
		require.NoError(j.t, filepath.WalkDir(j.results[i], func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(path)
			require.NotContains(j.t, string(data), token, path)
			return err
		}))
	}
	return codes
}

// came reports whether shard 0 has records of all shards.
func (j *job) came() bool {
	found := map[string]bool{}
	_ = filepath.WalkDir(j.results[0], func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "requests.jsonl" {
			if info, err := d.Info(); err == nil && info.Size() > 0 {
				found[path] = true
			}
		}
		return nil
	})
	return len(found) == len(j.cmds)
}

// dirs are the folders of results below root, those of parts left aside.
func dirs(t *testing.T, root string) (dirs []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == "shards" {
			return fs.SkipDir
		}
		if d.Name() == "result.json" {
			dirs = append(dirs, filepath.Dir(path))
		}
		return nil
	}))
	return dirs
}

// result is shard 0's only result.
func (j *job) result() *perftest.Result {
	j.t.Helper()
	all := dirs(j.t, j.results[0])
	require.Len(j.t, all, 1, j.out[0].String())
	r, err := perftest.ReadResult(all[0])
	require.NoError(j.t, err)
	return r
}

// line is what these tests need of a record.
type line struct {
	Index, Row, Slot int
	Phase            string
	Scheduled        float64 `json:"scheduled_s"`
}

func lines(t *testing.T, dir string) (all []line) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "requests.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	for in := bufio.NewScanner(f); in.Scan(); {
		var l line
		require.NoError(t, json.Unmarshal(in.Bytes(), &l))
		all = append(all, l)
	}
	return all
}

func server(t *testing.T) string {
	return simserver.Start(t, simserver.Profile{Model: "m", TTFT: 2 * time.Millisecond, TPOT: time.Millisecond}).URL()
}

// One, two and five shards send together exactly the plan of one: each index and
// each row once, in each of three runs, at the same times of an open loop. What
// is merged is the result of one run of the same records.
func TestShardsSendOnePlan(t *testing.T) {
	t.Parallel()
	arrivals := map[string][]float64{}
	var jobs []*job
	for _, n := range []int{1, 2, 5} {
		jobs = append(jobs, startJob(t, n, "TestChildPlan", server(t), nil))
	}
	for _, j := range jobs {
		n, codes := len(j.cmds), j.wait()
		require.Equal(t, make([]int, n), codes, j.out[n-1].String()+j.out[0].String())
		for i := 1; i < n; i++ {
			require.Empty(t, dirs(t, j.results[i]), "shard 0 has all")
			require.Contains(t, j.out[i].String(), fmt.Sprintf("shard %d of %d sent ", i, n))
			require.Regexp(t, `=== ATTR  TestChild\w* perftest\.verdict shard 0's, in `, j.out[i].String())
			require.Contains(t, j.out[i].String(), "assert.SLOs: the verdict is shard 0's, in "+j.results[0])
		}
		results := dirs(t, j.results[0])
		require.Len(t, results, 3)
		taken := map[string][]int{} // by the workload
		opens := 0
		for _, dir := range results {
			schematest.AtEnd(t, dir)
			r, err := perftest.ReadResult(dir)
			require.NoError(t, err)
			require.Equal(t, "complete", r.Ended)
			require.Len(t, r.Shards, n)
			require.NoDirExists(t, filepath.Join(dir, "shards"))
			wanted := r.Scenario.Load.Requests
			measured := make([]int, wanted)
			byShard := make([]int, n)
			times := make([]float64, wanted)
			for _, l := range lines(t, dir) {
				name, _, _ := strings.Cut(r.Name, "/")
				taken[name] = append(taken[name], l.Row)
				if l.Phase == "measured" {
					measured[l.Index]++
					byShard[l.Slot%n]++
					times[l.Index] = l.Scheduled
				}
			}
			require.Equal(t, slices.Repeat([]int{1}, wanted), measured, dir)
			require.Equal(t, 5, r.Counts.Warmup)
			for i, s := range r.Shards {
				require.Equal(t, []int{i, n, byShard[i]}, []int{s.Index, s.Count, s.Counts.Sent})
				if i > 0 {
					require.Equal(t, "127.0.0.1", s.From)
					require.InDelta(t, 0, float64(s.ClockAhead), float64(s.ClockBound)+0.001, "it is one machine, whose clocks differ by the time at which processes read it")
					require.Positive(t, float64(s.ClockBound))
				}
			}
			if r.Name == "open" {
				opens++
				key := fmt.Sprint("run ", opens) // has arrivals of its own
				first := times[0]
				for i := range times {
					times[i] -= first
				}
				if arrivals[key] == nil {
					arrivals[key] = times
				}
				for i := range times {
					require.InDelta(t, arrivals[key][i], times[i], 0.02, "arrival %d of %d shards", i+1, n)
				}
			}
			requireSameFigures(t, r)
		}
		require.Equal(t, []int{2 * (5 + 61), 5 + 60}, []int{len(taken["open"]), len(taken["closed"])})
		for _, rows := range taken {
			slices.Sort(rows)
			for i, row := range rows {
				require.Equal(t, i+1, row, "each row of the workload is sent once, and none is left out")
			}
		}
	}
}

// requireSameFigures holds a merged result against one that is made of its
// requests alone.
func requireSameFigures(t *testing.T, merged *perftest.Result) {
	t.Helper()
	alone := t.TempDir()
	data, err := os.ReadFile(filepath.Join(merged.Dir, "requests.jsonl"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(alone, "requests.jsonl"), data, 0o644))
	one, err := perftest.ReadResult(alone)
	require.NoError(t, err)
	one.Counts.Planned = merged.Counts.Planned // which no request knows
	one.Rates.OutputPerAccelerator, one.Rates.TotalPerAccelerator = merged.Rates.OutputPerAccelerator, merged.Rates.TotalPerAccelerator
	if d := cmp.Diff([]any{one.Counts, one.Metrics, one.Rates, one.Window}, []any{merged.Counts, merged.Metrics, merged.Rates, merged.Window}); d != "" {
		t.Errorf("merged (-one run +merged):\n%s", d)
	}
}

// Shard 0 alone decides: the others pass though the objective is missed.
func TestShardZeroDecides(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, "TestChildMissed", server(t), nil)
	require.Equal(t, []int{1, 0}, j.wait(), j.out[1].String())
	require.Contains(t, j.out[0].String(), "TTFT p50 < 1µs")
	require.Equal(t, perftest.Fail, j.result().Verdicts[0].Point)
}

// A shard that is killed makes the run INVALID, at once and by name; what it had
// sent is kept, and no further run is begun.
func TestKilledShard(t *testing.T) {
	t.Parallel()
	j := startJob(t, 3, "TestChildLong(er)?", server(t), nil)
	require.Eventually(t, j.came, childTimeout/2, 20*time.Millisecond)
	require.NoError(t, j.cmds[1].Process.Kill())
	codes := j.wait()
	require.Equal(t, []int{1, -1, 1}, codes, "the others' next test is not run")
	out := j.out[0].String()
	require.Contains(t, out, "INVALID: stopped after ")
	require.Contains(t, out, "shard 1 of 3 at 127.0.0.1: its connection was lost: the process ended, or the network was cut")
	require.Contains(t, out, "not run: a shard was lost in an earlier run")
	r := j.result()
	require.Equal(t, []any{true, "lost shard"}, []any{r.Partial, r.Ended})
	require.Equal(t, perftest.Invalid, r.Verdicts[0].Point)
	require.Len(t, r.Shards, 3)
	require.Contains(t, r.Shards[1].Lost, "its connection was lost")
	require.Positive(t, r.Shards[1].Counts.Sent)
	require.Empty(t, r.Shards[2].Lost)
	require.Equal(t, r.Counts.Sent, r.Shards[0].Counts.Sent+r.Shards[1].Counts.Sent+r.Shards[2].Counts.Sent)
}

// Ctrl-C on shard 0, and a gate that must fail, stop all shards.
func TestShardZeroStopsAll(t *testing.T) {
	t.Parallel()
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		j := startJob(t, 2, "TestChildLong(er)?", server(t), nil)
		require.Eventually(t, j.came, childTimeout/2, 20*time.Millisecond)
		require.NoError(t, j.cmds[0].Process.Signal(syscall.SIGINT))
		require.Equal(t, []int{1, 1}, j.wait(), j.out[1].String())
		require.Contains(t, j.out[1].String(), "--- PASS: TestChildLong ")
		require.Contains(t, j.out[1].String(), "not run: interrupted")
		r := j.result()
		require.Equal(t, "interrupted", r.Ended)
		require.Equal(t, "interrupted", r.Shards[1].Ended)
		require.Positive(t, r.Shards[1].Counts.Sent)
	})
	t.Run("must fail", func(t *testing.T) { // by what another shard measures
		t.Parallel()
		slow := simserver.Start(t, simserver.Profile{Model: "m", TTFT: 200 * time.Millisecond, TPOT: time.Millisecond}).URL()
		j := startJob(t, 2, "TestChildGate", server(t), func(i int) []string {
			if i == 0 {
				return nil
			}
			return []string{"PERFTEST_URL=" + slow}
		})
		require.Equal(t, []int{1, 0}, j.wait(), j.out[1].String())
		require.Contains(t, j.out[0].String(), "that it must fail")
		r := j.result()
		require.Equal(t, "must fail", r.Ended)
		require.Contains(t, j.out[0].String(), fmt.Sprintf("stopped after %d of 1500 requests: TTFT p99 < 100ms is missed by so many of ", r.Counts.Sent))
		require.Less(t, r.Counts.Sent, 1500)
		require.Equal(t, []string{"must fail", "must fail"}, []string{r.Shards[0].Ended, r.Shards[1].Ended})
		require.Equal(t, perftest.Fail, r.Verdicts[0].Outcome)
	})
}

// All shards go on together while the evidence of all leaves the objective open:
// the plan stays one, each index and row once and in the shard of its number, and
// what was decided is what one process decides of the same requests. The two jobs
// measure one server from one machine, and take turns.
func TestShardsExtendOnePlan(t *testing.T) {
	t.Parallel()
	url := server(t)
	for _, load := range []string{"open", "closed"} {
		t.Run(load, func(t *testing.T) {
			t.Parallel()
			const n = 3
			page := freeAddress(t)
			j := startJob(t, n, "TestChildExtend", url, func(int) []string { return []string{"CLUSTER_LOAD=" + load, "PERFTEST_LIVE=" + page} })
			require.Equal(t, make([]int, n), j.wait(), j.out[1].String()+j.out[0].String())
			require.Contains(t, j.out[0].String(), "live page: http://"+page)
			require.NotContains(t, j.out[1].String(), "live page", "shard 0's has the figures of all")
			r := j.result()
			require.Equal(t, []any{820, 820, false, 3}, []any{r.Counts.Sent, r.Counts.Planned, r.Partial, r.Scenario.Looks})
			measured := make([]int, r.Counts.Sent)
			rows := map[int]bool{}
			for _, l := range lines(t, r.Dir) {
				require.False(t, rows[l.Row], "row %d is sent once", l.Row)
				if rows[l.Row] = true; l.Phase != "measured" {
					continue
				}
				of := l.Index % n
				if load == "closed" { // as its slots are
					of = l.Index % r.Scenario.Load.Concurrency % n
				}
				require.Equal(t, of, l.Slot%n, "request %d", l.Index)
				if measured[l.Index]++; load == "open" {
					require.Equal(t, l.Index%n, (l.Row-1)%n)
					require.LessOrEqual(t, l.Row, r.Counts.Sent)
				}
			}
			require.Equal(t, slices.Repeat([]int{1}, r.Counts.Sent), measured)
			requireSameFigures(t, r)
			require.Equal(t, []perftest.Outcome{perftest.Inconclusive, perftest.Pass}, []perftest.Outcome{judgedAt(t, r, 410), judgedAt(t, r, 820)})
		})
	}
}

// judgedAt is what the first n requests of a run prove to one process.
func judgedAt(t *testing.T, r *perftest.Result, n int) perftest.Outcome {
	t.Helper()
	alone := t.TempDir()
	data, err := os.ReadFile(filepath.Join(r.Dir, "requests.jsonl"))
	require.NoError(t, err)
	var first []byte
	for text := range bytes.Lines(data) {
		var l line
		require.NoError(t, json.Unmarshal(text, &l))
		if l.Phase == "measured" && l.Index < n {
			first = append(first, text...)
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(alone, "requests.jsonl"), first, 0o644))
	one, err := perftest.ReadResult(alone)
	require.NoError(t, err)
	require.Equal(t, n, one.Counts.Sent)
	one.Partial, one.Scenario.Looks, one.Health.OnlyWarns = false, r.Scenario.Looks, true
	return one.Judge(r.Scenario.SLOs...)[0].Outcome
}

// A shard of another scenario, one with another token and one that does not come
// end the run before any load, in the processes of both sides.
func TestShardsThatDoNotFit(t *testing.T) {
	t.Parallel()
	other := startJob(t, 2, "TestChildLong", server(t), func(i int) []string { return []string{fmt.Sprint("CLUSTER_RATE=", i)} })
	stranger := startJob(t, 2, "TestChildLong(er)?", server(t), func(i int) []string {
		return []string{"PERFTEST_RENDEZVOUS_WAIT=10s", fmt.Sprintf("PERFTEST_TOKEN=%d-%s", i, token)}
	})
	for j, want := range map[*job][2]string{
		other:    {"INVALID: shard 1 of 2 at 127.0.0.1: its scenario is another than shard 0's: load.config.rate is 101, and shard 0's is 100", "refused shard 1 of 2: its scenario is another"},
		stranger: {"INVALID: shard 1 has not come, of 2, within 10s; a connection from 127.0.0.1 was refused: its PERFTEST_TOKEN is another", "refused shard 1 of 2: its PERFTEST_TOKEN is another than shard 0's"},
	} {
		require.Equal(t, []int{1, 1}, j.wait())
		require.Contains(t, j.out[0].String(), want[0], j.out[1].String())
		require.Contains(t, j.out[1].String(), want[1])
		require.Empty(t, dirs(t, j.results[0]))
	}
	require.Contains(t, stranger.out[0].String(), "not run: a shard was lost in an earlier run (TestChildLong: shard 1 has not come, of 2, within 10s")
}

// A shard that could not set a run up is there for the next one, and so are the
// others; one that died while it did is waited for in no further run.
func TestAfterARunThatCouldNotBegin(t *testing.T) {
	t.Parallel()
	start := func(n int, what string, which int) *job {
		return startJob(t, n, "TestChild(Broken|Missed)", server(t), func(i int) []string {
			if i == which {
				return []string{what}
			}
			return nil
		})
	}
	member, first, died := start(3, "CLUSTER_BROKEN=1", 1), start(3, "CLUSTER_BROKEN=1", 0), start(2, "CLUSTER_DIES=1", 1)
	require.Equal(t, []int{1, 1, 1}, member.wait())
	require.Contains(t, member.out[0].String(), "INVALID: shard 1 of 3 at 127.0.0.1 has left it, and is at run 2 (TestChildMissed): see its log")
	require.Equal(t, []int{1, 1, 1}, first.wait())
	require.Contains(t, first.out[2].String(), "it is at run 1 (TestChildBroken), and shard 0 at run 2 (TestChildMissed) already")
	for _, j := range []*job{member, first} {
		require.Equal(t, 40, j.result().Counts.Sent)
		for i := 1; i < 3; i++ {
			require.Contains(t, j.out[i].String(), "--- PASS: TestChildMissed")
		}
	}
	require.Equal(t, []int{1, 3}, died.wait())
	require.Contains(t, died.out[0].String(), "TestChildBroken: INVALID: shard 1 of 2 at 127.0.0.1: its connection was lost")
	require.Contains(t, died.out[0].String(), "not run: a shard was lost in an earlier run (TestChildBroken: shard 1 of 2 at 127.0.0.1: its connection was lost")
}

// When shard 0's own part fails, what all had sent until then is its result, and
// the others say where it is.
func TestShardZeroFails(t *testing.T) {
	t.Parallel()
	sent := filepath.Join(t.TempDir(), "sent")
	s := simserver.Start(t, simserver.Profile{Model: "m", TTFT: 2 * time.Millisecond, TPOT: time.Millisecond, Observe: func(_ *http.Request, body []byte) {
		if bytes.Contains(body, []byte(`"row 2"`)) { // shard 1's first one
			_ = os.WriteFile(sent, nil, 0o644)
		}
	}})
	j := startJob(t, 2, "TestChildMissed", s.URL(), func(i int) []string {
		return [][]string{{"CLUSTER_FAILS=" + sent}, nil}[i]
	})
	require.Equal(t, []int{1, 0}, j.wait(), j.out[1].String())
	require.Contains(t, j.out[0].String(), "TestChildMissed: workload: row 20 cannot be read")
	require.Contains(t, j.out[1].String(), "TestChildMissed: shard 0 has ended the test: the verdict is shard 0's, in "+j.results[0])
	require.Contains(t, j.out[1].String(), "--- SKIP: TestChildMissed")
	r := j.result()
	require.Equal(t, []any{true, "error", 40}, []any{r.Partial, r.Ended, r.Counts.Planned})
	require.Equal(t, r.Counts.Sent, r.Shards[0].Counts.Sent+r.Shards[1].Counts.Sent)
	require.Positive(t, r.Shards[1].Counts.Sent)
}

// When another's part fails the run is INVALID, and both say why.
func TestAnotherShardFails(t *testing.T) {
	t.Parallel()
	j := startJob(t, 2, "TestChildMissed", server(t), func(i int) []string {
		return [][]string{nil, {"CLUSTER_FAILS=" + os.Args[0]}}[i] // which is there
	})
	require.Equal(t, []int{1, 0}, j.wait(), j.out[1].String())
	require.Contains(t, j.out[0].String(), " of 40 requests: shard 1 of 2 at 127.0.0.1: workload: row 20 cannot be read")
	require.Contains(t, j.out[1].String(), "requests, which are part of shard 0's result as far as they came (workload: row 20 cannot be read): the verdict is shard 0's, in ")
	require.Equal(t, 40, j.result().Counts.Planned)
}

// Scenarios that run at the same time cannot meet, and say so.
func TestParallelScenarios(t *testing.T) {
	t.Parallel()
	j := startJob(t, 1, "TestChildParallel", server(t), nil)
	require.Equal(t, []int{1}, j.wait())
	require.Contains(t, j.out[0].String(), "another scenario is running in this process: with PERFTEST_RENDEZVOUS leave out t.Parallel")
	require.Equal(t, 40, j.result().Counts.Sent)
}

// Nothing of this is in a test that does not ask for it.
func TestTheCoreDoesWithoutIt(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps",
		"github.com/slogate/slogate/perftest", "github.com/slogate/slogate/assert", "github.com/slogate/slogate/fixtures").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NotContains(t, strings.Fields(string(out)), "github.com/slogate/slogate/internal/cluster")
}
