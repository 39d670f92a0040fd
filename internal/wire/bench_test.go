package wire

import (
	"encoding/json"
	"testing"
)

// BenchmarkDecode is the cost of a content event, in full and as one that is like
// the one before, beside encoding/json into
// the structs that a usual client has.
func BenchmarkDecode(b *testing.B) {
	data := []byte(`{"id":"chatcmpl-a01127f0-6bdf-5420-b56f-eeb5a3684f76","object":"chat.completion.chunk","created":1795957803,"model":"tiny","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}`)
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		e := new(Event)
		for b.Loop() {
			*e = Event{}
			if Chat.Decode(nil, data, e) != nil || !e.Answer {
				b.Fatal(e)
			}
		}
	})
	b.Run("repeat", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		x, e := NewDecoder(Chat), new(Event)
		for b.Loop() {
			*e = Event{}
			if x.Decode(nil, data, e) != nil || !e.Answer {
				b.Fatal(e)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		b.ReportAllocs()
		for b.Loop() {
			var v struct {
				Choices []struct {
					Index int
					Delta struct {
						Content   *string
						Reasoning *string
					}
					FinishReason *string `json:"finish_reason"`
				}
				Usage *struct{ PromptTokens, CompletionTokens int }
			}
			if json.Unmarshal(data, &v) != nil || *v.Choices[0].Delta.Content == "" {
				b.Fatal(v)
			}
		}
	})
}
