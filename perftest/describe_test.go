package perftest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDescribe(t *testing.T) {
	type inner struct {
		Wait time.Duration
		Key  Secret
	}
	for want, v := range map[string]any{
		`{"arrivals":{"shape":2,"type":"perftest.Gamma"},"at_bound":"drop","cancel":{"after_s":1.5,"share":0.1},"drain":{"after_s":0,"cancel":false},"duration_s":60,"in_flight":8,"prefill_concurrency":0,"rate":2.5,"requests":0}`: Open{
			Rate: 2.5, Arrivals: Gamma{Shape: 2}, Duration: time.Minute, InFlight: 8, AtBound: DropAtBound, Cancel: Cancel{0.1, 1500 * time.Millisecond}},
		`{"key":"[redacted]","wait_s":0.25}`: inner{250 * time.Millisecond, "sk-hidden"},
		`{"ignore_eos":null,"token_ids":false,"ttft":[1,2]}`: struct {
			IgnoreEOS float64
			TTFT      []int
			TokenIDs  bool
			F         func() `json:"-"`
		}{IgnoreEOS: math.Inf(1), TTFT: []int{1, 2}},
		`null`: nil,
	} {
		require.JSONEq(t, want, string(describe(v)))
	}
	long := func(with byte) string {
		return string(describe(struct{ Prompt string }{strings.Repeat(string(with), maxDescription)}))
	}
	require.Regexp(t, `^{"sha256":"[0-9a-f]{64}"}$`, long('a'))
	require.NotEqual(t, long('a'), long('b'))
}
