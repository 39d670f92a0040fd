package perftest_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
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

// Half of forty conversations are abandoned after 50 ms, most of them while
// they wait for the one place in flight: each counts, as sent and cancelled, and
// none of them ends the load.
func TestAbandonedWhileItWaits(t *testing.T) {
	inResults(t)
	for name, load := range map[string]perftest.Load{
		"closed": perftest.Closed{Concurrency: 4, Requests: 40, Cancel: perftest.Cancel{Share: 0.5, After: 50 * time.Millisecond}},
		"open":   perftest.Open{Rate: 20, Requests: 40, Cancel: perftest.Cancel{Share: 0.5, After: 50 * time.Millisecond}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
				res := perftest.Run(t, perftest.Scenario{
					Target: s.Target(), TurnsInFlight: 1, Seed: 3, Load: load,
					Workload: fixtures.Conversations{Users: [][]string{{"one", "two"}}, Output: 1},
				})
				n := res.Counts.Cancelled
				require.Equal(t, []int{40, 0, 0}, []int{res.Counts.Conversations, res.Counts.Failed, res.Counts.Unsent})
				require.Equal(t, 40+(40-n), res.Counts.Sent, "those that were not abandoned have two turns")
				require.InDelta(t, 20, n, 4*3.2)
				require.Equal(t, 1, s.Peak())
				require.Empty(t, res.Warnings)
			})
		})
	}
}

// Conversations of three turns, of which no more than two may wait for their
// first token, 100 ms each: whichever turns they are, 20 start a second, and
// never a third within 100 ms.
func TestPrefillConcurrencyBoundsEachTurn(t *testing.T) {
	inResults(t)
	for name, load := range map[string]perftest.Load{
		"closed": perftest.Closed{Concurrency: 12, Requests: 24, PrefillConcurrency: 2, KeepEnds: true},
		"open":   perftest.Open{Rate: 10, Requests: 24, PrefillConcurrency: 2},
		"bound":  perftest.Open{Rate: 10, Requests: 24, PrefillConcurrency: 2, InFlight: 4},
	} {
		for _, places := range []int{0, 3} {
			t.Run(fmt.Sprintf("%s/places=%d", name, places), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 50 * time.Millisecond, Faults: []simserver.Fault{
						{Kind: simserver.Status503, Requests: []int{9, 10, 30}}, // these give their place back
					}})
					res := perftest.Run(t, perftest.Scenario{
						Target: s.Target(), Load: load, TurnsInFlight: places,
						Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three"}}, Output: 4},
					})
					require.Equal(t, []int{24, 3, 0}, []int{res.Counts.Conversations, res.Counts.Failed, res.Counts.Unsent})
					lines := measured(t, res)
					slices.SortFunc(lines, func(a, b line) int { return cmp.Compare(a.Sent, b.Sent) })
					lines = slices.DeleteFunc(lines, func(l line) bool { return l.Class != "" })
					for i := range lines[2:] {
						require.GreaterOrEqual(t, lines[i+2].Sent-lines[i].Sent, 0.1-1e-9, "requests %d and %d", i, i+2)
					}
					require.Equal(t, perftest.Value(0.1), res.Metrics.TTFT.Max)
					require.Equal(t, perftest.Value(0), res.Health.SendLag.Max, "the wait is the plan's")
				})
			})
		}
	}
}

// No turn starts after the load's end, under an open load as under a closed one.
func TestNoTurnAfterTheEnd(t *testing.T) {
	inResults(t)
	for name, load := range map[string]perftest.Load{
		"closed": perftest.Closed{Concurrency: 2, Duration: 2 * time.Second},
		"open":   perftest.Open{Rate: 10, Arrivals: perftest.Constant{}, Duration: 2 * time.Second},
		"rates":  perftest.Stages{Rate: perftest.Linear{From: 10, To: 10, Duration: 2 * time.Second}, Arrivals: perftest.Constant{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
				res := perftest.Run(t, perftest.Scenario{
					Target: s.Target(), Load: load,
					Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three", "four"}}, Think: 610 * time.Millisecond, Output: 1},
				})
				lines := measured(t, res)
				require.Greater(t, res.Counts.Sent, res.Counts.Conversations)
				for _, l := range lines {
					require.Less(t, l.Sent-lines[0].Sent, 2.0)
				}
				require.False(t, res.Partial)
			})
		})
	}
}

// An API that cannot tell the text of an answer cannot go on with it.
func TestThenNeedsTexts(t *testing.T) {
	inResults(t)
	then := func(string) (perftest.Request, bool) { return perftest.Request{}, false }
	for want, c := range map[string]struct {
		api     perftest.API
		request perftest.Request
	}{
		"the mute API does not give it: give it an AppendText": {mute{perftest.Chat}, perftest.Request{Prompt: "Hello", Then: then}},
		"the embeddings API does not give it: set Target.API":  {perftest.Embeddings, perftest.Request{Inputs: []string{"Hello"}, Then: then}},
	} {
		s := simserver.Start(t, simserver.Profile{})
		target := s.Target()
		target.API = c.api
		fatal := fatalOf(t, perftest.Scenario{Target: target, Load: perftest.Closed{Concurrency: 1, Requests: 3}, Workload: same{c.request}})
		require.Contains(t, fatal, want)
		require.Equal(t, 1, s.Requests(), "the preflight")
	}
}

// mute is an API of a test's own that has no texts.
type mute struct{ chat perftest.StandardAPI }

