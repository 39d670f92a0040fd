package perftest_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/fixtures/tokenizer"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

var _ perftest.Tokenizer = (*tokenizer.Tokenizer)(nil)

// words counts a token a word, as the simulated server does, times factor.
type words struct{ factor int }

func (w words) Count(text string) int { return w.factor * len(strings.Fields(text)) }

// counting is a run of 10 requests against a model of 100 ms to the first token
// and 10 ms for each further one, in a bubble.
func counting(t *testing.T, api perftest.API, request perftest.Request, tok perftest.Tokenizer, faults ...simserver.Kind) *perftest.Result {
	t.Helper()
	inResults(t)
	var res *perftest.Result
	synctest.Test(t, func(t *testing.T) {
		p := simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond}
		for _, kind := range faults {
			p.Faults = append(p.Faults, simserver.Fault{Kind: kind})
		}
		target := simserver.StartPipe(t, p).Target()
		target.API = api
		res = perftest.Run(t, perftest.Scenario{
			Target: target, Workload: same{request}, Load: perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 10},
			Warmup: perftest.Warmup{Requests: 2}, Tokenizer: tok,
		})
	})
	return res
}

func requestsOf(t *testing.T, res *perftest.Result) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(res.Dir, "requests.jsonl"))
	require.NoError(t, err)
	return string(data)
}

// Without usage the tokenizer counts: TPOT and token rates are there, and each
// count names its source.
func TestTokenizerInPlaceOfUsage(t *testing.T) {
	for _, c := range []struct {
		api     perftest.StandardAPI
		request perftest.Request
		input   int // 0: unknown
		faults  []simserver.Kind
	}{
		{perftest.Chat, perftest.Request{Prompt: "Once upon a time", MaxTokens: 8}, 0, nil},
		{perftest.Chat, perftest.Request{Prompt: "Once upon a time", MaxTokens: 8}, 0, []simserver.Kind{simserver.FourTokens}},
		{perftest.Completions, perftest.Request{Prompt: "Once upon a time", MaxTokens: 8}, 4, nil},
		{perftest.Completions, perftest.Request{PromptIDs: []int{5, 6, 7}, MaxTokens: 8}, 3, nil},
	} {
		t.Run(fmt.Sprint(c.api, len(c.request.PromptIDs), c.faults), func(t *testing.T) {
			res := counting(t, c.api, c.request, words{1}, append(c.faults, simserver.UsageNever)...)
			require.Equal(t, 10, res.Counts.Succeeded)
			require.Zero(t, res.Counts.NoUsage)
			require.Equal(t, perftest.Value(8), res.Metrics.OutputTokens.Mean)
			require.Equal(t, 10, res.Metrics.TPOT.Count)
			require.InDelta(t, 80/float64(res.Window), float64(res.Rates.Output), 1e-9)
			want := perftest.TokenizerInfo{Type: "perftest_test.words", Output: perftest.TokenCheck{Counted: 10}}
			if c.input > 0 {
				want.Input.Counted = 10
				require.Equal(t, perftest.Value(c.input), res.Metrics.InputTokens.Mean)
			} else {
				require.Zero(t, res.Metrics.InputTokens.Count, "nobody knows what a template adds")
			}
			if d := cmp.Diff(want, res.Tokenizer); d != "" {
				t.Errorf("counted (-want +got):\n%s", d)
			}
			require.Contains(t, strings.Join(res.Warnings, "\n"), "10 of 10 answers came without a token count (usage): the Tokenizer counted")
			require.Equal(t, 12, strings.Count(requestsOf(t, res), `"output_source":"tokenizer"`), "in the file too, warm-up included")

			again, err := perftest.ReadResult(res.Dir)
			require.NoError(t, err)
			require.Equal(t, res.Tokenizer, again.Tokenizer)
		})
	}
}

