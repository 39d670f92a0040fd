package wire

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// sum is what a capture comes to.
type sum struct {
	events, tokenEvents, reasoning int // data events, those with output, those with reasoning
	tokens                         int // tokens that events say they carry
	finish                         string
	input, output, cached          int64 // largest count, -1 where there is none
	usages                         int   // events with usage
	end                            bool
	failed                         string
}

func total(all []seen) (s sum) {
	s.input, s.output, s.cached = none, none, none
	for _, one := range all {
		e := one.Event
		s.events++
		if e.Answer || e.Reasoning {
			s.tokenEvents++
		}
		if e.Reasoning {
			s.reasoning++
		}
		s.tokens += e.Tokens
		if e.Finish != "" {
			s.finish = e.Finish
		}
		if e.HasUsage {
			s.usages++
			s.input, s.output, s.cached = max(s.input, e.Usage.Input), max(s.output, e.Usage.Output), max(s.cached, e.Usage.Cached)
		}
		s.end = s.end || e.End
		if e.Failed {
			s.failed = e.Error
		}
	}
	return s
}

// counted are sums taken from the files without this package: by a script of
// its own over the streams (Python's json, split at blank lines), by reading
// the answers in one piece. Events are "data:" lines or lines of NDJSON.
var counted = map[string]sum{
	// Role, 24 words, finish, usage, [DONE]; "prompt_tokens_details":{"cached_tokens":0}.
	"llamacpp-chat-stream-usage": {28, 24, 0, 0, "length", 15, 24, 0, 1, true, ""},
	// Four words, each with one entry in logprobs.content.
	"llamacpp-chat-stream-logprobs":  {8, 4, 0, 4, "length", 15, 4, 14, 1, true, ""},
	"llamacpp-chat-stream-one-token": {5, 1, 0, 0, "length", 15, 1, 14, 1, true, ""},
	// 24 words of reasoning and 21 of answer; the think marks' 3 tokens give no event.
	"llamacpp-think-chat-stream-usage": {49, 45, 24, 0, "length", 15, 48, 0, 1, true, ""},
	// Usage stands in the finish event, beside choices.
	"llamacpp-comp-stream-usage":        {26, 24, 0, 0, "length", 4, 24, 0, 1, true, ""},
	"llamacpp-comp-stream-token-prompt": {8, 6, 0, 0, "length", 4, 6, 0, 1, true, ""},
	// A success without any output.
	"llamacpp-comp-stream-empty-prompt": {2, 0, 0, 0, "length", 0, 0, 0, 1, true, ""},
	// 16 comments come before the first event and are none.
	"llamacpp-ping-long-prefill":    {8, 4, 0, 0, "length", 30009, 4, 0, 1, true, ""},
	"llamacpp-abort-during-prefill": {0, 0, 0, 0, "", none, none, none, 0, false, ""},
	"llamacpp-client-abort":         {6, 5, 0, 0, "", none, none, none, 0, false, ""},
	"llamacpp-chat-nonstream":       {1, 1, 0, 0, "length", 15, 24, 0, 1, false, ""},
	"llamacpp-think-chat-nonstream": {1, 1, 1, 0, "length", 15, 48, 14, 1, false, ""},
	"llamacpp-comp-nonstream":       {1, 1, 0, 0, "length", 4, 24, 3, 1, false, ""},
	"llmdsim-chat-stream-usage":     {17, 13, 0, 0, "stop", 11, 13, 0, 1, true, ""},
	// Nine pieces of a call; the last is in the event with the finish reason.
	"llmdsim-chat-stream-tools": {12, 9, 0, 0, "tool_calls", 11, 12, 0, 1, true, ""},
	// Two prompts, their words in turn.
	"llmdsim-comp-stream-batch-prompt": {10, 6, 0, 0, "length", 2, 6, 0, 1, true, ""},
	"llmdsim-comp-stream-usage":        {12, 9, 0, 0, "stop", 4, 9, 0, 1, true, ""},
	// Asked for usage, sends none; the fourth event ends in half of a surrogate pair.
	"mockllm-chat-stream-usage": {6, 5, 0, 0, "stop", none, none, none, 0, true, ""},
	"mockllm-err-429-in-stream": {1, 0, 0, 0, "", none, none, none, 0, false, "You exceeded your quota"},
	"ollama-chat-stream-usage":  {27, 24, 0, 0, "length", 15, 24, none, 1, true, ""},
	// Usage in each of five events is zeros, and true in the sixth.
	"ollama-comp-stream-echo": {7, 4, 0, 0, "length", 12, 4, none, 6, true, ""},
	// The limit is reached inside the reasoning.
	"ollama-think-chat-stream-off": {14, 11, 11, 0, "length", 15, 12, none, 1, true, ""},
	"ollama-native-chat-stream":    {7, 6, 0, 0, "length", 15, 6, none, 1, true, ""},
	// A clean end of the body, but no finish reason, usage or end mark.
	"ollama-truncated-stream-token-repeat": {31, 31, 0, 0, "", none, none, none, 0, false, ""},
	// The stop word cuts the last token; usage counts the end token too.
	"ollama-chat-stream-stopword": {7, 4, 0, 0, "stop", 15, 5, none, 1, true, ""},
}

