package assert_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
)

func ExampleMLPerf() {
	for _, slo := range assert.MLPerf("llama3.1-8b", assert.MLPerfInteractive) {
		fmt.Println(slo)
	}
	// Output:
	// TTFT p99 <= 500ms
	// TPOT p99 <= 30ms
}

func ExampleInteractivity() {
	for _, slo := range assert.Interactivity() {
		fmt.Println(slo)
	}
	// Output:
	// TTFT p99 < 1s
	// TPOT mean < 50ms
}

// The table as it was read at its source, in milliseconds.
func TestMLPerfPresets(t *testing.T) {
	want := map[string]string{
		"llama2-70b server": "2s/200ms", "llama2-70b interactive": "450ms/40ms",
		"llama3.1-405b server": "6s/175ms", "llama3.1-405b interactive": "4.5s/80ms",
		"llama3.1-8b server": "2s/100ms", "llama3.1-8b interactive": "500ms/30ms",
		"mixtral-8x7b server": "2s/200ms",
		"deepseek-r1 server":  "2s/80ms", "deepseek-r1 interactive": "1.5s/15ms",
		"gpt-oss-120b server": "3s/80ms", "gpt-oss-120b interactive": "2s/15ms",
		"qwen3-vl-235b server": "0s/0s/12s",
	}
	got := map[string]string{}
	for _, p := range assert.MLPerfPresets() {
		require.NotEmpty(t, p.Source)
		limits := fmt.Sprintf("%v/%v", p.TTFT, p.TPOT)
		if p.Latency > 0 {
			limits += fmt.Sprintf("/%v", p.Latency)
		}
		got[p.Name+" "+string(p.Constraint)] = limits
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	require.Len(t, assert.MLPerf("Qwen3-VL-235B", assert.MLPerfServer), 1)
	require.PanicsWithValue(t, `assert.MLPerf: there are no limits for model "mixtral-8x7b", constraint "interactive": use one of deepseek-r1 interactive, deepseek-r1 server, `+
		`gpt-oss-120b interactive, gpt-oss-120b server, llama2-70b interactive, llama2-70b server, llama3.1-405b interactive, llama3.1-405b server, llama3.1-8b interactive, llama3.1-8b server, `+
		`mixtral-8x7b server, qwen3-vl-235b server`, func() { assert.MLPerf("mixtral-8x7b", assert.MLPerfInteractive) })
}
