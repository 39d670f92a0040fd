package wire

import "errors"

// Completions is OpenAI's older API of texts that go on, which vLLM, SGLang
// and llama.cpp serve too; they also take token ids for a prompt. Source:
// https://platform.openai.com/docs/api-reference/completions.
var Completions Dialect = completions{}

type completions struct{}

func (completions) Name() string     { return "completions" }
func (completions) Path() string     { return "/completions" }
func (completions) Framing() Framing { return SSE }

// AppendBody implements [Dialect].
func (completions) AppendBody(dst []byte, r *Request) ([]byte, error) {
	if len(r.Messages) > 0 {
		return nil, errors.New("completions take a Prompt, PromptIDs or Inputs, no Messages")
	}
	o := newBody(dst, r)
	switch {
	case len(r.PromptIDs) > 0:
		o.set("prompt", r.PromptIDs)
	case len(r.Inputs) > 0:
		o.set("prompt", r.Inputs)
	default:
		o.set("prompt", r.Prompt)
	}
	o.stream(r)
	o.limit(r, "max_tokens")
	return o.end()
}

// Decode implements [Dialect].
func (d completions) Decode(name, data []byte, e *Event) error {
	_, err := d.decode(name, data, e)
	return err
}

func (completions) decode(name, data []byte, e *Event) (span, error) {
	return decodeOpenAI(name, data, e)
}
