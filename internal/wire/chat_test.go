package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const none = absent

// chatEvents are events of the chat API with what they carry, worked out by hand.
var chatEvents = []struct {
	name, data string
	want       Event
}{
	{"content", `{"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":null}]}`,
		Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"spaces and reordered", " {\n\"choices\" : [ { \"finish_reason\" : null , \"delta\" : { \"content\" : \"Hi\" } , \"index\" : 1 } ] }\t",
		Event{Choices: true, Choice: 2, Answer: true, Outputs: 2}},
	{"role only", `{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`, Event{Choices: true, Choice: 1}},
	{"role with null", `{"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`, Event{Choices: true, Choice: 1}},
	{"blank is output", `{"choices":[{"index":0,"delta":{"content":" "}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"escape only", `{"choices":[{"index":0,"delta":{"content":"\n"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"half a pair", `{"choices":[{"index":0,"delta":{"content":"\ud83e"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"escaped key", `{"choices":[{"index":0,"delta":{"cont\u0065nt":"a"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"key in a string", `{"choices":[{"index":0,"delta":{"role":"\"content\":\"x\""}}]}`, Event{Choices: true, Choice: 1}},
	{"reasoning", `{"choices":[{"delta":{"reasoning":"a"}}]}`, Event{Choices: true, Choice: 1, Reasoning: true, Outputs: 1}},
	{"reasoning_content", `{"choices":[{"delta":{"content":"","reasoning_content":"a"}}]}`, Event{Choices: true, Choice: 1, Reasoning: true, Outputs: 1}},
	{"reasoning_details", `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":"a"}]}}]}`, Event{Choices: true, Choice: 1, Reasoning: true, Outputs: 1}},
	{"empty reasoning_details", `{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.text","text":""}]}}]}`, Event{Choices: true, Choice: 1}},
	{"both", `{"choices":[{"delta":{"content":"b","reasoning":"a"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Reasoning: true, Outputs: 1}},
	{"refusal", `{"choices":[{"delta":{"refusal":"no"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"audio", `{"choices":[{"delta":{"audio":{"id":"a","data":"UklG"}}}]}`, Event{Choices: true, Choice: 1, NotText: true, Answer: true, Outputs: 1}},
	{"audio without sound", `{"choices":[{"delta":{"audio":{"id":"a","expires_at":1}}}]}`, Event{Choices: true, Choice: 1}},
	{"tool name", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","type":"function","function":{"name":"f","arguments":""}}]}}]}`, Event{Choices: true, Choice: 1, Called: true}},
	{"tool arguments", `{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":null,"arguments":"{\"content\":\"x\"}"}}]}}]}`, Event{Choices: true, Choice: 1, NotText: true, Answer: true, Outputs: 1}},
	{"empty tool call", `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"arguments":""}}]}}]}`, Event{Choices: true, Choice: 1}},
	{"function_call", `{"choices":[{"delta":{"function_call":{"arguments":"{"}}}]}`, Event{Choices: true, Choice: 1, NotText: true, Answer: true, Outputs: 1}},
	{"parts", `{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]}]}}]}`, Event{Choices: true, Choice: 1, Reasoning: true, Outputs: 1}},
	{"logprobs hold no content", `{"choices":[{"delta":{},"logprobs":{"content":[{"token":"a","content":"x","top_logprobs":[{"token":"a"},{"token":"b"}]},{"token":"b"}]}}]}`,
		Event{Choices: true, Choice: 1, Tokens: 2}},
	{"token ids", `{"choices":[{"delta":{"content":"abc"},"token_ids":[1,2,3]}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1, Tokens: 3}},
	{"extension holds no content", `{"choices":[{"delta":{"x":{"content":"a"}},"y":{"delta":{"content":"b"}}}],"content":"c","delta":{"content":"d"}}`, Event{Choices: true, Choice: 1}},
	{"delta null", `{"choices":[{"index":0,"delta":null,"finish_reason":null}]}`, Event{Choices: true, Choice: 1}},
	{"choices null", `{"choices":null}`, Event{}},
	{"choices empty", `{"choices":[]}`, Event{}},
	{"choice null", `{"choices":[null]}`, Event{Choices: true}},
	{"null", `null`, Event{}},
	{"no data", ``, Event{}},
	{"done", `[DONE]`, Event{End: true}},
	{"call and text", `{"choices":[{"delta":{"content":"a","tool_calls":[{"function":{"arguments":"{"}}]}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"a call in one choice, text in another", `{"choices":[{"index":0,"delta":{"content":"a"}},{"index":1,"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}}]}`,
		Event{Choices: true, Answer: true, Outputs: 3}},
	{"calls in both choices", `{"choices":[{"index":1,"delta":{"tool_calls":[{"function":{"arguments":"{"}}]}},{"index":0,"delta":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]}`,
		Event{Choices: true, Answer: true, NotText: true, Called: true, Outputs: 3}},
	{"both choices finish, one of them badly", `{"choices":[{"index":0,"finish_reason":"stop"},{"index":1,"finish_reason":"error"}]}`, Event{Choices: true, Finish: "error", Finished: 3}},
	{"finish", `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}],"usage":null}`, Event{Choices: true, Choice: 1, Finished: 1, Finish: "length"}},
	{"finish with content", `{"choices":[{"index":0,"delta":{"content":"."},"finish_reason":"stop"}]}`, Event{Choices: true, Choice: 1, Finished: 1, Answer: true, Outputs: 1, Finish: "stop"}},
	{"odd finish", `{"choices":[{"finish_reason":"because\u000a"}]}`, Event{Choices: true, Choice: 1, Finished: 1, Finish: `because\n`}},
	{"two choices", `{"choices":[{"index":0,"delta":{}},{"index":2,"delta":{"content":"a"}},{"index":70,"delta":{"content":"a"}}]}`, Event{Choices: true, Answer: true, Outputs: 1<<2 | 1<<63}},
	{"usage", `{"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":4,"total_tokens":19,"prompt_tokens_details":{"cached_tokens":14,"audio_tokens":9},"completion_tokens_details":{"reasoning_tokens":3,"audio_tokens":2}}}`,
		Event{HasUsage: true, Usage: Usage{15, 4, 14, 3, 2, 9}}},
	{"usage without details", `{"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":4,"prompt_tokens_details":null}}`, Event{HasUsage: true, Usage: Usage{15, 4, none, none, none, none}}},
	{"usage of zeros", `{"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`,
		Event{Choices: true, Choice: 1, Answer: true, Outputs: 1, HasUsage: true, Usage: Usage{0, 0, none, none, none, none}}},
	{"usage in the choice", `{"choices":[{"delta":{},"finish_reason":"stop","usage":{"prompt_tokens":1,"completion_tokens":2,"cached_tokens":1}}]}`,
		Event{Choices: true, Choice: 1, Finished: 1, Finish: "stop", HasUsage: true, Usage: Usage{1, 2, 1, none, none, none}}},
	{"usage of groq", `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":1,"completion_tokens":2}}}`, Event{HasUsage: true, Usage: Usage{1, 2, none, none, none, none}}},
	{"usage of fractions", `{"usage":{"prompt_tokens":15.0,"completion_tokens":4e0}}`, Event{HasUsage: true, Usage: Usage{15, 4, none, none, none, none}}},
	{"usage of nonsense", `{"usage":{"prompt_tokens":-1,"completion_tokens":"4","total_tokens":null}}`, Event{}},
	{"whole answer", `{"object":"chat.completion","choices":[{"finish_reason":"length","index":0,"message":{"role":"assistant","content":"a","reasoning_content":"b"}}],"usage":{"completion_tokens":48,"prompt_tokens":15}}`,
		Event{Choices: true, Choice: 1, Finished: 1, Answer: true, Reasoning: true, Outputs: 1, Finish: "length", HasUsage: true, Usage: Usage{15, 48, none, none, none, none}}},
	{"error object", `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`, Event{Failed: true, Error: "You exceeded your quota"}},
	{"error text", `{"error":"busy"}`, Event{Failed: true, Error: "busy"}},
	{"error null", `{"error":null,"choices":[{"delta":{"content":"a"}}]}`, Event{Choices: true, Choice: 1, Answer: true, Outputs: 1}},
	{"error without message", `{"error":{}}`, Event{Failed: true, Error: `{"error":{}}`}},
	{"object error", `{"object":"error","message":"no such model","code":404}`, Event{Failed: true, Error: "no such model"}},
}

// hostile is text that is no JSON object, or just about one.
var hostile = []string{
	`{`, `}`, `{}`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{"a":1 "b":2}`, `[]`, `[1]`, `"[DONE]"`, `[DONE`, ` [DONE] `, `0`, `true`, `nul`, `nulll`, `null null`,
	`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":-0.5E-3}`, `{"a":tru}`, `{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u12"}`,
	"{\"a\":\"\x01\"}", "{\"a\":\"\t\"}", "{\"a\":\"\xff\xfe\"}", `{"a":"b`, `{"a":"b\`, `{"choices":[{]}`, `{"choices":[{}}`, "{}\x00", "\x00", "{}{}",
	`{"choices":[{"delta":{"content":"a"},"delta":{"content":""}}],"choices":[]}`, `{"usage":{"prompt_tokens":9999999999999999999}}`,
	`{"usage":{"prompt_tokens":1e999,"completion_tokens":0.9}}`, "<html><body>503</body></html>", strings.Repeat(`{"a":`, 210), strings.Repeat("[", 10000),
	`{"a":` + strings.Repeat("[", 199) + strings.Repeat("]", 199) + `}`, `{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
}

func TestChatDecode(t *testing.T) {
	for _, test := range chatEvents {
		t.Run(test.name, func(t *testing.T) {
			var got Event
			require.NoError(t, Chat.Decode(nil, []byte(test.data), &got))
			require.Empty(t, cmp.Diff(test.want, got), "(-want +got)")
		})
	}
	for _, data := range []string{`{"a":`, `"x"`, `[]`, `1`, `<html>`, `{} x`, `nope`, "\x00"} {
		require.Error(t, Chat.Decode(nil, []byte(data), new(Event)), "%q", data)
	}
	for data, want := range map[string]string{
		"busy": "busy", "": "error event without a message", "null": "null", `{"message":"busy"}`: "busy", `{"error":{"message":"busy"}}`: "busy",
	} {
		var got Event
		require.NoError(t, Chat.Decode([]byte("error"), []byte(data), &got))
		require.Equal(t, Event{Failed: true, Error: want}, got, "an event named error")
	}
}

func TestChatBody(t *testing.T) {
	say := []Message{{Role: "system", Content: json.RawMessage(`"a < b"`)}, {Content: json.RawMessage(`[{"type":"text","text":"x"}]`)}}
	const wantSay = `"messages":[{"role":"system","content":"a < b"},{"role":"user","content":[{"type":"text","text":"x"}]}]`
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	tests := []struct {
		name, want string
		r          Request
	}{
		{"least", `{"messages":[]}`, Request{}},
		{"all", `{"model":"m","` + wantSay[1:] + `,"stream":true,"stream_options":{"include_usage":true},"max_tokens":7}`,
			Request{Model: "m", Messages: say, Stream: true, MaxTokens: 7}},
		{"limit's name", `{"messages":[],"max_completion_tokens":7}`, Request{MaxTokens: 7, MaxTokensField: "max_completion_tokens"}},
		{"fields win, in order", `{"messages":[],"a\"b":[1],"max_tokens":9,"model":"n","temperature":0}`,
			Request{Model: "m", MaxTokens: 7, Fields: map[string]json.RawMessage{"temperature": raw("0"), "model": raw(`"n"`), "max_tokens": raw("9"), `a"b`: raw("[1]")}}},
		{"null removes", `{"model":"m"}`, Request{Model: "m", MaxTokens: 7, Fields: map[string]json.RawMessage{"messages": raw("null"), "max_tokens": raw(" null "), "x": nil}}},
		{"options off", `{"messages":[],"stream":true}`, Request{Stream: true, Fields: map[string]json.RawMessage{"stream_options": raw("null")}}},
		{"stream off takes options with it", `{"messages":[],"stream":false}`, Request{Stream: true, Fields: map[string]json.RawMessage{"stream": raw("false")}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Chat.AppendBody([]byte("before "), &test.r)
			require.NoError(t, err)
			require.Equal(t, "before "+test.want, string(got))
		})
	}
	for _, r := range []Request{
		{Fields: map[string]json.RawMessage{"x": raw(`{"a":`)}},
		{Messages: []Message{{Content: raw(`hello`)}}},
	} {
		_, err := Chat.AppendBody(nil, &r)
		require.Error(t, err)
	}
}

func TestDecodeAllocatesNothing(t *testing.T) {
	for _, test := range chatEvents {
		if test.want.Failed || strings.Contains(test.data, `\u00`) {
			continue
		}
		data := []byte(test.data)
		var e Event
		require.Zero(t, testing.AllocsPerRun(100, func() {
			e = Event{}
			_ = Chat.Decode(nil, data, &e)
		}), test.name)
	}
}
