package perftest_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// What is no number, or larger than anything that can be meant, is refused by
// name before any load: it would overflow a clock, never end, fail every dial
// or fail the result's writing.
func TestRunRefusesWhatCannotBe(t *testing.T) {
	inResults(t)
	const forever = time.Duration(math.MaxInt64)
	closed := perftest.Closed{Concurrency: 1, Requests: 3}
	for want, s := range map[string]perftest.Scenario{
		"Load.Think.Time is 2562047h":              {Load: perftest.Closed{Concurrency: 1, Requests: 3, Think: perftest.Think{Time: forever}}},
		"Load.RampUp.Duration is 2562047h":         {Load: perftest.Closed{Concurrency: 1, Requests: 3, RampUp: perftest.RampUp{Duration: forever}}},
		"Load.RampUp.Steps is 9223372036854775807": {Load: perftest.Closed{Concurrency: 1, Requests: 3, RampUp: perftest.RampUp{Duration: 1, Steps: math.MaxInt}}},
		"Load.Duration is 2562047h":                {Load: perftest.Closed{Concurrency: 1, Duration: forever}},
		"Load.Concurrency is 9223372036854775807":  {Load: perftest.Closed{Concurrency: math.MaxInt, Requests: 1}},
		"Load.Requests is 9223372036854775807":     {Load: perftest.Closed{Concurrency: 1, Requests: math.MaxInt}},
		"Load.Cancel.After is 2562047h":            {Load: perftest.Closed{Concurrency: 1, Requests: 1, Cancel: perftest.Cancel{After: forever}}},
		"Load.Cancel.Share is NaN":                 {Load: perftest.Closed{Concurrency: 1, Requests: 1, Cancel: perftest.Cancel{Share: math.NaN()}}},
		"Load.Drain.After is 2562047h":             {Load: perftest.Closed{Concurrency: 1, Requests: 1, Drain: perftest.Drain{Cancel: true, After: forever}}},
		"Load.InFlight is 9223372036854775807":     {Load: perftest.Open{Rate: 1, Requests: 3, InFlight: math.MaxInt}},
		"Load.Rate is 1e-300":                      {Load: perftest.Open{Rate: 1e-300, Requests: 3}},
		"Load.Rate is +Inf":                        {Load: perftest.Open{Rate: math.Inf(1), Requests: 3}},
		"Load.Arrivals.Shape is 1e-300":            {Load: perftest.Open{Rate: 1, Duration: 1, Arrivals: perftest.Gamma{Shape: 1e-300}}},
		"Load.Speed is 1e-300":                     {Load: perftest.Replay{Speed: 1e-300}},
		"Load.Concurrency.At is 2562047h":          {Load: perftest.Stages{Concurrency: perftest.Spike{Base: 1, Peak: 2, At: forever, Width: forever, Duration: 1}}},
		"Load.Rate[1].Duration is 5000h":           {Load: perftest.Stages{Rate: perftest.StageList{{Duration: 5000 * time.Hour, From: 1}, {Duration: 5000 * time.Hour}}}},
		"more than ten million times":              {Load: perftest.Stages{Concurrency: perftest.Sine{Mean: 2, Amplitude: 1, Period: 1, Duration: time.Hour}}},
		"Warmup.Requests is 9223372036854775807":   {Load: closed, Warmup: perftest.Warmup{Requests: math.MaxInt}},
		"Warmup.Duration is -1ns":                  {Load: closed, Warmup: perftest.Warmup{Duration: -1}},
		"Warmup.Concurrency is 1000001":            {Load: closed, Warmup: perftest.Warmup{Requests: 1, Concurrency: 1_000_001}},
		"TurnsInFlight is -1":                      {Load: closed, TurnsInFlight: -1},
		"Timeouts.Connect is 2562047h":             {Load: closed, Timeouts: perftest.Timeouts{Connect: forever}},
		"ClientLimits.CPU is NaN":                  {Load: closed, ClientLimits: perftest.ClientLimits{CPU: math.NaN()}},
		"ClientLimits.Offered is 99":               {Load: closed, ClientLimits: perftest.ClientLimits{Offered: 99}},
		"ClientLimits.Late is -Inf":                {Load: closed, ClientLimits: perftest.ClientLimits{Late: math.Inf(-1)}},
	} {
		t.Run(want, func(t *testing.T) {
			s.Target, s.Workload = perftest.Target{URL: "http://127.0.0.1:1"}, same{}
			got := fatalOf(t, s)
			require.Contains(t, got, want)
			require.NotContains(t, got, "\n")
		})
	}
}

