package perftest_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

// probing is a workload that asks the server about a text before it starts.
type probing struct {
	perftest.Workload
	text  string
	heard *[]int
}

func (w probing) Open(ctx context.Context, run perftest.RunInfo) (perftest.Source, error) {
	n, err := run.Probe(ctx, perftest.Request{Prompt: w.text, MaxTokens: 50})
	if err != nil {
		return nil, err
	}
	*w.heard = append(*w.heard, n)
	return w.Workload.Open(ctx, run)
}

func probe(s *simserver.Server, heard *[]int) perftest.Scenario {
	return perftest.Scenario{
		Target:   s.Target(),
		Workload: probing{fixtures.Prompts{Prompts: []string{"Hello"}, Output: 3}, "Hello, server.", heard},
		Load:     perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 5},
	}
}

// The server counts a message of 14 bytes as 4 tokens, and 4 for the message.
func TestProbe(t *testing.T) {
	inResults(t)
	s := simserver.Start(t, simserver.Profile{})
	var heard []int
	res := perftest.Run(t, probe(s, &heard))
	require.Equal(t, []int{8}, heard)
	require.Equal(t, 5, res.Counts.Sent, "a probe is part of no figure")
	require.EqualValues(t, 3, res.Metrics.OutputTokens.Max)
	require.Equal(t, 5+2, s.Requests())
}

func TestProbeFails(t *testing.T) {
	for name, c := range map[string]struct {
		fault simserver.Kind
		want  string
	}{
		"no usage": {simserver.UsageNever, "no usage: the server did not say how many input tokens it counted"},
		"status":   {simserver.Status429, "429"},
	} {
		t.Run(name, func(t *testing.T) {
			inResults(t)
			s := simserver.Start(t, simserver.Profile{Faults: []simserver.Fault{{Kind: c.fault}}})
			var heard []int
			message := fatalOf(t, probe(s, &heard))
			require.Contains(t, message, c.want)
			require.Contains(t, message, "no load was sent")
			require.Empty(t, heard)
			require.Equal(t, 1, s.Requests())
		})
	}
}
