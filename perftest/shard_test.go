package perftest_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// inShards runs a scenario as each of n shards, against a server of 100 ms an
// answer.
func inShards(t *testing.T, n int, s perftest.Scenario, check func(t *testing.T, shard int, server *simserver.Server, res *perftest.Result)) {
	t.Helper()
	inResults(t)
	for i := range n {
		t.Setenv("PERFTEST_SHARD", fmt.Sprintf("%d/%d", i, n))
		synctest.Test(t, func(t *testing.T) {
			server := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
			s := s
			s.Target = server.Target()
			check(t, i, server, perftest.Run(t, s))
		})
	}
}

// A trace of twelve requests, the i-th at i seconds in row i: a warm-up of three
// takes the first three, whichever shard sends them, and the shards replay the
// other nine together, each at its time.
func TestShardsReplayOneTrace(t *testing.T) {
	var trace numbered
	for i := range 12 {
		trace = append(trace, time.Duration(i)*time.Second)
	}
	var warm int
	var got []int
	inShards(t, 2, perftest.Scenario{
		Workload: trace, Load: perftest.Replay{}, Warmup: perftest.Warmup{Requests: 3},
	}, func(t *testing.T, shard int, _ *simserver.Server, res *perftest.Result) {
		warm += res.Counts.Warmup
		lines := measured(t, res)
		for _, l := range lines {
			require.Equal(t, l.Index+3, l.Row-1, "the trace goes on where the warm-up has ended")
			require.InDelta(t, float64(l.Row-lines[0].Row), l.Sent-lines[0].Sent, 1e-9)
			got = append(got, l.Row-1)
		}
	})
	slices.Sort(got)
	require.Equal(t, 3, warm)
	require.Equal(t, []int{3, 4, 5, 6, 7, 8, 9, 10, 11}, got)
}

// A warm-up that the shards do not share evenly takes none of their requests: a
// workload of just as many rows as are planned is enough, and each is sent once.
func TestShardsAfterAnOddWarmup(t *testing.T) {
	var rows []int
	inShards(t, 2, perftest.Scenario{
		Workload: make(numbered, 66), Load: perftest.Open{Rate: 100, Requests: 61}, Warmup: perftest.Warmup{Requests: 5},
	}, func(t *testing.T, shard int, _ *simserver.Server, res *perftest.Result) {
		require.Equal(t, []int{3 - shard, 31 - shard}, []int{res.Counts.Warmup, res.Counts.Sent})
		for _, l := range measured(t, res) {
			require.Equal(t, 6+l.Index, l.Row)
			rows = append(rows, l.Row)
		}
	})
	slices.Sort(rows)
	require.Len(t, slices.Compact(rows), 61)
}

// The parts of a load of conversations are merged with all their turns.
func TestShardsOfConversationsAreMerged(t *testing.T) {
	t.Setenv("PERFTEST_NONCE", "7")
	var parts []*perftest.Result
	inShards(t, 2, perftest.Scenario{
		Name: "talk", Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three"}}, Output: 1}, Load: perftest.Closed{Concurrency: 4, Requests: 20},
	}, func(t *testing.T, _ int, _ *simserver.Server, res *perftest.Result) {
		again, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		parts = append(parts, again)
	})
	merged, err := perftest.Merge(filepath.Join(t.TempDir(), "m"), perftest.Shards{Results: parts})
	require.NoError(t, err)
	require.Equal(t, []any{60, 20, 0, false}, []any{merged.Counts.Sent, merged.Counts.Conversations, merged.Counts.Failed, merged.Partial})
}

// numbered is a trace whose rows are numbered.
type numbered []time.Duration

func (n numbered) Open(context.Context, perftest.RunInfo) (perftest.Source, error) {
	return &numberedSource{at: n}, nil
}

type numberedSource struct {
	at []time.Duration
	i  int
}

func (s *numberedSource) Next() (perftest.Request, error) {
	if s.i == len(s.at) {
		return perftest.Request{}, io.EOF
	}
	s.i++
	return perftest.Request{Prompt: "Hello", MaxTokens: 1, At: s.at[s.i-1], Row: s.i}, nil
}

func (*numberedSource) Close() error { return nil }

