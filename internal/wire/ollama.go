package wire

import (
	"errors"
	"strings"
)

// OllamaChat and OllamaGenerate are Ollama's own API, below the server's root.
// Source: https://docs.ollama.com/api. MaxTokens is options.num_predict.
var (
	OllamaChat     Dialect = ollama{name: "ollama-chat", path: "/api/chat"}
	OllamaGenerate Dialect = ollama{name: "ollama-generate", path: "/api/generate"}
)

type ollama struct{ name, path string }

func (o ollama) Name() string   { return o.name }
func (o ollama) Path() string   { return o.path }
func (ollama) Base() string     { return "" }
func (ollama) Framing() Framing { return NDJSON }

// AppendBody implements [Dialect].
func (d ollama) AppendBody(dst []byte, r *Request) ([]byte, error) {
	o := newBody(dst, r)
	if d.path == "/api/generate" {
		if len(r.Messages) > 0 || len(r.PromptIDs) > 0 || len(r.Inputs) > 0 {
			return nil, errors.New("ollama-generate takes a Prompt only")
		}
		o.set("prompt", r.Prompt)
	} else {
		list, err := messages(r, ollamaParts)
		if err != nil {
			return nil, err
		}
		for i := range list {
			if c, ok := list[i].Content.(ollamaContent); ok {
				list[i].Content, list[i].Images = c.text, c.images
			}
		}
		o.set("messages", list)
	}
	o.set("stream", r.Stream) // true is the server's default
	options := map[string]any{}
	if r.MaxTokens > 0 {
		options["num_predict"] = r.MaxTokens
	}
	o.nested("options", options)
	return o.end()
}

type ollamaContent struct {
	text   string
	images []string
}

func ollamaParts(_ string, parts []part) (any, error) {
	var c ollamaContent
	var text strings.Builder
	for _, p := range parts {
		if p.image == nil {
			text.WriteString(p.text)
			continue
		}
		_, data, ok := p.image.base64()
		if !ok {
			return nil, errors.New("images go to Ollama as Data, not by URL")
		}
		c.images = append(c.images, data)
	}
	c.text = text.String()
	return c, nil
}

// Decode implements [Dialect].
func (ollama) Decode(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	var out output
	u, failed := unknown, false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "message":
			e.Choices = true
			c.ollamaMessage(&out)
		case "response":
			e.Choices = true
			out.answer = c.text() || out.answer
		case "thinking":
			out.reasoning = c.text() || out.reasoning
		case "done":
			e.End = string(c.value()) == "true"
		case "done_reason":
			c.finish(e)
		case "prompt_eval_count":
			u.Input = c.count()
		case "eval_count":
			u.Output = c.count()
		case "logprobs":
			e.Tokens = c.items()
		case "error":
			failed = c.isError() || failed
		default:
			c.skip()
		}
	}
	e.set(u)
	e.put(out, 0)
	return c.close(failed, e)
}

func (c *cursor) ollamaMessage(o *output) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "content":
			o.answer = c.text() || o.answer
		case "thinking":
			o.reasoning = c.text() || o.reasoning
		case "tool_calls":
			c.toolCalls(o)
		default:
			c.skip()
		}
	}
}
