package client

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

func askOnce(t *testing.T, d wire.Dialect, answer string) *record.Record {
	t.Helper()
	srv := serve(t, false, func(p *peer) { p.request(); p.send(answer); p.request() })
	return do(t.Context(), start(t, Config{URL: srv.url, Dialect: d}).NewSlot(), Call{}, 0)
}

// An answer in one piece has a latency, and none of a stream's times.
func TestWholeAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		dialect wire.Dialect
		body    string
		want    seen
		says    string
	}{
		"embeddings": {wire.Embeddings, `{"data":[{"index":0,"embedding":[0.1,0.2]}],"usage":{"prompt_tokens":4,"total_tokens":4}}`,
			ok("(aue)", "", 1, 4, none), ""},
		"no vectors": {wire.Embeddings, `{"data":[],"usage":{"prompt_tokens":4,"total_tokens":4}}`,
			failed("empty", early, ok("(ue)", "", 0, 4, none)), "without any output"},
		"chat": {wire.Whole(wire.Chat), `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`,
			ok("(afu)", "stop", 1, 4, 2), ""},
		"error": {wire.Embeddings, `{"error":{"message":"no such model"}}`,
			failed("stream-error", early, ok("-", "", 0, none, none)), "no such model"},
		"HTML": {wire.Embeddings, `<html>hello</html>`,
			failed("malformed", early, ok("-", "", 0, none, none)), "<html>hello"},
		"nothing": {wire.Embeddings, "", failed("truncated", early, ok("", "", 0, none, none)), "after 0 events"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := askOnce(t, c.dialect, plainAnswer("200 OK", "Content-Type: application/json\r\n", c.body))
			require.Equal(t, c.want, see(rec), rec.Message)
			require.Contains(t, rec.Message, c.says)
			require.Equal(t, []int64{none, none, none, none, none, none},
				[]int64{rec.FirstEvent, rec.FirstToken, rec.SecondToken, rec.FirstAnswer, rec.LastToken, rec.MaxGap})
			require.GreaterOrEqual(t, rec.Done, rec.Headers)
		})
	}
}

// Anthropic tells the input's tokens at the start and the output's at the end.
func TestUsageInParts(t *testing.T) {
	rec := askOnce(t, wire.Anthropic, streamOf(
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n",
		"event: ping\ndata: {\"type\":\"ping\"}\n\n",
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n",
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\n",
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"))
	require.Empty(t, rec.Message)
	require.Equal(t, []int64{25, 15, none}, []int64{rec.InputTokens, rec.OutputTokens, rec.CachedTokens})
	require.Equal(t, "end_turn", rec.FinishReason)
	require.Equal(t, 1, rec.TokenEvents)
}

func TestTokensOfAnEvent(t *testing.T) {
	with := func(text, usage string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"}}],"usage":` + usage + "}\n\n"
	}
	counted := func(n string) string { return `{"prompt_tokens":3,"completion_tokens":` + n + `}` }
	for name, c := range map[string]struct {
		parts []string
		want  []int32
	}{
		"growth of usage":        {[]string{with("", counted("0")), with("a", counted("1")), with("b c d", counted("4")), stop, done}, []int32{0, 1, 3, 0, 0}},
		"zeros tell nothing":     {[]string{with("a", counted("0")), with("b", counted("0")), stop, use(3, 2), done}, []int32{0, 0, 0, 0, 0}},
		"usage in the last only": {[]string{with("a", "null"), with("b", counted("9")), stop, done}, []int32{0, 0, 0, 0}},
		"logprobs": {[]string{
			`data: {"choices":[{"index":0,"delta":{"content":"a b"},"logprobs":{"content":[{"token":"a"},{"token":" b"}]}}]}` + "\n\n", stop, done},
			[]int32{2, 0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			rec := askOnce(t, wire.Chat, streamOf(c.parts...))
			require.Empty(t, rec.Message)
			var got []int32
			for _, e := range rec.Events {
				got = append(got, e.Tokens)
			}
			require.Equal(t, c.want, got)
		})
	}
}