// Where both count, a difference of more than 1 %, and of more than the end
// token, is told.
func TestTokenizerChecksUsage(t *testing.T) {
	for name, c := range map[string]struct {
		tokens  int
		tok     words
		faults  []simserver.Kind
		output  perftest.TokenCheck
		warning string
	}{
		"equal":         {200, words{1}, nil, perftest.TokenCheck{Compared: 10, Usage: 2000, Tokenizer: 2000}, ""},
		"end token":     {20, words{1}, []simserver.Kind{simserver.UsageEndToken}, perftest.TokenCheck{Compared: 10, Usage: 210, Tokenizer: 200}, ""},
		"thoughts":      {20, words{1}, []simserver.Kind{simserver.ReasoningContent}, perftest.TokenCheck{Compared: 10, Usage: 200, Tokenizer: 200}, ""},
		"two choices":   {20, words{1}, []simserver.Kind{simserver.TwoChoices}, perftest.TokenCheck{}, ""}, // that nobody asked for
		"tool calls":    {20, words{1}, []simserver.Kind{simserver.ToolCalls}, perftest.TokenCheck{}, ""},
		"another model": {20, words{2}, nil, perftest.TokenCheck{Compared: 10, Differ: 10, Usage: 200, Tokenizer: 400}, "output tokens (usage) and the Tokenizer's differ by more than 1 % in 10 of 10 requests: 200 and 400 in all (+100.0 %)"},
		"fewer":         {20, words{0}, nil, perftest.TokenCheck{Compared: 10, Differ: 10, Usage: 200}, "200 and 0 in all (-100.0 %)"},
	} {
		t.Run(name, func(t *testing.T) {
			res := counting(t, perftest.Chat, perftest.Request{Prompt: "Once upon a time", MaxTokens: c.tokens}, c.tok, c.faults...)
			require.Equal(t, 10, res.Counts.Succeeded, res.Failures)
			if d := cmp.Diff(c.output, res.Tokenizer.Output); d != "" {
				t.Errorf("output (-want +got):\n%s", d)
			}
			require.Equal(t, c.output.Differ, res.Counts.TokenizerDiffers)
			all := strings.Join(res.Warnings, "\n")
			if c.warning == "" {
				require.NotContains(t, all, "Tokenizer")
			} else {
				require.Contains(t, all, c.warning)
			}
			require.NotContains(t, requestsOf(t, res), `"output_source":"tokenizer"`, "the server's count stands")
		})
	}
}

// The texts of several choices are counted each by itself.
func TestTokenizerOfChoices(t *testing.T) {
	two := perftest.Request{Prompt: "hello", MaxTokens: 8, Fields: map[string]json.RawMessage{"n": json.RawMessage("2")}}
	res := counting(t, perftest.Chat, two, words{1}, simserver.UsageNever)
	require.Equal(t, perftest.TokenCheck{Counted: 10}, res.Tokenizer.Output)
	require.Equal(t, perftest.Value(16), res.Metrics.OutputTokens.Mean)
}

// A test's own API says what its text is, or leaves the tokens uncounted. What
// wraps a standard one has its text.
func TestTokenizerWithAnOwnAPI(t *testing.T) {
	request := perftest.Request{Prompt: "hello", MaxTokens: 8}
	res := counting(t, shouting{perftest.Chat}, request, words{1}, simserver.UsageNever)
	require.Equal(t, perftest.TokenCheck{Counted: 10}, res.Tokenizer.Output)
	require.Equal(t, perftest.Value(8), res.Metrics.OutputTokens.Mean)
	res = counting(t, shouting{perftest.Chat}, request, words{1}, simserver.UsageNever, simserver.ReasoningContent)
	require.Equal(t, perftest.TokenCheck{Counted: 10}, res.Tokenizer.Output)
	require.Equal(t, perftest.Value(8), res.Metrics.OutputTokens.Mean)

	inResults(t)
	s := simserver.Start(t, simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.UsageNever}}})
	target := s.Target()
	target.API = struct{ perftest.API }{perftest.Chat} // without AppendText
	fatal := fatalOf(t, perftest.Scenario{Target: target, Workload: same{request}, Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 1}, Tokenizer: words{1}})
	require.Contains(t, fatal, "no usage")
}

// panicking is a tokenizer that fails at the third text.
type panicking struct{ calls int }

func (p *panicking) Count(text string) int {
	if p.calls++; p.calls > 2 {
		panic("no such merge")
	}
	return len(strings.Fields(text))
}

func TestTokenizerThatPanics(t *testing.T) {
	res := counting(t, perftest.Chat, perftest.Request{Prompt: "hello", MaxTokens: 8}, &panicking{}, simserver.UsageNever)
	require.Equal(t, 10, res.Counts.Succeeded)
	require.Equal(t, 10, res.Counts.NoUsage, "the two of the warm-up were counted")
	require.Contains(t, strings.Join(res.Warnings, "\n"), "the Tokenizer panicked, and was asked no more: no such merge")
}

// A tokenizer that takes its time holds up no request.
func TestTokenizerIsOffThePath(t *testing.T) {
	inResults(t)
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond, Faults: []simserver.Fault{{Kind: simserver.UsageNever}}})
		res := perftest.Run(t, perftest.Scenario{
			Target: s.Target(), Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 8},
			Load: perftest.Closed{KeepEnds: true, Concurrency: 4, Requests: 40}, Tokenizer: slow{},
		})
		require.Equal(t, 40, res.Counts.Succeeded)
		require.Equal(t, perftest.Value(0.170), res.Metrics.Response.Max)
		require.InDelta(t, 1.7, float64(res.Window), 1e-12)
		require.Equal(t, 40, res.Tokenizer.Output.Counted)
	})
}

type slow struct{}

func (slow) Count(text string) int {
	time.Sleep(time.Second)
	return len(strings.Fields(text))
}
