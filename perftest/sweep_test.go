package perftest_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// prompts are the numbers in the bodies that a server got, without the
// preflights' "Hello".
func prompts(bodies string) (numbers []string) {
	for _, m := range regexp.MustCompile(`"content":"prompt (\d+)"`).FindAllStringSubmatch(bodies, -1) {
		numbers = append(numbers, m[1])
	}
	slices.Sort(numbers)
	return numbers
}

func TestSweep(t *testing.T) {
	var texts []string
	for i := range 100 {
		texts = append(texts, fmt.Sprintf("prompt %02d", i))
	}
	for _, repeat := range []bool{false, true} {
		inResults(t)
		var bodies bytes.Buffer
		s := simserver.Start(t, simserver.Profile{TPOT: time.Millisecond, Observe: observeInto(&bodies)})
		var names []string
		results := perftest.Sweep(t, perftest.Scenario{
			Target:   s.Target(),
			Workload: fixtures.Prompts{Prompts: texts, Output: 2},
			Warmup:   perftest.Warmup{Requests: 2},
		}, perftest.Levels{
			Loads: append(perftest.Concurrencies(4, 1, 2), perftest.RequestRates(50*time.Millisecond, 40)...), RepeatPrompts: repeat,
		}, func(t *testing.T, res *perftest.Result) {
			names = append(names, t.Name())
			require.Equal(t, t.Name(), res.Name)
		})
		require.Len(t, results, 3)
		require.Equal(t, []int{4, 8}, []int{results[0].Counts.Succeeded, results[1].Counts.Succeeded})
		if !repeat {
			require.Equal(t, []string{"TestSweep/c=1", "TestSweep/c=2", "TestSweep/rate=40"}, names)
		}
		s.Close() // it may still be at a request that kept a slot busy to the end of its level
		sent := prompts(bodies.String())
		distinct := slices.Compact(slices.Clone(sent))
		if repeat {
			require.Less(t, len(distinct), len(sent), "each level begins with the first prompt")
			require.Equal(t, results[0].Scenario.Nonce, results[2].Scenario.Nonce)
		} else {
			require.Equal(t, sent, distinct, "no level sends a prompt of another")
			require.NotEqual(t, results[0].Scenario.Nonce, results[2].Scenario.Nonce)
		}
	}
}
