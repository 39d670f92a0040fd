package perftest_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// gated runs a scenario with objectives in a bubble, against a server of 200 ms
// to the first token and 280 ms a request; what it says is in the notes.
func gated(t *testing.T, s perftest.Scenario) (res *perftest.Result, notes *errorsT) {
	t.Helper()
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		server := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
		notes = &errorsT{TB: t}
		s.Target, s.Workload = server.Target(), fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5}
		res = perftest.Run(notes, s)
		res.Judge(s.SLOs...) // else it is an error, see TestNobodyJudges
	})
	return res, notes
}

// A gate that is run and not judged would be green whatever was measured.
func TestNobodyJudges(t *testing.T) {
	inResults(t)
	for _, repeat := range []int{0, 2} {
		notes := map[bool]*errorsT{}
		for _, judge := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				server := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
				notes[judge] = &errorsT{TB: t}
				res := perftest.Run(notes[judge], perftest.Scenario{
					Target: server.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5},
					Load: perftest.Closed{Concurrency: 4, Requests: 120}, Repeat: repeat,
					SLOs: []perftest.SLO{assert.TTFT(assert.P50).Below(250 * time.Millisecond)},
				})
				if judge {
					assert.Gate(notes[judge], res)
				}
			})
		}
		require.Empty(t, notes[true].errors)
		require.Len(t, notes[false].errors, 1)
		require.Contains(t, notes[false].errors[0], "nothing has judged the scenario's SLOs: give the result to assert.Gate")
	}
}

// errorsT is a test in a bubble that keeps its errors.
type errorsT struct {
	testing.TB
	errors []string
}

func (t *errorsT) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

// Of 1,000 planned requests ten may be over p99; all are. With all others good,
// 50 in one batch of twenty prove no miss: D = 50 var(batch means)/(x (1-x)) is
// about 50 and makes of 1,000 requests 18 (with (1.65/1.73)^2), of which 0.9
// are over; P(Bin(18, 0.01) >= 0.9) is 0.19. At the second look, after a hundred,
// 1.8 are: 0.02 < 0.05. It looks after each fiftieth, and answers come by fours.
func TestGateStopsWhenItMustFail(t *testing.T) {
	res, notes := gated(t, perftest.Scenario{
		Load: perftest.Closed{Concurrency: 4, Requests: 1000},
		SLOs: []perftest.SLO{assert.TTFT(assert.P99).Below(100 * time.Millisecond)},
	})
	require.Equal(t, "must fail", res.Ended)
	require.True(t, res.Partial)
	require.GreaterOrEqual(t, res.Counts.Sent, 101)
	require.LessOrEqual(t, res.Counts.Sent, 108)
	require.Equal(t, 1000, res.Counts.Planned)
	require.Len(t, notes.errors, 1)
	require.Contains(t, notes.errors[0], "TTFT p99 < 100ms is missed")

	v := res.Judge(res.Scenario.SLOs...)[0]
	require.Equal(t, []perftest.Outcome{perftest.Fail, perftest.Fail}, []perftest.Outcome{v.Outcome, v.Point})
	again, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	require.Equal(t, perftest.Fail, again.Judge(res.Scenario.SLOs...)[0].Outcome)
}

// Without objectives in the scenario nothing stops.
func TestNoGateNoStop(t *testing.T) {
	res, _ := gated(t, perftest.Scenario{Load: perftest.Closed{Concurrency: 4, Requests: 200}})
	require.Equal(t, 200, res.Counts.Sent)
	require.Equal(t, perftest.Fail, res.Judge(assert.TTFT(assert.P99).Below(100 * time.Millisecond))[0].Outcome)
}