// The warm-up's connections are counted too: a million are more than a process
// may open files.
func TestWarmupIsHeldAgainstTheLimits(t *testing.T) {
	inResults(t)
	for _, load := range []perftest.Load{perftest.Closed{Concurrency: 1, Requests: 1}, perftest.Open{Rate: 1, Requests: 1}} {
		got := fatalOf(t, perftest.Scenario{
			Target: perftest.Target{URL: "http://127.0.0.1:1"}, Workload: same{}, Load: load,
			Warmup: perftest.Warmup{Duration: time.Second, Concurrency: 1_000_000},
		})
		require.Contains(t, got, "Warmup.Concurrency is 1000000: ")
	}
}

// A workload without times, and without end, would start all at once for ever.
func TestReplayRefusesAWorkloadWithoutTimes(t *testing.T) {
	inResults(t)
	server := simserver.Start(t, simserver.Profile{})
	got := fatalOf(t, perftest.Scenario{
		Target: server.Target(), Load: perftest.Replay{}, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1},
	})
	require.Contains(t, got, "its first 1000 requests are all at 0s (Request.At)")
	require.Equal(t, 1, server.Requests(), "the preflight")
}

// A name is in front of each message, and begins no line in it: one that does
// may be a command to GitHub's runner.
func TestMessagesOfAnOddName(t *testing.T) {
	inResults(t)
	odd := perftest.Scenario{
		Name: "q\n::error::y", Target: simserver.Start(t, simserver.Profile{}).Target(), Workload: fixtures.Builtin{Output: 4},
		Load: perftest.Closed{Concurrency: 4, Requests: 8}, Warmup: perftest.Warmup{Requests: 1},
	}
	logs := &logsT{TB: t}
	perftest.Run(logs, odd)
	require.True(t, strings.HasPrefix(logs.logs[0], `q\n::error::y: the warm-up of 1 requests`), logs.logs[0])
	odd.Load = perftest.Closed{Concurrency: -1}
	require.True(t, strings.HasPrefix(fatalOf(t, odd), `q\n::error::y: Load.Concurrency is -1`))
	fatal := fatalIn(t, func(t testing.TB) { perftest.MaxLoad(t, odd) })
	require.True(t, strings.HasPrefix(fatal, `q\n::error::y: `), fatal)
}

// logsT is a test that keeps what it logs.
type logsT struct {
	testing.TB
	logs []string
}

func (t *logsT) Logf(format string, args ...any) {
	t.logs = append(t.logs, fmt.Sprintf(format, args...))
}

// Those of a trace that begins with many at once are sent.
func TestReplayOfABurst(t *testing.T) {
	inResults(t)
	res := perftest.Run(t, perftest.Scenario{
		Target: simserver.Start(t, simserver.Profile{}).Target(), Load: perftest.Replay{}, Workload: &list{make([]time.Duration, 99)},
	})
	require.Equal(t, 99, res.Counts.Succeeded)
	for _, w := range res.Warnings {
		require.NotContains(t, w, "wait for their body", "what was looked at ahead of the load")
	}
}

// The canary's distribution is in the health and its lines; without one there
// is none.
func TestRunWithACanary(t *testing.T) {
	inResults(t)
	for _, with := range []bool{true, false} {
		t.Run(fmt.Sprint(with), func(t *testing.T) {
			t.Parallel()
			res := perftest.Run(t, perftest.Scenario{
				Target: simserver.Start(t, simserver.Profile{}).Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 1}, Canary: with,
				Load: perftest.Open{Rate: 10, Arrivals: perftest.Constant{}, Requests: 20},
			})
			again, err := perftest.ReadResult(res.Dir)
			require.NoError(t, err)
			require.Equal(t, []any{res.Health.CanaryLag, res.Health.CanaryTTFT, res.Health.Canaries}, []any{again.Health.CanaryLag, again.Health.CanaryTTFT, again.Health.Canaries})
			require.Equal(t, with, res.Health.Canaries > 0)
			require.Equal(t, with, strings.Contains(strings.Join(res.Health.Lines, "\n"), "canary lag p50"))
			require.Equal(t, 20, res.Counts.Succeeded)
		})
	}
}
