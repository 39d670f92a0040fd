package wire

import "errors"

// TGI is generate_stream of Hugging Face's Text Generation Inference, below
// the server's root. Source: https://huggingface.co/docs/text-generation-inference/reference/api_reference.
//
// Each event is one token. A special token (the end token) is no output, nor
// is one without text; details, which are asked for, count them.
var TGI Dialect = tgi{}

type tgi struct{}

func (tgi) Name() string     { return "tgi" }
func (tgi) Path() string     { return "/generate_stream" }
func (tgi) Base() string     { return "" }
func (tgi) Framing() Framing { return SSE }

// AppendBody implements [Dialect]. MaxTokens is parameters.max_new_tokens. The
// server has one model, whose name is not sent.
func (tgi) AppendBody(dst []byte, r *Request) ([]byte, error) {
	if len(r.Messages) > 0 || len(r.PromptIDs) > 0 || len(r.Inputs) > 0 {
		return nil, errors.New("tgi takes a Prompt only")
	}
	plain := *r
	plain.Model = ""
	o := newBody(dst, &plain)
	o.set("inputs", r.Prompt)
	parameters := map[string]any{"details": true}
	if r.MaxTokens > 0 {
		parameters["max_new_tokens"] = r.MaxTokens
	}
	o.nested("parameters", parameters)
	return o.end()
}

// Decode implements [Dialect].
func (tgi) Decode(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	var out output
	failed := false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "token":
			c.tgiToken(&out, e)
		case "generated_text":
			e.End = c.string() != nil
		case "details":
			c.tgiDetails(e)
		case "error":
			failed = c.isError() || failed
		default:
			c.skip()
		}
	}
	e.put(out, 0)
	return c.close(failed, e)
}

func (c *cursor) tgiToken(o *output, e *Event) {
	if !c.object() {
		return
	}
	e.Choices, e.Tokens = true, 1
	text, special := false, false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "text":
			text = c.text()
		case "special":
			special = string(c.value()) == "true"
		default:
			c.skip()
		}
	}
	o.answer = text && !special
}

func (c *cursor) tgiDetails(e *Event) {
	if !c.object() {
		return
	}
	u := unknown
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "finish_reason":
			c.finish(e)
		case "generated_tokens":
			u.Output = c.count()
		case "input_length":
			u.Input = c.count()
		default:
			c.skip()
		}
	}
	e.set(u)
}