// 300 requests of 280 ms, of which none is over, are no proof of p99: the
// deviation of twenty batches is known by 19 degrees of freedom alone, and they
// are worth 300 (1.65/1.73)^2 = 273. A run that may be looked at three times
// (300, 600, 1,200) is judged at 5 %/3: 1,200 are needed where 600 are worth
// 499 > 407 = ln(0.0167)/ln(0.99). So it ends after 600.
func TestExtend(t *testing.T) {
	slo := assert.TTFT(assert.P99).Below(250 * time.Millisecond)
	short, _ := gated(t, perftest.Scenario{Load: perftest.Closed{Concurrency: 4, Requests: 450}, Extend: perftest.Extend{}, SLOs: []perftest.SLO{slo}})
	require.Equal(t, perftest.Pass, short.Judge(slo)[0].Outcome)

	res, notes := gated(t, perftest.Scenario{
		Load: perftest.Closed{Concurrency: 4, Requests: 410}, Extend: perftest.Extend{Requests: 1640}, SLOs: []perftest.SLO{slo},
	})
	require.Empty(t, notes.errors)
	require.Equal(t, 3, res.Scenario.Looks)
	require.Equal(t, []int{820, 820}, []int{res.Counts.Sent, res.Counts.Planned})
	require.Equal(t, 8, res.Counts.Start, "each part starts anew")
	require.Equal(t, perftest.Pass, res.Judge(slo)[0].Outcome)
	require.False(t, res.Partial)
	again, err := perftest.ReadResult(res.Dir)
	require.NoError(t, err)
	require.Equal(t, perftest.Pass, again.Judge(slo)[0].Outcome)
}

// At the joint of two parts each of the 16 slots is done with the padding of the
// one and the start of the other: no gap of the client's, although 16 of 804 are
// above 1 %. Neither is the time to think, when it is asked whether to go on.
func TestExtendOfManySlots(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		server := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
		target := server.Target()
		target.Simulated = false // whose client would not be judged
		res := perftest.Run(&errorsT{TB: t}, perftest.Scenario{
			Target: target, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5},
			Load:   perftest.Closed{Concurrency: 16, Requests: 410, Think: perftest.Think{Time: 50 * time.Millisecond}},
			Extend: perftest.Extend{Requests: 1640}, SLOs: []perftest.SLO{assert.TTFT(assert.P99).Below(250 * time.Millisecond)},
		})
		require.Equal(t, 820, res.Counts.Sent)
		require.Zero(t, float64(res.Health.SlotGap.Max))
		require.Zero(t, float64(res.Health.SlotGapShare))
	})
}

// notShort lets a test see what is done without -short, which lets plans be that
// prove nothing.
func notShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		require.NoError(t, flag.Set("test.short", "false"))
		t.Cleanup(func() { require.NoError(t, flag.Set("test.short", "true")) })
	}
}

// What could not be proven is refused before anything is sent, with the number
// that could: ceil(ln 0.05/ln 0.99) = 299, and by hand for p99.9 at 99 %: 4,603. A
// goodput has no values near its limit, of which a minute without any would be proof:
// 328 requests are worth 328 (1.6495/1.7291)^2 = 298.5.
func TestPlanThatCannotProve(t *testing.T) {
	notShort(t)
	inResults(t)
	for name, c := range map[string]struct {
		load   perftest.Load
		slo    perftest.SLO
		extend perftest.Extend
		want   string
	}{
		"closed":   {perftest.Closed{Concurrency: 4, Requests: 298}, assert.TTFT(assert.P99).Below(time.Second), perftest.Extend{}, "measure at least 299"},
		"p99.9":    {perftest.Closed{Concurrency: 4, Requests: 3000}, assert.TTFT(assert.P999).Below(time.Second), perftest.Extend{}, "measure at least 4603"},
		"open":     {perftest.Open{Rate: 10, Duration: 29 * time.Second}, assert.Goodput(perftest.Limits{TTFT: time.Second}).AtLeast(0.99), perftest.Extend{}, "measure at least 328"},
		"rate":     {perftest.Closed{Concurrency: 4, Requests: 99}, assert.RequestRate().AtLeast(1), perftest.Extend{}, "measure at least 100"},
		"bad SLO":  {perftest.Closed{Concurrency: 4, Requests: 1000}, perftest.SLO{Metric: "x"}, perftest.Extend{}, "SLOs[0]: SLO.Metric is"},
		"smaller":  {perftest.Closed{Concurrency: 4, Requests: 1000}, assert.TTFT(assert.P99).Below(time.Second), perftest.Extend{Requests: 1000}, "Extend.Requests is 1000"},
		"no count": {perftest.Closed{Concurrency: 4, Duration: time.Second}, assert.TTFT(assert.P99).Below(time.Second), perftest.Extend{Requests: 1000}, "Extend needs"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simserver.Start(t, simserver.Profile{})
			fatal := fatalOf(t, perftest.Scenario{
				Target: s.Target(), Workload: fixtures.Builtin{Output: 4}, Load: c.load, SLOs: []perftest.SLO{c.slo}, Extend: c.extend,
			})
			require.Contains(t, fatal, c.want)
			require.NotContains(t, fatal, "\n")
			require.Zero(t, s.Requests())
		})
	}
}

