package wire

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// gathered is the text of an answer, a string a choice.
type gathered struct {
	Texts   []string
	Partial bool
}

func gather(d Dialect, choices int, events ...string) (g gathered) {
	var t Text
	t.Reset(choices)
	reader, ok := AsTexter(d)
	if !ok {
		return g
	}
	for _, e := range events {
		name, data, _ := strings.Cut(e, "|")
		reader.AppendText(&t, []byte(name), []byte(data))
	}
	for _, text := range t.Choices {
		g.Texts = append(g.Texts, string(text))
	}
	g.Partial = t.Partial
	return g
}

// The texts of each dialect's events, as a reader of its documentation would
// put them together.
func TestTexts(t *testing.T) {
	for name, c := range map[string]struct {
		dialect Dialect
		choices int
		events  []string
		want    gathered
	}{
		"chat": {Chat, 1, []string{
			`|{"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
			`|{"choices":[{"index":0,"delta":{"reasoning_content":"Hm, "}}]}`,
			`|{"choices":[{"index":0,"delta":{"content":"A \"quoted\"\n"}}]}`,
			`|{"choices":[{"index":0,"delta":{"content":null,"refusal":"no"}}]}`,
			`|{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":5}}`,
			`|[DONE]`,
		}, gathered{[]string{"Hm, A \"quoted\"\nno"}, false}},
		"thoughts under two names are the same": {Chat, 1, []string{
			`|{"choices":[{"delta":{"reasoning":"Hm","reasoning_content":"Hm","reasoning_details":[{"type":"reasoning.text","text":"Hm"}]}}]}`,
		}, gathered{[]string{"Hm"}, false}},
		"thoughts in details": {Chat, 1, []string{`|{"choices":[{"delta":{"reasoning_details":[{"text":"H"},{"text":"m"}],"reasoning":"Hm"}}]}`}, gathered{[]string{"Hm"}, false}},
		"encrypted thoughts":  {Chat, 1, []string{`|{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"AAAA"}]}}]}`}, gathered{[]string{""}, true}},
		"Mistral's parts":     {Chat, 1, []string{`|{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hm"}]},{"type":"text","text":"Hi"}]}}]}`}, gathered{[]string{"HmHi"}, false}},
		"choices in turn": {Chat, 2, []string{
			`|{"choices":[{"index":0,"delta":{"content":"a"}}]}`,
			`|{"choices":[{"delta":{"content":"x"},"index":1},{"index":0,"delta":{"content":"b"}}]}`,
			`|{"choices":[{"index":1,"delta":{"content":"y"}}]}`,
		}, gathered{[]string{"ab", "xy"}, false}},
		"a choice that nobody asked for": {Completions, 1, []string{`|{"choices":[{"index":0,"text":"a"},{"index":1,"text":"x"}]}`}, gathered{[]string{"a"}, true}},
		"a call":                         {Chat, 1, []string{`|{"choices":[{"delta":{"content":"a","tool_calls":[{"function":{"name":"f","arguments":"{}"}}]}}]}`}, gathered{[]string{"a"}, true}},
		"audio":                          {Chat, 1, []string{`|{"choices":[{"delta":{"audio":{"data":"UklG"}}}]}`}, gathered{[]string{""}, true}},
		"whole chat": {Whole(Chat), 1, []string{
			`|{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi","reasoning_content":"Hm"}}]}`,
		}, gathered{[]string{"HmHi"}, false}},
		"completions": {Completions, 1, []string{`|{"choices":[{"text":" a","index":0}]}`, `|{"choices":[{"text":" \ud83d\ude42","index":0}]}`}, gathered{[]string{" a 🙂"}, false}},
		"responses": {Responses, 1, []string{
			`response.reasoning_text.delta|{"type":"response.reasoning_text.delta","delta":"Hm"}`,
			`response.output_text.delta|{"type":"response.output_text.delta","delta":"Hi","logprobs":[{"token":"Hi"}]}`,
			`|{"delta":" there","type":"response.output_text.delta"}`,
			`response.output_text.done|{"type":"response.output_text.done","text":"Hi there"}`,
			`response.refusal.delta|{"type":"response.refusal.delta","delta":"no"}`,
			`response.completed|{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi there"}]}]}}`,
		}, gathered{[]string{"HmHi thereno"}, false}},
		"a summary of thoughts": {Responses, 1, []string{`|{"type":"response.reasoning_summary_text.delta","delta":"Hm"}`}, gathered{[]string{""}, true}},
		"arguments":             {Responses, 1, []string{`|{"type":"response.function_call_arguments.delta","delta":"{"}`}, gathered{[]string{""}, true}},
		"whole response": {Whole(Responses), 1, []string{
			`|{"object":"response","output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm"}],"summary":[]},{"type":"message","content":[{"type":"output_text","text":"Hi"}]}]}`,
		}, gathered{[]string{"HmHi"}, false}},
		"anthropic": {Anthropic, 1, []string{
			`content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":""}}`,
			`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm"}}`,
			`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQB"}}`,
			`content_block_delta|{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}`,
			`message_delta|{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":15}}`,
		}, gathered{[]string{"HmHi"}, false}},
		"redacted thoughts": {Anthropic, 1, []string{`content_block_start|{"type":"content_block_start","content_block":{"type":"redacted_thinking","data":"Emw"}}`}, gathered{[]string{""}, true}},
		"whole message":     {Whole(Anthropic), 1, []string{`|{"type":"message","content":[{"type":"text","text":"Hi"},{"type":"thinking","thinking":"Hm"}]}`}, gathered{[]string{"HiHm"}, false}},
		"ollama-chat": {OllamaChat, 1, []string{
			`|{"message":{"role":"assistant","content":"","thinking":"Hm"},"done":false}`,
			`|{"message":{"content":" a"},"done":false}`,
			`|{"message":{"content":""},"done":true,"eval_count":6}`,
		}, gathered{[]string{"Hm a"}, false}},
		"ollama-generate": {OllamaGenerate, 1, []string{`|{"response":" a","done":false}`, `|{"response":"","thinking":"Hm"}`}, gathered{[]string{" aHm"}, false}},
		"tgi": {TGI, 1, []string{
			`|{"token":{"id":5,"text":" a","special":false}}`,
			`|{"token":{"id":2,"text":"</s>","special":true},"generated_text":" a"}`,
		}, gathered{[]string{" a"}, false}},
		"embeddings have none": {Embeddings, 1, []string{`|{"data":[{"embedding":"AAAA"}]}`}, gathered{}},
		"an error":             {Chat, 1, []string{`error|{"message":"no"}`, `|{"error":{"message":"no"}}`}, gathered{[]string{""}, false}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, gather(c.dialect, c.choices, c.events...)); d != "" {
				t.Errorf("text (-want +got):\n%s", d)
			}
		})
	}
}

