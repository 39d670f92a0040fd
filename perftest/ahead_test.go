package perftest_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// slowDials makes each dial take a second, and counts them and those under way.
type slowDials struct {
	dial               func(ctx context.Context, network, addr string) (net.Conn, error)
	count, now, atOnce atomic.Int64
	fail               bool
}

func (d *slowDials) Dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.count.Add(1)
	now := d.now.Add(1)
	defer d.now.Add(-1)
	for most := d.atOnce.Load(); now > most && !d.atOnce.CompareAndSwap(most, now); most = d.atOnce.Load() {
	}
	time.Sleep(time.Second)
	if d.fail {
		return nil, errors.New("no route")
	}
	return d.dial(ctx, network, addr)
}

// A dial of 1 s is no part of the first requests' times, unless the scenario
// wants cold connections. Each connection is counted once. The preflight has
// one of its own.
func TestConnectionsAreOpenedAhead(t *testing.T) {
	inResults(t)
	for name, c := range map[string]struct {
		change  func(*perftest.Scenario)
		ttft    float64 // the largest
		dialled int
		dials   int64
	}{
		"by default":      {func(*perftest.Scenario) {}, 0.1, 100, 101},
		"after a warm-up": {func(s *perftest.Scenario) { s.Warmup = perftest.Warmup{Requests: 3, Concurrency: 3} }, 0.1, 100, 101},
		"cold":            {func(s *perftest.Scenario) { s.ColdConnections = true }, 1.1, 100, 101},
		"ramp-up":         {func(s *perftest.Scenario) { s.Load = ramp(4 * time.Second) }, 0.1, 100, 101},
		"slow ramp-up":    {func(s *perftest.Scenario) { s.Load = ramp(20 * time.Second) }, 0.1, 100, 101},
		"fewer requests":  {func(s *perftest.Scenario) { s.Load = perftest.Closed{KeepEnds: true, Concurrency: 100, Requests: 7} }, 0.1, 7, 101},
		"stages":          {func(s *perftest.Scenario) { s.Load = stages }, 0.1, 10, 11},
		"open":            {func(s *perftest.Scenario) { s.Load = perftest.Open{Rate: 20, Requests: 300} }, 0.1, -1, -1},
		"replay":          {func(s *perftest.Scenario) { s.Load, s.Workload = perftest.Replay{}, &list{make([]time.Duration, 16)} }, 0.1, -1, -1},
		"rising stages": {func(s *perftest.Scenario) {
			s.Load = perftest.Stages{Concurrency: perftest.StageList{{Duration: 7 * time.Second, From: 2, To: 2}, {Duration: 4 * time.Second, From: 40, To: 40}}}
		}, 0.1, 40, 41},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond})
				target := s.Target()
				d := &slowDials{dial: target.Dial}
				target.Dial = d.Dial
				scenario := perftest.Scenario{
					Target:   target,
					Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 2},
					Load:     perftest.Closed{KeepEnds: true, Concurrency: 100, Requests: 400},
				}
				scenario.Target.Model = "simulated"
				c.change(&scenario)
				res := perftest.Run(t, scenario)
				require.Zero(t, res.Counts.Failed, res.Failures)
				require.Equal(t, perftest.Value(c.ttft), res.Metrics.TTFT.Max)
				require.Equal(t, scenario.ColdConnections, res.Scenario.ColdConnections)
				require.Zero(t, res.Counts.Resent)
				if c.dials < 0 {
					return
				}
				require.Equal(t, c.dialled, res.Counts.Dialled)
				require.Equal(t, c.dials, d.count.Load())
				if name == "by default" {
					require.EqualValues(t, 64, d.atOnce.Load())
				}
			})
		})
	}
}

// ramp starts a hundred slots, each of which sends a request every 1.11 s: the
// last one of a ramp of 20 s starts after about 900 requests.
func ramp(over time.Duration) perftest.Load {
	return perftest.Closed{KeepEnds: true, Concurrency: 100, Requests: 1500, RampUp: perftest.RampUp{Duration: over}, Think: perftest.Think{Time: time.Second}}
}

var stages = perftest.Stages{Concurrency: perftest.Step{From: 5, To: 10, Steps: 2, Duration: 8 * time.Second}}

// A server that cannot be dialled fails the requests, not the run.
func TestConnectionsThatCannotBeOpenedAhead(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{})
		target := s.Target()
		d := &slowDials{dial: target.Dial}
		target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			d.fail = d.count.Load() > 0 // but not the preflight
			return d.Dial(ctx, network, addr)
		}
		target.Model = "simulated"
		res := perftest.Run(t, perftest.Scenario{
			Target:   target,
			Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 2},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 3},
			Timeouts: perftest.Timeouts{Connect: 2 * time.Second},
		})
		require.Equal(t, 3, res.Counts.Failed)
		require.Equal(t, "connect", res.Failures[0].Class)
		require.Zero(t, res.Counts.Dialled)
		require.EqualValues(t, 1+1+3, d.count.Load())
	})
}