// TestCaptures replays each capture in its own reads, in single bytes and in
// one block: the events are the same, and they are those counted before.
func TestCaptures(t *testing.T) {
	done := 0
	for _, c := range captures(t, "testdata/streams") {
		t.Run(c.name, func(t *testing.T) {
			if c.dialect == nil {
				require.NotContains(t, counted, c.name)
				return
			}
			all := threeCuts(t, c)
			want, ok := counted[c.name]
			require.True(t, ok)
			done++
			require.Empty(t, cmp.Diff(want, total(all), cmp.AllowUnexported(sum{})), "(-want +got)")
		})
	}
	require.Len(t, counted, done)
}

// TestAllCaptures replays those of a folder that is not part of the project.
func TestAllCaptures(t *testing.T) {
	const folder = "../../../shared/streams"
	if _, err := os.Stat(folder); err != nil {
		t.Skip("no such folder: ", folder)
	}
	replayed := 0
	for _, c := range captures(t, folder) {
		t.Run(c.name, func(t *testing.T) {
			if c.dialect != nil {
				threeCuts(t, c)
				replayed++
			} else if c.status >= 400 {
				require.NotEmpty(t, ErrorMessage([]byte(c.body())))
			}
		})
	}
	require.Greater(t, replayed, 90)
}

func threeCuts(t *testing.T, c *capture) []seen {
	all, end := c.replay(t, c.parts)
	require.Equal(t, c.cut, errors.Is(end, io.ErrUnexpectedEOF))
	require.Equal(t, !c.cut, end == io.EOF)
	for name, parts := range map[string][]string{"bytes": strings.Split(c.body(), ""), "block": {c.body()}} {
		got, gotEnd := c.replay(t, parts)
		require.Equal(t, end, gotEnd, name)
		require.Empty(t, cmp.Diff(all, got), "%s (-want +got)", name)
	}
	for _, one := range all { // the fast decoder against encoding/json
		if d, ok := c.dialect.(whole); c.dialect != Chat && c.dialect != Completions && (!ok || d.Dialect != Chat && d.Dialect != Completions) {
			continue
		}
		var want Event
		require.True(t, refOpenAI([]byte(one.Name), []byte(one.Data), &want))
		require.Empty(t, cmp.Diff(want, one.Event), "(-want +got)")
	}
	return all
}

// TestCapturedErrors has the messages of answers that are errors, and lists of models.
func TestCapturedErrors(t *testing.T) {
	messages := map[string]string{
		"llamacpp-err-too-long-prompt":   "request (40009 tokens) exceeds the available context size (2048 tokens), try increasing it",
		"llamacpp-err-wrong-type":        "Field 'max_tokens': [json.exception.type_error.302] type must be number, but is string",
		"llmdsim-queue-full-2":           "Failed to enqueue request, waiting requests queue is full",
		"llmdsim-err-404":                "Not Found",
		"llmdsim-inject-invalid_api_key": "Incorrect API key provided.",
		"ollama-err-bad-model":           "model 'no-such-model' not found",
	}
	models := map[string][]string{
		"llamacpp-models": {"tiny"}, "llmdsim-models": {"tiny", "tiny-alias"}, "mockllm-models": {"gpt-mock"}, "ollama-models": {"micro:latest", "tiny:latest", "tiny-think:latest"},
	}
	for _, c := range captures(t, "testdata/streams") {
		if want, ok := messages[c.name]; ok {
			require.GreaterOrEqual(t, c.status, 400)
			require.Equal(t, want, ErrorMessage([]byte(c.body())))
		}
		if want, ok := models[c.name]; ok {
			got, err := Models(bytes.TrimSpace([]byte(c.body())))
			require.NoError(t, err)
			require.Equal(t, want, got)
		}
	}
}
