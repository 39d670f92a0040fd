package scenarios

import (
	"context"
	"os"
	"testing"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// anyModel sends random prompts of exact lengths, or, to a model whose
// tokenizer is not known, prompts that come with slogate: a first run against
// any server works, and says what exact lengths need. Lengths that were asked
// for are not given up so.
type anyModel struct {
	fixtures.Random
	logf func(format string, args ...any)
}

// Open implements perftest.Workload.
func (w anyModel) Open(ctx context.Context, run perftest.RunInfo) (perftest.Source, error) {
	source, err := w.Random.Open(ctx, run)
	if err == nil || w.TokenIDs {
		return source, err
	}
	for _, asked := range []string{"PERFTEST_TOKENIZER", "PERFTEST_INPUT_TOKENS", "PERFTEST_PREFIX_TOKENS"} {
		if os.Getenv(asked) != "" {
			return source, err
		}
	}
	w.logf("the built-in prompts are sent, of 10 to 150 tokens: %v", err)
	return fixtures.Builtin{Output: w.Output}.Open(ctx, run)
}

// A model without a known tokenizer gets the built-in prompts, unless lengths
// were asked for.
func TestAnyModel(t *testing.T) {
	w := anyModel{Random: fixtures.Random{Input: 100, Output: 8, IgnoreEOS: true}, logf: t.Logf}
	run := perftest.RunInfo{Model: "tiny", API: "chat", Nonce: 1}
	for _, name := range []string{"PERFTEST_TOKENIZER", "PERFTEST_INPUT_TOKENS", "PERFTEST_PREFIX_TOKENS"} {
		t.Setenv(name, "")
	}
	source, err := w.Open(t.Context(), run)
	require.NoError(t, err)
	request, err := source.Next()
	require.NoError(t, err)
	require.NotEmpty(t, request.Messages)
	require.Equal(t, 8, request.MaxTokens)
	require.Empty(t, request.Fields, "ignore_eos is not for every server")

	t.Setenv("PERFTEST_INPUT_TOKENS", "100")
	_, err = w.Open(t.Context(), run)
	require.ErrorContains(t, err, "PERFTEST_TOKENIZER")
}
