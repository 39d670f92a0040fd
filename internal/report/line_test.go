package report

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLine(t *testing.T) {
	for _, c := range []struct {
		name string
		live Live
		want string
	}{
		{
			"under way",
			Live{
				Scenario: "TestQwen3/c=8", Simulated: true, Done: 128, Asked: 512, InFlight: 8, Failed: 2,
				Elapsed: 10 * time.Second, RequestRate: 12.8, OutputRate: 3276.8, TTFT: 0.312, TPOT: 0.021,
			},
			"TestQwen3/c=8 SIMULATED 128/512 25%, 30s left | 8 in flight | 2 failed | TTFT 312ms | TPOT 21.0ms | 12.8 req/s | 3277 tok/s",
		},
		{
			"before the first answer",
			Live{Asked: 512, InFlight: 8},
			"0/512 0% | 8 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s",
		},
		{
			"bound by time",
			Live{Done: 50, InFlight: 4, Elapsed: 15 * time.Second, Limit: time.Minute},
			"50 25%, 45s left | 4 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s",
		},
		{
			"both, time ends first",
			Live{Done: 10, Asked: 1000, Elapsed: 30 * time.Second, Limit: time.Minute},
			"10/1000 50%, 30s left | 0 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s",
		},
		{
			"nearly done, which is not 100%",
			Live{Done: 999, Asked: 1000, InFlight: 1, Elapsed: 999 * time.Second},
			"999/1000 99%, 1s left | 1 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s",
		},
		{
			"past its time, waiting for the last",
			Live{Done: 9, Elapsed: 70 * time.Second, Limit: time.Minute},
			"9 100%, 0s left | 0 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s",
		},
		{
			"a name with an escape code",
			Live{Scenario: "\x1b[2J\n"},
			`\x1b[2J\n 0 | 0 in flight | 0 failed | TTFT - | TPOT - | 0 req/s | 0 tok/s`,
		},
	} {
		require.Equal(t, c.want, Line(c.live), c.name)
	}
}
