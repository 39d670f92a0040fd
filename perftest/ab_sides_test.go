package perftest_test

import (
	"bytes"
	"fmt"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// A faster server takes more requests of the workload in the same time. Both
// sides of the second pair begin with the same one, which neither has had.
func TestABPairsBeginWithTheSameRequest(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		var texts []string
		for i := range 4000 {
			texts = append(texts, fmt.Sprintf("prompt %04d", i))
		}
		var bodies [2]bytes.Buffer
		var sides [2]perftest.Scenario
		for i, ttft := range []time.Duration{10 * time.Millisecond, 50 * time.Millisecond} {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: ttft, Observe: observeInto(&bodies[i])})
			sides[i] = perftest.Scenario{
				Target: s.Target(), Workload: fixtures.Prompts{Prompts: texts, Output: 1},
				Load: perftest.Closed{Concurrency: 1, Duration: time.Second}, Repeat: 2,
			}
		}
		perftest.AB(t, sides[0], sides[1])
		var second [2]int // the first request of the second run
		for i := range bodies {
			last := -1
			for _, text := range prompts(bodies[i].String()) {
				n, err := strconv.Atoi(text)
				require.NoError(t, err)
				if last >= 0 && n > last+1 && second[i] == 0 {
					second[i] = n
				}
				last = n
			}
		}
		require.Greater(t, second[0], 100)
		require.Equal(t, second[0], second[1])
	})
}

// One run of each side is a hint, with the spread within the runs.
func TestABOfOnePair(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		a, b := canary(simserver.StartPipe(t, engine(1)).Target()), canary(simserver.StartPipe(t, engine(1)).Target())
		a.Repeat, a.Load, b.Load = 1, perftest.Open{Rate: 10, Duration: time.Minute}, perftest.Open{Rate: 10, Duration: time.Minute}
		production, canary := perftest.AB(t, a, b)
		require.Empty(t, production.Runs)
		got, err := canary.Against(assert.Baseline{Result: production})
		require.NoError(t, err)
		require.True(t, got.Advisory)
		for _, c := range got.Changes {
			require.Empty(t, c.Reason, c.Metric)
			require.True(t, c.Upper.Known(), c.Metric)
		}
	})
}

// SLOs of a side are judged on the requests of all its runs: four, unless it
// says another number. So a run is not stopped for what a quarter of them does,
// and 100 requests a run are enough for p99.
func TestABJudgesAllRuns(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		var sides [2]perftest.Scenario
		for i, ttft := range []time.Duration{10 * time.Millisecond, 200 * time.Millisecond} {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: ttft})
			sides[i] = perftest.Scenario{
				Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
				Load: perftest.Closed{Concurrency: 4, Requests: 100}, SLOs: []perftest.SLO{assert.TTFT(assert.P99).Below(100 * time.Millisecond)},
			}
		}
		notes := &errorsT{TB: t}
		_, slow := perftest.AB(notes, sides[0], sides[1])
		require.Equal(t, "must fail", slow.Ended)
		require.Len(t, notes.errors, 1)
		require.Contains(t, notes.errors[0], "whatever the rest of 400 do")
		require.Equal(t, perftest.Fail, slow.Judge(sides[0].SLOs...)[0].Outcome)
	})
}