// The bounds of a plan are those of all shards together: of six places each of
// three has two, and the warm-up of one slot has one in each of them.
func TestShardsShareTheBounds(t *testing.T) {
	hello := fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1}
	for name, s := range map[string]perftest.Scenario{
		"in flight": {Workload: hello, Load: perftest.Open{Rate: 300, Requests: 60, InFlight: 6}, Warmup: perftest.Warmup{Requests: 6, Concurrency: 1}},
		"prefill":   {Workload: hello, Load: perftest.Closed{Concurrency: 12, Requests: 60, PrefillConcurrency: 6}, Warmup: perftest.Warmup{Requests: 6, Concurrency: 1}},
		"turns":     {Workload: hello, Load: perftest.Closed{Concurrency: 12, Requests: 60}, TurnsInFlight: 6, Warmup: perftest.Warmup{Requests: 6, Concurrency: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			inShards(t, 3, s, func(t *testing.T, _ int, server *simserver.Server, res *perftest.Result) {
				require.Equal(t, 2, server.Peak())
				require.Equal(t, 2, res.Counts.Warmup)
				sent += res.Counts.Sent
			})
			require.Equal(t, 60, sent)
		})
	}
}

// Shards cannot meet in a test that does not link what they meet by.
func TestRendezvousHasToBeLinked(t *testing.T) {
	inResults(t)
	t.Setenv("PERFTEST_RENDEZVOUS", "perf-0:7788")
	require.Equal(t, `t: PERFTEST_RENDEZVOUS is set: this test cannot meet other shards: add import _ "github.com/slogate/slogate/perftest/cluster" to its package`,
		fatalOf(t, perftest.Scenario{Name: "t", Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: perftest.Closed{Concurrency: 1, Requests: 1}}))
}

// Shards that are to meet, and do not know where, would each send all of the load.
func TestShardsHaveToMeet(t *testing.T) {
	inResults(t)
	t.Setenv("PERFTEST_SHARDS", "3")
	require.Equal(t, `t: PERFTEST_RENDEZVOUS is empty with PERFTEST_SHARDS "3": set it to host:port of shard 0, or each shard sends all of the load`,
		fatalOf(t, perftest.Scenario{Name: "t", Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: perftest.Closed{Concurrency: 1, Requests: 1}}))
}

// A part that knows how to meet, and not where, would be judged alone.
func TestATokenHasToMeet(t *testing.T) {
	inResults(t)
	t.Setenv("PERFTEST_SHARD", "0/2")
	t.Setenv("PERFTEST_TOKEN", "0123456789abcdef")
	require.Equal(t, `t: PERFTEST_RENDEZVOUS is empty with PERFTEST_TOKEN set: set it to host:port of shard 0, or unset PERFTEST_TOKEN: without it shards do not meet, and each judges what it sends`,
		fatalOf(t, perftest.Scenario{Name: "t", Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: perftest.Closed{Concurrency: 2, Requests: 2}}))
}

// A plan that has not one of each for every shard would lose a part of itself.
func TestTooManyShards(t *testing.T) {
	inResults(t)
	t.Setenv("PERFTEST_SHARD", "1/4")
	for want, s := range map[string]perftest.Scenario{
		`PERFTEST_SHARD is "1/4": the load's concurrency is 2,`:     {Load: perftest.Closed{Concurrency: 2, Requests: 8}},
		`PERFTEST_SHARD is "1/4": Load.Requests is 3,`:              {Load: perftest.Open{Rate: 1, Requests: 3}},
		`PERFTEST_SHARD is "1/4": Load.InFlight is 3,`:              {Load: perftest.Open{Rate: 1, Requests: 8, InFlight: 3}},
		`PERFTEST_SHARD is "1/4": Load.PrefillConcurrency is 1,`:    {Load: perftest.Open{Rate: 1, Requests: 8, PrefillConcurrency: 1}},
		`PERFTEST_SHARD is "1/4": TurnsInFlight is 3,`:              {Load: perftest.Open{Rate: 1, Requests: 8}, TurnsInFlight: 3},
		`Warmup.Duration is 1s: set Warmup.Requests alone: with PE`: {Load: perftest.Replay{}, Warmup: perftest.Warmup{Duration: time.Second}},
	} {
		s.Target, s.Workload = perftest.Target{URL: "http://127.0.0.1:1"}, same{}
		got := fatalOf(t, s)
		require.Contains(t, got, want)
		require.False(t, strings.Contains(got, "\n"))
	}
}
