package perftest_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// One slot answers a request in 280 ms: it keeps up with 3 a second and falls
// behind 5. However lax the limit, what is measured there proves no pass.
func TestSaturatedProvesNoPass(t *testing.T) {
	for rate, want := range map[float64]perftest.Outcome{2: perftest.Pass, 5: perftest.Inconclusive} {
		inResults(t)
		synctest.Test(t, func(t *testing.T) {
			s := simserver.StartPipe(t, simserver.Profile{TTFT: 200 * time.Millisecond, TPOT: 20 * time.Millisecond, Slots: 1})
			res := perftest.Run(t, perftest.Scenario{
				Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 5},
				Load: perftest.Open{Rate: rate, Requests: 600},
			})
			v := res.Judge(assert.Response(assert.P90).Below(time.Hour))[0]
			require.Equal(t, want, v.Outcome, v.Evidence)
			require.Equal(t, perftest.Pass, v.Point)
			require.Equal(t, want != perftest.Pass, strings.Contains(strings.Join(res.Warnings, "\n"), "falls behind the load"), res.Warnings)
		})
	}
}