// Each turn of a conversation is a request of the evidence. Of these two
// conversations 99 in a row have 49 times 4 turns and one or three more: 197 at
// the least, of two runs 394; 299 are needed. Where time may cut a conversation,
// or the workload does not tell, each counts as one.
func TestPlanOfConversations(t *testing.T) {
	notShort(t)
	inResults(t)
	talk := fixtures.Conversations{Users: [][]string{{"a"}, {"b", "c", "d"}}, Output: 1}
	p99 := []perftest.SLO{assert.TTFT(assert.P99).Below(time.Second)}
	for name, c := range map[string]struct {
		scenario perftest.Scenario
		turns    int // of a run that is not refused
		want     string
	}{
		"one run": {perftest.Scenario{Workload: talk, Load: perftest.Closed{Concurrency: 4, Requests: 99}}, 0,
			"Load is 99 conversations of 197 turns or more in all: they cannot prove TTFT p99 < 1s (299) even if all keep the limit: measure at least 299 (each turn counts;"},
		"two runs": {perftest.Scenario{Workload: talk, Load: perftest.Closed{Concurrency: 4, Requests: 99, KeepEnds: true}, Repeat: 2}, 197, ""},
		"cut by time": {perftest.Scenario{Workload: talk, Load: perftest.Closed{Concurrency: 4, Requests: 150, Duration: time.Minute}}, 0,
			"Load is 150 requests: "},
		"enough": {perftest.Scenario{Workload: talk, Load: perftest.Closed{Concurrency: 4, Requests: 150, KeepEnds: true}}, 300, ""},
		"not told": {perftest.Scenario{Workload: fixtures.Mix{{Workload: talk}}, Load: perftest.Closed{Concurrency: 4, Requests: 150}}, 0,
			"(a conversation counts as one unless its workload is Conversational;"},
	} {
		t.Run(name, func(t *testing.T) {
			s := simserver.Start(t, simserver.Profile{})
			c.scenario.Target, c.scenario.SLOs = s.Target(), p99
			if c.want != "" {
				require.Contains(t, fatalOf(t, c.scenario), c.want)
				require.Zero(t, s.Requests())
				return
			}
			res := perftest.Run(t, c.scenario)
			require.Len(t, res.Judge(p99...), 1)
			require.GreaterOrEqual(t, res.Counts.Sent, c.turns)
		})
	}
}

// An open loop without a bound that runs out of files measures its own limit:
// the failures are no miss of the server's.
func TestOutOfFilesIsInvalid(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		server := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond})
		target := server.Target()
		target.Simulated = false // whose client would not be judged
		dial, open := target.Dial, atomic.Int64{}
		target.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
			if open.Add(1) > 20 {
				return nil, &net.OpError{Op: "dial", Net: network, Err: os.NewSyscallError("socket", syscall.EMFILE)}
			}
			return dial(ctx, network, addr)
		}
		res := perftest.Run(t, perftest.Scenario{
			Target: target, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5}, ColdConnections: true,
			Load: perftest.Open{Rate: 200, Requests: 100},
		})
		require.Positive(t, res.Counts.Failed)
		require.Equal(t, res.Counts.Failed, res.Health.OutOfFiles)
		v := res.Judge(assert.ErrorRate().AtMost(0))[0]
		require.Equal(t, perftest.Invalid, v.Point)
		require.Contains(t, v.Reason, fmt.Sprintf("for want of open files %d (RLIMIT_NOFILE", res.Counts.Failed))
		stored, err := perftest.ReadResult(res.Dir)
		require.NoError(t, err)
		require.Equal(t, perftest.Invalid, stored.Judge(assert.ErrorRate().AtMost(0))[0].Point)
	})
}

// A warm-up that leaves slots cold is warned of.
func TestSmallWarmupIsWarnedOf(t *testing.T) {
	res, _ := gated(t, perftest.Scenario{Load: perftest.Closed{Concurrency: 4, Requests: 8}, Warmup: perftest.Warmup{Requests: 3}})
	require.Contains(t, res.Warnings, "the warm-up of 3 requests is smaller than the load's 4 slots: what is measured may begin with a cold server")
}
