package wire

import (
	"bytes"
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// step is one event of a stream, and what it carries by the API's documents.
type step struct {
	name, data string
	want       Event
}

var (
	quiet    = Event{}
	listed   = Event{Choices: true}
	answer   = Event{Choices: true, Answer: true, Outputs: 1}
	reasoned = Event{Choices: true, Reasoning: true, Outputs: 1}
	other    = Event{Choices: true, Answer: true, NotText: true, Outputs: 1}
	single   = Event{Choices: true, Answer: true, Outputs: 1, Choice: 1}
	called   = Event{Choices: true, Called: true}
)

func with(e Event, change func(*Event)) Event {
	change(&e)
	return e
}

func usage(input, output, cached, reasoning int64) func(*Event) {
	return func(e *Event) { e.HasUsage, e.Usage = true, Usage{input, output, cached, reasoning, none, none} }
}

// streams has, for each dialect, events in the form of its documentation.
var streams = map[Dialect][]step{
	Completions: {
		{"", `{"choices":[{"text":" a","index":0,"logprobs":null,"finish_reason":null}],"object":"text_completion"}`, single},
		{"", `{"choices":[{"text":"","index":0,"logprobs":null,"finish_reason":"length"}],"usage":{"completion_tokens":24,"prompt_tokens":4,"prompt_tokens_details":{"cached_tokens":0}}}`,
			with(Event{Choices: true, Finish: "length", Finished: 1, Choice: 1}, usage(4, 24, 0, none))},
		{"", `{"choices":[{"text":" a b","index":0,"logprobs":{"tokens":[" a"," b"],"token_logprobs":[-1,-2],"top_logprobs":[{},{}],"text_offset":[0,2]}}]}`,
			with(single, func(e *Event) { e.Tokens = 2 })},
		{"", `[DONE]`, Event{End: true}},
	},
	Responses: {
		{"response.created", `{"type":"response.created","response":{"id":"r","object":"response","status":"in_progress","error":null,"output":[],"usage":null}}`, quiet},
		{"response.output_item.added", `{"type":"response.output_item.added","output_index":0,"item":{"id":"rs","type":"reasoning","summary":[]}}`, listed},
		{"response.reasoning_text.delta", `{"type":"response.reasoning_text.delta","delta":"Hm"}`, reasoned},
		{"response.reasoning_summary_text.delta", `{"type":"response.reasoning_summary_text.delta","delta":"Hm"}`, reasoned},
		{"response.content_part.added", `{"type":"response.content_part.added","part":{"type":"output_text","text":"","annotations":[]}}`, listed},
		{"response.output_text.delta", `{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"Hi","logprobs":[{"token":"H"},{"token":"i"}]}`,
			with(answer, func(e *Event) { e.Tokens = 2 })},
		{"", `{"delta":"Hi","type":"response.output_text.delta"}`, answer},
		{"response.output_text.delta", `{"delta":""}`, listed},
		{"response.output_text.done", `{"type":"response.output_text.done","text":"Hi"}`, quiet},
		{"response.refusal.delta", `{"type":"response.refusal.delta","delta":"no"}`, answer},
		{"response.audio.delta", `{"type":"response.audio.delta","delta":"UklG"}`, other},
		{"response.output_item.added", `{"type":"response.output_item.added","item":{"type":"function_call","name":"f","arguments":""}}`, called},
		{"response.function_call_arguments.delta", `{"type":"response.function_call_arguments.delta","delta":"{"}`, other},
		{"response.output_item.done", `{"type":"response.output_item.done","item":{"type":"message","content":[{"type":"output_text","text":"Hi"}]}}`, listed},
		{"response.completed", `{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"error":null,"usage":{"input_tokens":37,"input_tokens_details":{"cached_tokens":5},"output_tokens":11,"output_tokens_details":{"reasoning_tokens":7}}}}`,
			with(Event{End: true, Finish: "completed"}, usage(37, 11, 5, 7))},
		{"response.incomplete", `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`, Event{End: true, Finish: "max_output_tokens"}},
		{"response.completed", `{"type":"response.completed","response":{"id":"r"}}`, Event{End: true}},
		{"response.completed", `{"type":"response.completed","response":{"error":{"message":"no"}}}`, Event{Failed: true, Error: "no"}},
		{"response.failed", `{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"The model failed."}}}`, Event{Failed: true, Error: "The model failed."}},
		{"error", `{"type":"error","code":"ERR","message":"Something went wrong","param":null}`, Event{Failed: true, Error: "Something went wrong"}},
		{"", `{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","summary":[{"type":"summary_text","text":"Hm"}]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1,"output_tokens":2}}`,
			with(Event{Choices: true, Answer: true, Reasoning: true, Outputs: 1, End: true, Finish: "completed"}, usage(1, 2, none, none))},
		{"", `{"object":"response","status":"incomplete","output":[{"type":"function_call","name":"f"}]}`, Event{Choices: true, Called: true, End: true, Finish: "incomplete"}},
		{"", `{"object":"response","status":"completed","output":[{"type":"function_call","name":"f","arguments":"{}"}]}`,
			Event{Choices: true, Called: true, Answer: true, NotText: true, Outputs: 1, End: true, Finish: "completed"}},
		{"response.output_audio.transcript.delta", `{"type":"response.audio.transcript.delta","delta":"Hi"}`, other},
		{"", `{"error":{"message":"no such model"}}`, Event{Failed: true, Error: "no such model"}},
	},
	Anthropic: {
		{"message_start", `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":10,"cache_read_input_tokens":5,"output_tokens":1}}}`,
			with(quiet, usage(40, none, 5, none))},
		{"content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`, listed},
		{"ping", `{"type":"ping"}`, quiet},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`, reasoned},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}`, listed},
		{"content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"Emw"}}`, reasoned},
		{"content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`, answer},
		{"", `{"index":0,"delta":{"text":"Hello"},"type":"content_block_delta"}`, answer},
		{"content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"get_weather","input":{}}}`, called},
		{"content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}`, listed},
		{"content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\":"}}`, other},
		{"content_block_stop", `{"type":"content_block_stop","index":0}`, quiet},
		{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}`,
			with(Event{Finish: "end_turn"}, usage(none, 15, none, none))},
		{"message_stop", `{"type":"message_stop"}`, Event{End: true}},
		{"error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Event{Failed: true, Error: "Overloaded"}},
		{"", `{"id":"m","type":"message","content":[{"type":"thinking","thinking":"Hm"},{"type":"text","text":"Hi"}],"stop_reason":"max_tokens","usage":{"input_tokens":3,"output_tokens":4}}`,
			with(Event{Choices: true, Answer: true, Reasoning: true, Outputs: 1, Finish: "max_tokens"}, usage(3, 4, none, none))},
		{"", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"f","input":{}}],"stop_reason":"tool_use"}`,
			Event{Choices: true, Called: true, Answer: true, NotText: true, Outputs: 1, Finish: "tool_use"}},
		{"", `{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"t","name":"f","input":{"city":"Oslo"}}],"stop_reason":"tool_use"}`,
			Event{Choices: true, Called: true, Answer: true, Outputs: 1, Finish: "tool_use"}},
		{"", `{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":null}`, answer},
		{"content_block_start", `{"type":"content_block_start","content_block":{"type":"server_tool_use","name":"f","input":{"q":"x"}}}`, with(other, func(e *Event) { e.Called = true })},
		{"message_delta", `{"type":"message_delta","delta":{"stop_reason":"abort"}}`, Event{Finish: "abort"}},
	},
	OllamaChat: {
		{"", `{"model":"m","message":{"role":"assistant","content":" a"},"done":false}`, answer},
		{"", `{"model":"m","message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}`, reasoned},
		{"", `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"city":"Oslo"}}}]},"done":false}`, with(other, func(e *Event) { e.Called = true })},
		{"", `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"now","arguments":{}}}]},"done":false}`, with(other, func(e *Event) { e.Called = true })},
		{"", `{"model":"m","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"now"}}]},"done":false}`, called},
		{"", `{"model":"m","message":{"role":"assistant","content":"ab"},"logprobs":[{"token":"a"},{"token":"b"}],"done":false}`, with(answer, func(e *Event) { e.Tokens = 2 })},
		{"", `{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"length","prompt_eval_count":15,"eval_count":6}`,
			with(Event{Choices: true, End: true, Finish: "length"}, usage(15, 6, none, none))},
		{"", `{"error":"model runner has unexpectedly stopped"}`, Event{Failed: true, Error: "model runner has unexpectedly stopped"}},
	},
	OllamaGenerate: {
		{"", `{"model":"m","response":" a","done":false}`, answer},
		{"", `{"model":"m","response":"","thinking":"Hm","done":false}`, reasoned},
		{"", `{"model":"m","response":"","done":true,"done_reason":"stop","context":[1,2],"eval_count":6}`, with(Event{Choices: true, End: true, Finish: "stop"}, usage(none, 6, none, none))},
	},
	TGI: {
		{"", `{"index":1,"token":{"id":5,"text":" a","logprob":-1.5,"special":false},"generated_text":null,"details":null}`, with(answer, func(e *Event) { e.Tokens = 1 })},
		{"", `{"index":2,"token":{"id":2,"text":"</s>","logprob":-1.5,"special":true},"generated_text":" a","details":{"finish_reason":"eos_token","generated_tokens":2,"seed":null,"input_length":9}}`,
			with(Event{Choices: true, Tokens: 1, End: true, Finish: "eos_token"}, usage(9, 2, none, none))},
		{"", `{"error":"Request failed during generation","error_type":"generation"}`, Event{Failed: true, Error: "Request failed during generation"}},
	},
	Embeddings: {
		{"", `{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.1,-2e-3]}],"model":"m","usage":{"prompt_tokens":8,"total_tokens":8}}`,
			with(Event{Choices: true, Answer: true, Outputs: 1, End: true}, usage(8, none, none, none))},
		{"", `{"data":[{"embedding":"AAAA"}],"usage":{"total_tokens":8}}`, with(Event{Choices: true, Answer: true, Outputs: 1, End: true}, usage(8, none, none, none))},
		{"", `{"object":"list","data":[]}`, Event{End: true}},
		{"", `{"data":[{"embedding":[]},{"embedding":null}]}`, Event{Choices: true, End: true}},
		{"", `{"object":"error","message":"too long"}`, Event{Failed: true, Error: "too long"}},
	},
	Rerank: {
		{"", `{"id":"r","model":"m","usage":{"total_tokens":56},"results":[{"index":0,"document":{"text":"a"},"relevance_score":0}]}`,
			with(Event{Choices: true, Answer: true, Outputs: 1, End: true}, usage(56, none, none, none))},
		{"", `{"results":[{"index":0,"relevance_score":0.9}],"meta":{"api_version":{"version":"2"},"billed_units":{"search_units":1},"tokens":{"input_tokens":30}}}`,
			with(Event{Choices: true, Answer: true, Outputs: 1, End: true}, usage(30, none, none, none))},
		{"", `[{"index":0,"score":0.9}]`, Event{Choices: true, Answer: true, Outputs: 1, End: true}},
		{"", `{"results":[{"index":0}]}`, Event{Choices: true, End: true}},
		{"", `{"message":"invalid request","error":{}}`, Event{Failed: true, Error: "invalid request"}},
	},
}

func TestDialects(t *testing.T) {
	for d, steps := range streams {
		for _, s := range steps {
			var got Event
			require.NoError(t, d.Decode([]byte(s.name), []byte(s.data), &got), "%s: %s", d.Name(), s.data)
			require.Empty(t, cmp.Diff(s.want, got), "%s: %s (-want +got)", d.Name(), s.data)
			if !s.want.Failed {
				data, name := []byte(s.data), []byte(s.name)
				require.Zero(t, testing.AllocsPerRun(20, func() {
					got = Event{}
					_ = d.Decode(name, data, &got)
				}), "%s: %s", d.Name(), s.data)
			}
		}
	}
}

// FuzzDialects: whatever comes, every dialect takes what is JSON of the right
// kind and refuses the rest, and says nothing that contradicts itself.
func FuzzDialects(f *testing.F) {
	for _, steps := range streams {
		for _, s := range steps {
			f.Add([]byte(s.name), []byte(s.data))
		}
	}
	for _, data := range hostile {
		f.Add([]byte(""), []byte(data))
	}
	f.Fuzz(func(t *testing.T, name, data []byte) {
		tree, valid := parseTree(data)
		for _, d := range all() {
			var e Event
			err := d.Decode(name, data, &e)
			trimmed := bytes.Trim(data, " \t\r\n")
			fine := string(name) == "error" || len(trimmed) == 0 || string(trimmed) == "[DONE]" && d != Rerank ||
				valid && (tree.kind == '{' || tree.kind == 'n' && tree.text == "null" || tree.kind == '[' && d == Rerank)
			require.Equal(t, fine, err == nil, "%s: %q: %v", d.Name(), data, err)
			if err != nil {
				continue
			}
			require.Equal(t, e.Answer || e.Reasoning, e.Outputs != 0, d.Name())
			require.Equal(t, e.Failed, e.Error != "", d.Name())
			require.True(t, !e.NotText || e.Answer && !e.Reasoning, d.Name())
			require.True(t, e.Finished == 0 || e.Finish != "", d.Name())
			require.LessOrEqual(t, len(e.Error), 500)
			require.LessOrEqual(t, len(e.Finish), maxReason)
			require.True(t, utf8.ValidString(e.Error+e.Finish))
			require.GreaterOrEqual(t, e.Tokens, 0)
			for _, n := range []int64{e.Usage.Input, e.Usage.Output, e.Usage.Cached, e.Usage.Reasoning, e.Usage.Audio, e.Usage.InputAudio} {
				require.GreaterOrEqual(t, n, int64(absent))
			}
		}
	})
}

func TestRegistry(t *testing.T) {
	require.Equal(t, []string{"chat", "completions", "responses", "anthropic", "ollama-chat", "ollama-generate", "tgi", "embeddings", "rerank"}, Names())
	for _, name := range Names() {
		d, ok := ByName(name)
		require.True(t, ok)
		require.Equal(t, name, d.Name())
		got, ok := ForPath(Base(d) + d.Path())
		require.True(t, ok)
		require.Equal(t, d, got)
	}
	_, ok := ByName("gopher")
	require.False(t, ok)
	for path, want := range map[string]Dialect{
		"/v1/chat/completions/": Chat, "/proxy/openai/v1/completions": Completions, "/api/chat": OllamaChat, "/v2/rerank": Rerank, "/generate_stream": TGI,
		"/v1": nil, "": nil, "/v1/models": nil, "/xcompletions": nil,
	} {
		got, ok := ForPath(path)
		require.Equal(t, want != nil, ok, path)
		require.Equal(t, want, got, path)
	}
	require.Equal(t, "/v1", Base(Chat))
	require.Equal(t, "", Base(Whole(OllamaChat)))
}

func TestWhole(t *testing.T) {
	d := Whole(Chat)
	require.Equal(t, "chat", d.Name())
	require.Equal(t, JSON, d.Framing())
	b, err := d.AppendBody(nil, &Request{Prompt: "hi", Stream: true})
	require.NoError(t, err)
	require.Equal(t, `{"messages":[{"role":"user","content":"hi"}]}`, string(b))
}

func TestBodies(t *testing.T) {
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	look := Message{Role: "user", Content: raw(`"look"`), Images: []Image{{Type: "image/jpeg", Data: []byte("abc")}}} // YWJj
	system := Message{Role: "system", Content: raw(`"be brief"`)}
	parts := Message{Role: "user", Content: raw(`[{"type":"image_url","image_url":{"url":"data:image/png;base64,YWJj"}},{"type":"text","text":"look"}]`)}
	tests := []struct {
		name string
		d    Dialect
		r    Request
		want string
	}{
		{"chat image", Chat, Request{Messages: []Message{look}},
			`{"messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/jpeg;base64,YWJj"}}]}]}`},
		{"completions", Completions, Request{Model: "m", Prompt: "a<b", MaxTokens: 3, Stream: true},
			`{"model":"m","prompt":"a<b","stream":true,"stream_options":{"include_usage":true},"max_tokens":3}`},
		{"completions of ids", Completions, Request{PromptIDs: []int{1, 20}}, `{"prompt":[1,20]}`},
		{"completions of several", Completions, Request{Inputs: []string{"a", "b"}}, `{"prompt":["a","b"]}`},
		{"responses", Responses, Request{Model: "m", Prompt: "hi", MaxTokens: 3, Stream: true}, `{"model":"m","input":"hi","stream":true,"max_output_tokens":3}`},
		{"responses parts", Responses, Request{Messages: []Message{system, parts}},
			`{"input":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,YWJj"},{"type":"input_text","text":"look"}]}]}`},
		{"anthropic", Anthropic, Request{Model: "m", Messages: []Message{system, look}, MaxTokens: 3, Stream: true},
			`{"model":"m","system":"be brief","messages":[{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"YWJj"}}]}],"stream":true,"max_tokens":3}`},
		{"anthropic image by address", Anthropic, Request{Messages: []Message{{Images: []Image{{URL: "https://x/y.png"}}}}},
			`{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://x/y.png"}}]}]}`},
		{"ollama", OllamaChat, Request{Model: "m", Messages: []Message{parts}, MaxTokens: 3, Stream: true},
			`{"model":"m","messages":[{"role":"user","content":"look","images":["YWJj"]}],"stream":true,"options":{"num_predict":3}}`},
		{"ollama options", OllamaChat, Request{MaxTokens: 3, Fields: map[string]json.RawMessage{"options": raw(`{"seed":7}`)}},
			`{"messages":[],"stream":false,"options":{"num_predict":3,"seed":7}}`},
		{"ollama own limit", OllamaGenerate, Request{Prompt: "a", MaxTokens: 3, Fields: map[string]json.RawMessage{"options": raw(`{"num_predict":9}`)}},
			`{"prompt":"a","stream":false,"options":{"num_predict":9}}`},
		{"ollama no options", OllamaGenerate, Request{Prompt: "a", MaxTokens: 3, Fields: map[string]json.RawMessage{"options": raw(`null`)}},
			`{"prompt":"a","stream":false}`},
		{"tgi", TGI, Request{Model: "m", Prompt: "a", MaxTokens: 3, Fields: map[string]json.RawMessage{"parameters": raw(`{"top_k":1}`)}},
			`{"inputs":"a","parameters":{"details":true,"max_new_tokens":3,"top_k":1}}`},
		{"embeddings", Embeddings, Request{Model: "m", Inputs: []string{"a"}}, `{"model":"m","input":["a"]}`},
		{"embedding", Embeddings, Request{Model: "m", Prompt: "a"}, `{"model":"m","input":"a"}`},
		{"rerank", Rerank, Request{Model: "m", Query: "q", Documents: []string{"a", "b"}, Fields: map[string]json.RawMessage{"top_n": raw("1")}},
			`{"model":"m","query":"q","documents":["a","b"],"top_n":1}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.d.AppendBody(nil, &test.r)
			require.NoError(t, err)
			require.Equal(t, test.want, string(got))
		})
	}
	say := []Message{{Content: raw(`"hi"`)}}
	for d, r := range map[Dialect]Request{
		Chat: {PromptIDs: []int{1}}, Completions: {Messages: say}, OllamaGenerate: {Messages: say}, TGI: {PromptIDs: []int{1}},
		OllamaChat: {Messages: []Message{{Images: []Image{{URL: "https://x/y.png"}}}}}, Anthropic: {Messages: []Message{{Images: []Image{{}}}}}, Rerank: {Fields: map[string]json.RawMessage{"": raw("[")}},
		Responses: {Messages: []Message{{Content: raw(`[1`)}}}, Embeddings: {Fields: map[string]json.RawMessage{"x": raw("{")}},
	} {
		_, err := d.AppendBody(nil, &r)
		require.Error(t, err, d.Name())
	}
}