func (m mute) Name() string              { return "mute" }
func (m mute) Path() string              { return m.chat.Path() }
func (m mute) Framing() perftest.Framing { return m.chat.Framing() }
func (m mute) AppendBody(dst []byte, c *perftest.Call) ([]byte, error) {
	return m.chat.AppendBody(dst, c)
}
func (m mute) Decode(name, data []byte, e *perftest.Event) error { return m.chat.Decode(name, data, e) }

// A conversation is one arrival of an open loop, however many turns it has:
// ten dropped of twenty are half of the plan.
func TestDroppedConversationsAreHalfOfThePlan(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three"}}, Output: 1},
			Load:     perftest.Open{Rate: 4, Arrivals: perftest.Constant{}, Requests: 20, InFlight: 1, AtBound: perftest.DropAtBound},
		})
		require.Equal(t, []int{20, 10, 10, 30}, []int{res.Counts.Planned, res.Counts.Dropped, res.Counts.Conversations, res.Counts.Sent})
		require.Contains(t, strings.Join(res.Health.Lines, "\n"), "offered 10 of 20 planned requests (50%)")
		require.Contains(t, strings.Join(res.Health.Findings, "\n"), "offered load 50% of the plan")
	})
}

// A workload that ends before the load does is told of, whatever bounds the load.
func TestWorkloadThatEndsEarly(t *testing.T) {
	inResults(t)
	for want, load := range map[string]perftest.Load{
		"the workload ended after 3 of 9 requests":                               perftest.Closed{Concurrency: 1, Requests: 9, Duration: time.Minute, KeepEnds: true},
		"the workload ended after 3 requests, before the load's 1m0s had passed": perftest.Open{Rate: 1, Duration: time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
			res := perftest.Run(t, perftest.Scenario{Target: s.Target(), Load: load, Workload: threeRequests{}})
			require.Contains(t, res.Warnings, want)
		})
	}
}

// Whenever a run is stopped, it ends within the grace, and what it had begun is
// accounted for.
func TestRunStopsInEveryPhase(t *testing.T) {
	inResults(t)
	stall := simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 100 * time.Millisecond, Faults: []simserver.Fault{
		{Kind: simserver.StallBeforeHeaders, Requests: []int{9, 17, 25}}, // for ever
	}}
	for name, load := range map[string]perftest.Load{
		"closed":  perftest.Closed{Concurrency: 3, Requests: 20, Think: perftest.Think{Time: 200 * time.Millisecond}, RampUp: perftest.RampUp{Duration: time.Second}},
		"prefill": perftest.Closed{Concurrency: 6, Requests: 20, PrefillConcurrency: 1, Cancel: perftest.Cancel{Share: 0.3, After: 150 * time.Millisecond}},
		"queue":   perftest.Open{Rate: 10, Requests: 30, InFlight: 2, PrefillConcurrency: 2},
		"drain":   perftest.Open{Rate: 10, Duration: 2 * time.Second, Drain: perftest.Drain{Cancel: true, After: time.Minute}},
		"stages":  perftest.Stages{Concurrency: perftest.Step{From: 1, To: 4, Steps: 4, Duration: 4 * time.Second}},
		"replay":  perftest.Replay{},
	} {
		for at := 50 * time.Millisecond; at < 6*time.Second; at += 330 * time.Millisecond {
			t.Run(fmt.Sprintf("%s/%v", name, at), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := simserver.StartPipe(t, stall)
					ctx, cancel := context.WithTimeout(t.Context(), at)
					defer cancel()
					begun := time.Now()
					res := runOrNothing(&noteT{TB: t, ctx: ctx}, perftest.Scenario{
						Target: s.Target(), Load: load, TurnsInFlight: 4, Warmup: perftest.Warmup{Requests: 3, Concurrency: 2},
						Workload: &talks{n: 100},
					})
					require.Less(t, time.Since(begun), at+2*time.Second+100*time.Millisecond)
					if res == nil {
						return // in the set-up
					}
					require.True(t, res.Partial)
					c := res.Counts
					require.Equal(t, c.Sent, c.Succeeded+c.Failed+c.Cancelled)
					require.Zero(t, c.Failed, res.Failures)
					require.Equal(t, "error", res.Ended)
				})
			})
		}
	}
}

// talks is a trace of conversations of two turns, ten a second.
type talks struct{ n, given int }

func (w *talks) Open(context.Context, perftest.RunInfo) (perftest.Source, error) {
	return &talks{n: w.n}, nil
}

func (w *talks) Next() (perftest.Request, error) {
	if w.given++; w.given > w.n {
		return perftest.Request{}, io.EOF
	}
	return perftest.Request{
		Prompt: "Hello", MaxTokens: 3, At: time.Duration(w.given) * 100 * time.Millisecond,
		Then: func(string) (perftest.Request, bool) {
			return perftest.Request{Prompt: "Go on", MaxTokens: 3, Think: 100 * time.Millisecond}, true
		},
	}, nil
}

func (*talks) Close() error { return nil }

// runOrNothing gives nil where Run is fatal.
func runOrNothing(t *noteT, s perftest.Scenario) (res *perftest.Result) {
	fatal := &fatalT{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		res = perftest.Run(&stoppedT{fatal, t.ctx}, s)
	}()
	<-done
	return res
}

// stoppedT is a fatalT whose context is another.
type stoppedT struct {
	*fatalT
	ctx context.Context
}

func (t *stoppedT) Context() context.Context { return t.ctx }
