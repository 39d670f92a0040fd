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
		"null for a finish reason": {wire.Whole(wire.Chat), `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":null}],"usage":{"prompt_tokens":4,"completion_tokens":2}}`,
			failed("truncated", early, ok("(au)", "", 1, 4, 2)), "after 1 events, without finish reason and end mark"},
		"null for a finish reason of a text": {wire.Whole(wire.Completions), `{"choices":[{"index":0,"text":"hi","finish_reason":null}]}`,
			failed("truncated", early, ok("a", "", 1, none, none)), "without finish reason"},
		"null for a stop reason": {wire.Whole(wire.Anthropic), `{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":null}`,
			failed("truncated", early, ok("a", "", 1, none, none)), "without finish reason"},
		"no output": {wire.Whole(wire.Chat), `{"choices":[{"index":0,"message":{"content":""},"finish_reason":null}]}`,
			failed("empty", early, ok("c", "", 0, none, none)), "without any output"},
		"aborted": {wire.Whole(wire.Chat), `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"abort"}]}`,
			failed("stream-error", early, ok("(af)", "abort", 1, none, none)), "finish reason abort"},
		"usage of zeros": {wire.Whole(wire.Chat), `{"choices":[{"index":0,"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`,
			ok("(afu)", "stop", 1, none, none), ""},
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
		"the end token":          {[]string{with("a", counted("1")), `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":` + counted("2") + "}\n\n", use(3, 2), done}, []int32{1, 1, 0, 0}},
		"half a character":       {[]string{with("a", counted("1")), with("", counted("2")), with("é", counted("3")), stop, done}, []int32{1, 1, 1, 0, 0}},
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

// Input tokens of message_delta may leave out what the cache had.
func TestUsageOfACache(t *testing.T) {
	start := "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_creation_input_tokens\":30,\"cache_read_input_tokens\":60,\"output_tokens\":1}}}\n\n"
	text := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"
	end := "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, usage := range []string{
		`{"output_tokens":15}`, `{"input_tokens":10,"output_tokens":15}`,
		`{"input_tokens":10,"cache_creation_input_tokens":30,"cache_read_input_tokens":60,"output_tokens":15}`,
	} {
		rec := askOnce(t, wire.Anthropic, streamOf(start, text,
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":"+usage+"}\n\n", end))
		require.Empty(t, rec.Message)
		require.Equal(t, []int64{100, 60, 15}, []int64{rec.InputTokens, rec.CachedTokens, rec.OutputTokens}, usage)
	}
}

// minus is an API of a user's own that says fewer than no tokens.
type minus struct{ wire.Dialect }

func (m minus) Decode(name, data []byte, e *wire.Event) error {
	err := m.Dialect.Decode(name, data, e)
	e.Tokens = -5
	return err
}

func TestTokensAreNotNegative(t *testing.T) {
	rec := askOnce(t, minus{wire.Chat}, streamOf(tok("a"), stop, done))
	for _, e := range rec.Events {
		require.Zero(t, e.Tokens)
	}
}

// Output that is no text is told apart from text.
func TestKindOfOutput(t *testing.T) {
	delta := func(fields string) string { return `data: {"choices":[{"index":0,"delta":{` + fields + "}}]}\n\n" }
	rec := askOnce(t, wire.Chat, streamOf(tok("a"), delta(`"tool_calls":[{"function":{"arguments":"{"}}]`),
		delta(`"content":"b","tool_calls":[{"function":{"arguments":"{"}}]`), delta(`"audio":{"data":"UklG"}`), delta(`"reasoning":"Hm"`), stop, done))
	var got []record.Kind
	for _, e := range rec.Events {
		got = append(got, e.Kind&(record.KindOutput|record.KindNotText))
	}
	const answer, other = record.KindAnswer, record.KindAnswer | record.KindNotText
	require.Equal(t, []record.Kind{answer, other, answer, other, record.KindReasoning, 0, 0}, got)
	require.Equal(t, 5, rec.TokenEvents)
}

// Lines of JSON that are none, in one block and byte by byte.
func TestLinesThatAreNone(t *testing.T) {
	const hi, end = `{"message":{"content":"hi"},"done":false}` + "\n", `{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":2}` + "\n"
	for name, c := range map[string]struct {
		body string
		want seen
		says string
	}{
		"as they should be":         {hi + end, ok("a(fue)", "stop", 1, 3, 2), ""},
		"spaces in front":           {"\n \r\n { " + hi[1:] + end, ok("a(fue)", "stop", 1, 3, 2), ""},
		"HTML":                      {"<html><body>\n<h1>Welcome</h1></body></html>", failed("malformed", early, ok("", "", 0, none, none)), `no event stream (Content-Type "text/x"): Welcome`},
		"HTML on one line":          {"<html>Welcome</html>", failed("malformed", early, ok("", "", 0, none, none)), "Welcome"},
		"text":                      {"come back later", failed("malformed", early, ok("-", "", 0, none, none)), "come back later"},
		"an error over lines":       {"{\n \"error\": \"no model\"\n}", failed("stream-error", early, ok("", "", 0, none, none)), "no model"},
		"an error over lines, CRLF": {" { \r\n\t\"error\": {\"message\": \"no model\"}\r\n}\r\n", failed("stream-error", early, ok("", "", 0, none, none)), "no model"},
		"an error on one line":      {`{"error":"no model"}`, failed("stream-error", early, ok("-", "", 0, none, none)), "no model"},
		"an answer over lines":      {"{\n \"message\": {\"content\": \"hi\"},\n \"done\": true\n}\n", failed("malformed", early, ok("", "", 0, none, none)), "the server did not stream"},
		"cut":                       {hi + end[:20], failed("truncated", later, ok("a-", "", 1, none, none)), "ended inside an event"},
		"cut in the first":          {hi[:20], failed("truncated", early, ok("-", "", 0, none, none)), "ended inside an event"},
		"cut at once":               {"{", failed("truncated", early, ok("-", "", 0, none, none)), "ended inside an event"},
	} {
		for _, size := range []int{1, 1 << 20} {
			t.Run(name, func(t *testing.T) {
				answer := plainAnswer("200 OK", "Content-Type: text/x\r\n", c.body)
				srv := serve(t, false, func(p *peer) { p.request(); p.send(cutAll(answer, size)...); p.request() })
				rec := do(t.Context(), start(t, Config{URL: srv.url, Dialect: wire.OllamaChat}).NewSlot(), Call{}, 0)
				require.Equal(t, c.want, see(rec), rec.Message)
				require.Contains(t, rec.Message, c.says)
			})
		}
	}
}
