package perftest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// Conversations of three turns against 100 ms to the first token and 10 ms for
// each further one, of which half is reasoning: each turn is scheduled for 2 s
// after the answer before, and carries it without the reasoning.
func TestConversations(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		var bodies bytes.Buffer
		s := simserver.StartPipe(t, simserver.Profile{
			TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Observe: observeInto(&bodies),
			Faults: []simserver.Fault{{Kind: simserver.ReasoningContent}},
		})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three"}}, Think: 2 * time.Second, Output: 4},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 10},
		})
		require.Equal(t, []int{30, 10, 30}, []int{res.Counts.Succeeded, res.Counts.Conversations, res.Counts.Sent})
		require.Equal(t, []int{10, 20}, []int{res.Metrics.FirstTurnTTFT.Count, res.Metrics.LaterTurnTTFT.Count})
		require.Equal(t, perftest.Value(0.1), res.Metrics.LaterTurnTTFT.Max)
		require.Equal(t, perftest.Value(0), res.Metrics.Queue.Max, "the time to think is no wait")
		require.Equal(t, perftest.Value(0), res.Health.SlotGap.Max)
		// 5 rounds of three answers of 130 ms and two pauses of 2 s.
		require.InDelta(t, 5*(3*0.13+2*2), float64(res.Window), 1e-9)
		last := strings.Split(strings.TrimSpace(bodies.String()), "\n")
		third := last[len(last)-1]
		require.Equal(t, 2, strings.Count(third, `"role":"assistant"`), third)
		require.Contains(t, third, `"content":"three"`)
		require.NotContains(t, third, `"role":"assistant","content":""`)
		require.Contains(t, res.Summary(), "Conversations")

		again, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		require.Equal(t, perftest.Pass, again.Judge(perftest.SLO{Metric: perftest.RequestRate, Op: perftest.Above, Limit: 1})[0].Point)
	})
}

// Of four conversations at once, one turn is in flight at a time: the others
// wait for their place, which is no fault of the client's.
func TestTurnsInFlight(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), TurnsInFlight: 1,
			Workload: fixtures.Conversations{Users: [][]string{{"one", "two"}}, Output: 1},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 4, Requests: 4},
		})
		require.Equal(t, 8, res.Counts.Succeeded)
		require.Equal(t, 1, s.Peak())
		require.InDelta(t, 0.8, float64(res.Window), 1e-9)
		require.Equal(t, perftest.Value(0), res.Health.SendLag.Max)
	})
}

// A turn that fails ends its conversation, and nothing else.
func TestConversationEndsWithAFailure(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.Status503, Requests: []int{2}}}})
		res := perftest.Run(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Conversations{Users: [][]string{{"one", "two", "three"}}, Output: 1},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 2},
		})
		require.Equal(t, []int{2 + 3, 4, 1}, []int{res.Counts.Sent, res.Counts.Succeeded, res.Counts.Failed})
	})
}

// A conversation that is cut by the end of the test makes the result partial,
// although every conversation of the load had begun.
func TestConversationCutIsPartial(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		notes := &noteT{TB: t, ctx: ctx}
		res := perftest.Run(notes, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Conversations{Users: [][]string{{"one", "two"}}, Think: time.Hour, Output: 1},
			Load:     perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 2},
		})
		require.Equal(t, 2, res.Counts.Succeeded)
		require.True(t, res.Partial)
	})
}

// noteT is a test whose context is another.
type noteT struct {
	testing.TB
	ctx context.Context
}

func (t *noteT) Context() context.Context { return t.ctx }

// A workload that panics on an answer ends the run, and not the process.
func TestConversationThatPanics(t *testing.T) {
	inResults(t)
	s := simserver.Start(t, simserver.Profile{})
	fatal := fatalOf(t, perftest.Scenario{
		Target: s.Target(), Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1},
		Workload: same{perftest.Request{Prompt: "Hello", MaxTokens: 1, Then: func(string) (perftest.Request, bool) { panic("no next") }}},
	})
	require.Contains(t, fatal, "workload: it panicked: no next")
}