func TestTextIsBounded(t *testing.T) {
	var x Text
	x.Reset(2)
	big := make([]byte, maxGathered/2)
	x.Add(0, big)
	x.Add(1, big)
	require.False(t, x.Partial)
	x.Add(1, []byte("a"))
	require.True(t, x.Partial)
	require.Len(t, x.Choices[1], len(big))
	x.Reset(1)
	x.Add(0, []byte("a"))
	require.Equal(t, [][]byte{[]byte("a")}, x.Choices)
	require.False(t, x.Partial)
}

// What Decode takes for output has a text, or is told not to have one.
func FuzzTexts(f *testing.F) {
	for d, steps := range streams {
		for _, s := range steps {
			f.Add(s.name, []byte(s.data))
		}
		_ = d
	}
	f.Add("", []byte(`{"choices":[{"text":"\ud83d\ude42\ud83dx\u00e9\"\\\/\b\f\n\r\t"}]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, d := range all() {
			reader, ok := AsTexter(d)
			if !ok {
				continue
			}
			var text Text
			text.Reset(64)
			reader.AppendText(&text, []byte(name), data)
			var e Event
			if d.Decode([]byte(name), data, &e) != nil || !e.Answer && !e.Reasoning {
				continue
			}
			if text.size == 0 && !text.Partial {
				t.Fatalf("%s: output without a text: %q %q", d.Name(), name, data)
			}
		}
	})
}

// Strings are read as encoding/json reads them.
func FuzzUnquote(f *testing.F) {
	for _, s := range []string{`a`, `\ud83d\ude42`, `\ud83d\ud83d\ude42`, `\ude42x`, `\ud83d\n`, `\u0000\u00E9\uFFFD`, `\"\\\/\b\f\n\r\t`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		quoted := append(append([]byte{'"'}, raw...), '"')
		if !utf8.Valid(raw) || json.Unmarshal(quoted, &want) != nil {
			return
		}
		c := cursor{b: quoted}
		if got := string(c.appendText(nil)); got != want {
			t.Fatalf("%q: got %q, want %q", raw, got, want)
		}
	})
}

// The answer is kept without the thoughts before it, and of the first choice.
func TestTextAnswer(t *testing.T) {
	var x Text
	x.Reset(2)
	for _, data := range []string{
		`{"choices":[{"index":0,"delta":{"reasoning_content":"Hm"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"He"}},{"index":1,"delta":{"content":"No"}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"llo\n"}}]}`,
	} {
		Chat.(Texter).AppendText(&x, nil, []byte(data))
	}
	require.Equal(t, "Hello\n", string(x.Answer))
	require.Equal(t, "HmHello\n", string(x.Choices[0]))
	x.Reset(1)
	require.Empty(t, x.Answer)
}
