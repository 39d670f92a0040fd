package cluster_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/perftest"
	_ "github.com/slogate/slogate/perftest/cluster"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	flag.Parse()
	_ = flag.Set("test.parallel", "6") // the processes of a test wait for each other more than they work
	goleak.VerifyTestMain(m)
}

// child skips a test that is to run in a child process alone.
func child(t *testing.T) {
	if os.Getenv("CLUSTER_CHILD") == "" {
		t.Skip("it is run by other tests, in processes of its own")
	}
}

// rows is a workload whose requests know their position, of which the first run
// takes the first ones and later runs those after them.
type rows struct{ Requests int }

func (w rows) Open(_ context.Context, info perftest.RunInfo) (perftest.Source, error) {
	if os.Getenv("CLUSTER_DIES") != "" {
		os.Exit(3)
	}
	return &rowSource{next: info.Skip, end: info.Skip + w.Requests}, nil
}

type rowSource struct{ next, end int }

func (s *rowSource) Next() (perftest.Request, error) {
	if file := os.Getenv("CLUSTER_FAILS"); s.next == 20 && file != "" {
		for _, err := os.Stat(file); err != nil; _, err = os.Stat(file) { // until it is there
			time.Sleep(5 * time.Millisecond)
		}
		return perftest.Request{}, errors.New("row 20 cannot be read")
	}
	if last, err := strconv.Atoi(os.Getenv("CLUSTER_DIES_AT")); err == nil && s.next >= last {
		os.Exit(3)
	}
	if s.next == s.end {
		return perftest.Request{}, io.EOF
	}
	s.next++
	return perftest.Request{Prompt: fmt.Sprint("row ", s.next), MaxTokens: 3, Row: s.next}, nil
}

func (*rowSource) Close() error { return nil }

func target(t *testing.T) perftest.Target {
	target, ok := perftest.TargetFromEnv()
	require.True(t, ok)
	return target
}

// TestChildPlan sends an open load, twice, and a closed one in a sub-test.
func TestChildPlan(t *testing.T) {
	child(t)
	s := perftest.Scenario{Target: target(t), Workload: rows{1000}, Warmup: perftest.Warmup{Requests: 5}, Seed: 3}
	s.Load, s.Repeat = perftest.Open{Rate: 400, Requests: 61}, 2
	s.Name = "open"
	res := perftest.Run(t, s)
	ok := assert.SLOs(t, res, assert.ErrorRate().AtMost(0))
	require.True(t, ok)
	require.Equal(t, 61, res.Counts.Sent, "every shard has the figures of all")
	s.Name, s.Repeat = "closed", 0
	perftest.Sweep(t, s, perftest.Levels{Loads: []perftest.Load{
		perftest.Closed{Concurrency: 7, Requests: 60, KeepEnds: true},
	}}, nil)
}

// TestChildBroken cannot be set up where it is said so.
func TestChildBroken(t *testing.T) {
	child(t)
	s := perftest.Scenario{Target: target(t), Workload: rows{1000}, Load: perftest.Open{Rate: 400, Requests: 40}}
	if os.Getenv("CLUSTER_BROKEN") != "" {
		s.Target.URL, s.Target.Model = "http://127.0.0.1:1", ""
	}
	perftest.Run(t, s)
}

// TestChildParallel runs two scenarios at the same time.
func TestChildParallel(t *testing.T) {
	child(t)
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			perftest.Run(t, perftest.Scenario{Target: target(t), Workload: rows{1000}, Load: perftest.Open{Rate: 100, Requests: 40}})
		})
	}
}

// TestChildMissed misses its objective.
func TestChildMissed(t *testing.T) {
	child(t)
	res := perftest.Run(t, perftest.Scenario{Target: target(t), Workload: rows{1000}, Load: perftest.Open{Rate: 400, Requests: 40}})
	assert.SLOs(t, res, assert.TTFT(assert.P50).Below(time.Microsecond))
}

// TestChildLong would take an hour, and TestChildLonger another.
func TestChildLong(t *testing.T) {
	child(t)
	rate, _ := strconv.ParseFloat(os.Getenv("CLUSTER_RATE"), 64) // which makes it another scenario
	s := perftest.Scenario{Target: target(t), Workload: rows{1 << 30}, Load: perftest.Open{Rate: 100 + rate, Duration: time.Hour}}
	res := perftest.Run(t, s)
	assert.SLOs(t, res, assert.ErrorRate().AtMost(0))
}

func TestChildLonger(t *testing.T) {
	child(t)
	TestChildLong(t)
}

// TestChildExtend has an objective that 410 requests cannot prove (see
// perftest.TestExtend), and 820 do.
func TestChildExtend(t *testing.T) {
	child(t)
	s := perftest.Scenario{
		Target: target(t), Workload: rows{4000}, SLOs: []perftest.SLO{assert.ErrorRate().AtMost(0.01)}, Extend: perftest.Extend{Requests: 1640},
	}
	for name, load := range map[string]perftest.Load{"open": perftest.Open{Rate: 2000, Requests: 410}, "closed": perftest.Closed{Concurrency: 17, Requests: 410}} {
		if name == os.Getenv("CLUSTER_LOAD") {
			s.Load = load
			assert.Gate(t, perftest.Run(t, s))
		}
	}
}

// TestChildSearch searches a concurrency, from one below the number of shards.
func TestChildSearch(t *testing.T) {
	child(t)
	s := perftest.Scenario{Target: target(t), Workload: rows{1 << 30}, Warmup: perftest.Warmup{Requests: 3}, Load: perftest.Closed{Concurrency: 2, Requests: 40}}
	found := perftest.MaxLoad(t, s, assert.ErrorRate().AtMost(0.05))
	assert.MaxLoadAtLeast(t, found, 1)
	require.Equal(t, found.Confirmed(), found.Result != nil)
	t.Logf("found %v", found.Lo)
}

// TestChildGate has an objective that is soon lost, if one of two servers is slow.
func TestChildGate(t *testing.T) {
	child(t)
	res := perftest.Run(t, perftest.Scenario{
		Target: target(t), Workload: rows{1 << 30}, Load: perftest.Open{Rate: 400, Requests: 1500},
		SLOs: []perftest.SLO{assert.TTFT(assert.P99).Below(100 * time.Millisecond)},
	})
	assert.Gate(t, res)
}
