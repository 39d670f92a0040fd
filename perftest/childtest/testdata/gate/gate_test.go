// Package gate holds scenarios that the tests of package childtest run as real
// child processes of go test, some of which fail on purpose.
package gate

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }

// fast is a server that answers in a few milliseconds.
var fast = simserver.Profile{Name: "fast", Model: "fast", TTFT: 2 * time.Millisecond, TPOT: time.Millisecond}

func scenario(t *testing.T, requests int) perftest.Scenario {
	return perftest.Scenario{
		Target:   fixtures.Server(t, fast),
		Workload: fixtures.Builtin{Output: 4},
		Load:     perftest.Closed{Concurrency: 2, Requests: requests},
	}
}

func TestHeld(t *testing.T) {
	res := perftest.Run(t, scenario(t, 20))
	assert.SLOs(t, res,
		assert.TTFT(assert.P90).Below(time.Minute),
		assert.ErrorRate().AtMost(0),
	)
}

func TestMissed(t *testing.T) {
	res := perftest.Run(t, scenario(t, 20))
	assert.SLOs(t, res,
		assert.TTFT(assert.P90).Below(time.Millisecond),
		assert.ErrorRate().AtMost(0),
	)
}

// TestUnproven has a gate on what twenty requests cannot prove.
func TestUnproven(t *testing.T) {
	res := perftest.Run(t, scenario(t, 20))
	assert.Gate(t, res, assert.TTFT(assert.P90).Below(time.Minute))
}

// gated is a scenario that names its objective.
func gated(t *testing.T, requests int, slo perftest.SLO) perftest.Scenario {
	s := scenario(t, requests)
	s.SLOs = []perftest.SLO{slo}
	return s
}

// TestProven has a gate that holds.
func TestProven(t *testing.T) {
	res := perftest.Run(t, gated(t, 200, assert.TTFT(assert.P90).Below(time.Minute)))
	assert.Gate(t, res)
}

// TestLost has a gate that no request could save after the first ones.
func TestLost(t *testing.T) {
	res := perftest.Run(t, gated(t, 2000, assert.TTFT(assert.P90).Below(time.Millisecond)))
	assert.Gate(t, res)
}

// TestCannotProve has a gate that its plan could not prove.
func TestCannotProve(t *testing.T) {
	perftest.Run(t, gated(t, 20, assert.TTFT(assert.P99).Below(time.Minute)))
	t.Fatal("it ran")
}

// TestLong would take hours.
func TestLong(t *testing.T) {
	res := perftest.Run(t, scenario(t, 1_000_000))
	assert.SLOs(t, res, assert.ErrorRate().AtMost(0))
}

// TestLongerStill must not start when TestLong was interrupted.
func TestLongerStill(t *testing.T) { TestLong(t) }

// TestHuge is the run that must stay small: 100,000 requests at concurrency 64.
func TestHuge(t *testing.T) {
	s := scenario(t, 100_000)
	instant := simserver.Profile{Name: "instant", Model: "instant"}
	s.Target = fixtures.Server(t, instant)
	s.Load = perftest.Closed{Concurrency: 64, Requests: 100_000}
	res := perftest.Run(t, s)
	assert.SLOs(t, res, assert.ErrorRate().AtMost(0))
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc: the peak of resident memory is not known")
	}
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM:") {
			t.Attr("peak", strings.TrimSpace(strings.TrimPrefix(line, "VmHWM:")))
			t.Log("peak of resident memory: " + line)
		}
	}
}

// blocked is a workload that gives two requests and then waits for ever.
type blocked struct{ given *int }

func (b blocked) Open(context.Context, perftest.RunInfo) (perftest.Source, error) { return b, nil }
func (b blocked) Close() error                                                    { return nil }
func (b blocked) Next() (perftest.Request, error) {
	if *b.given++; *b.given > 10 {
		select {}
	}
	return perftest.Request{Prompt: "Hello", MaxTokens: 1}, nil
}

// TestStuck has a server that does not answer (after the preflight), and a
// workload that gives nothing more.
func TestStuck(t *testing.T) {
	stuck := fast
	stuck.Faults = []simserver.Fault{{Kind: simserver.StallBeforeHeaders, Requests: []int{3, 4}}}
	s := scenario(t, 1000)
	s.Target = fixtures.Server(t, stuck)
	s.Workload = blocked{new(int)}
	perftest.Run(t, s)
}

// TestUnstarved is TestStarved without what takes its CPU.
func TestUnstarved(t *testing.T) {
	res := perftest.Run(t, scenario(t, 60))
	assert.SLOs(t, res, assert.TTFT(assert.P90).Below(time.Minute))
}

// TestStarved measures while goroutines of its own take all the CPU there is.
func TestStarved(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for range 4 {
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
			}
		}()
	}
	res := perftest.Run(t, scenario(t, 60))
	assert.SLOs(t, res, assert.TTFT(assert.P90).Below(time.Minute))
}

// TestLevels is a sweep that cools down for an hour after its first level.
func TestLevels(t *testing.T) {
	s := scenario(t, 0)
	perftest.Sweep(t, s, perftest.Levels{Loads: perftest.Concurrencies(4, 1, 2, 4), CoolDown: time.Hour}, nil)
}

// TestTurns says in each request whose it is, and waits for all answers.
func TestTurns(t *testing.T) {
	s := scenario(t, 20)
	s.Target.Params = map[string]any{"user": "gate"}
	s.Load = perftest.Closed{Concurrency: 2, Requests: 20, KeepEnds: true}
	perftest.Run(t, s)
}

// TestMany has tests that miss the less the later they come, and are told of in
// the other order.
func TestMany(t *testing.T) {
	n, err := strconv.Atoi(os.Getenv("CHILD_TESTS"))
	if err != nil {
		t.Skip("it is for TestChildAnnotatesTheWorst")
	}
	for i := n; i > 0; i-- {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			res := perftest.Run(t, scenario(t, 4))
			assert.SLOs(t, res, assert.OutputTokens(assert.P90).Below(float64(i)/1000)) // of 4
		})
	}
}
