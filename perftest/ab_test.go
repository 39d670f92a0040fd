package perftest_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// canary is a scenario that two servers are asked for.
func canary(target perftest.Target) perftest.Scenario {
	return perftest.Scenario{
		Target: target, Workload: fixtures.Prompts{Prompts: []string{"prompt 01", "prompt 02", "prompt 03", "prompt 04"}, Output: 20},
		Load: perftest.Open{Rate: 10, Duration: 10 * time.Second}, Warmup: perftest.Warmup{Requests: 2},
	}
}

func TestAB(t *testing.T) {
	inResults(t)
	for _, c := range []struct {
		slower float64
		want   perftest.Outcome
	}{{1, perftest.Unchanged}, {1.2, perftest.Regressed}} {
		synctest.Test(t, func(t *testing.T) {
			a, b := engine(1), engine(c.slower)
			a.Model, b.Model = "production", "canary" // targets may differ
			b.Seed = 9                                // of the steps' jitter
			production, canary := perftest.AB(t, canary(simserver.StartPipe(t, a).Target()), canary(simserver.StartPipe(t, b).Target()))
			require.Len(t, production.Runs, 4)
			require.Len(t, canary.Runs, 4)
			got, err := canary.Against(assert.Baseline{Result: production})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Outcome, canary.ComparisonTable(got))
			for i := range production.Runs {
				require.Equal(t, production.Runs[i].Requests, canary.Runs[i].Requests, "a pair has the same arrivals")
			}
			require.NotEqual(t, production.Runs[0].Requests, production.Runs[1].Requests)
		})
	}
}

// The order is a b b a. One server gets new prompts in each run; of two, each
// gets those of the other.
func TestABTakesTurns(t *testing.T) {
	inResults(t)
	var bodies bytes.Buffer
	s := simserver.Start(t, simserver.Profile{Observe: observeInto(&bodies)})
	side := func(model string, s *simserver.Server) perftest.Scenario {
		var texts []string
		for i := range 40 {
			texts = append(texts, "prompt "+string(rune('0'+i/10))+string(rune('0'+i%10)))
		}
		target := s.Target()
		target.Params = map[string]any{"user": model}
		return perftest.Scenario{
			Target: target, Workload: fixtures.Prompts{Prompts: texts, Output: 1},
			Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 3}, Repeat: 2,
		}
	}
	perftest.AB(t, side("a", s), side("b", s))
	require.Len(t, prompts(bodies.String()), 12)
	distinct := map[string]bool{}
	for _, p := range prompts(bodies.String()) {
		distinct[p] = true
	}
	require.Len(t, distinct, 12, "one server is never asked the same twice")
	var order []byte
	for line := range bytes.Lines(bodies.Bytes()) {
		if !bytes.Contains(line, []byte("prompt ")) {
			continue
		}
		who := byte('a')
		if bytes.Contains(line, []byte(`"user":"b"`)) {
			who = 'b'
		}
		if len(order) == 0 || order[len(order)-1] != who {
			order = append(order, who)
		}
	}
	require.Equal(t, "aba", string(order), "a b b a")
}

func TestABRefuses(t *testing.T) {
	good := func() perftest.Scenario { return canary(perftest.Target{URL: "http://127.0.0.1:1"}) }
	for want, change := range map[string]func(s *perftest.Scenario){
		"Load is ":                 func(s *perftest.Scenario) { s.Load = perftest.Open{Rate: 11, Duration: 10 * time.Second} },
		"Workload is ":             func(s *perftest.Scenario) { s.Workload = fixtures.Builtin{Output: 20} },
		"Warmup is ":               func(s *perftest.Scenario) { s.Warmup.Requests = 9 },
		"Repeat is 3 and 5: ":      func(s *perftest.Scenario) { s.Repeat = 5 },
		`side b: Target.URL is ""`: func(s *perftest.Scenario) { s.Target.URL = "" },
		"Load is nil: set it,":     func(s *perftest.Scenario) { s.Load = nil },
	} {
		a, b := good(), good()
		a.Repeat = 3
		change(&b)
		if b.Load == nil {
			a.Load = nil
		}
		require.Contains(t, fatalIn(t, func(t testing.TB) { perftest.AB(t, a, b) }), want)
	}
}
