package perftest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// source is a workload of a test's own, of one function.
type source func(i int) (perftest.Request, error)

type sourceUnderWay struct {
	next source
	i    int
}

func (s source) Open(context.Context, perftest.RunInfo) (perftest.Source, error) {
	return &sourceUnderWay{next: s}, nil
}

func (s *sourceUnderWay) Next() (perftest.Request, error) {
	s.i++
	return s.next(s.i - 1)
}

func (*sourceUnderWay) Close() error { return nil }

var hello = perftest.Request{Prompt: "Hello", MaxTokens: 1}

// The workload is asked for no more than the run wants: it may have no more.
func TestWorkloadIsAskedForWhatTheRunWants(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{})
		asked := 0
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Load: perftest.Closed{KeepEnds: true, Concurrency: 4, Requests: 10}, Warmup: perftest.Warmup{Requests: 2},
			Workload: source(func(i int) (perftest.Request, error) {
				asked++
				return hello, nil
			}),
		})
		require.Equal(t, 10, res.Counts.Succeeded)
		require.Equal(t, 12, asked)
	})
}

// An error, and a panic, of the workload end the run as failed and keep what
// was measured.
func TestWorkloadThatFails(t *testing.T) {
	for name, fail := range map[string]func() (perftest.Request, error){
		"error": func() (perftest.Request, error) { return hello, fmt.Errorf("row 6 is bad") },
		"panic": func() (perftest.Request, error) { panic("row 6 is bad") },
	} {
		t.Run(name, func(t *testing.T) {
			results := t.TempDir()
			inResults(t)
			t.Setenv("PERFTEST_RESULTS", results)
			s := simserver.Start(t, simserver.Profile{})
			fatal := fatalOf(t, perftest.Scenario{
				Target: s.Target(), Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 10},
				Workload: source(func(i int) (perftest.Request, error) {
					if i == 5 {
						return fail()
					}
					return hello, nil
				}),
			})
			require.Contains(t, fatal, "row 6 is bad")
			require.NotContains(t, fatal, "\n")
			r, err := perftest.ReadResult(resultDirs(t, results)[0])
			require.NoError(t, err)
			require.True(t, r.Partial)
			require.Equal(t, []any{"error", 5}, []any{r.Ended, r.Counts.Succeeded})
		})
	}
}

// A slow workload delays no start beyond the load's duration, and is named.
func TestWorkloadThatIsSlow(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: time.Millisecond})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Load: perftest.Closed{KeepEnds: true, Concurrency: 2, Duration: time.Second},
			Workload: source(func(i int) (perftest.Request, error) {
				if i >= 64 { // what is prepared before the load begins
					time.Sleep(400 * time.Millisecond)
				}
				return hello, nil
			}),
		})
		lines := measured(t, res)
		require.Less(t, lines[len(lines)-1].Sent-lines[0].Sent, 1.0)
		require.Contains(t, strings.Join(res.Warnings, "\n"), "the workload is slower than the load")
	})
}

// Each request says which row of the workload it was.
func TestRequestsNameTheirRow(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 4},
			Workload: fixtures.Prompts{Prompts: []string{"a", "b", "c"}, Output: 1},
		})
		var rows []int
		for _, l := range measured(t, res) {
			rows = append(rows, l.Row)
		}
		require.Equal(t, []int{1, 2, 3, 1}, rows)
	})
}
