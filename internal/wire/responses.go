package wire

import "bytes"

// Responses is OpenAI's Responses API, as vLLM, llama.cpp and Ollama serve it
// too. Source: https://platform.openai.com/docs/api-reference/responses-streaming.
//
// Output is what the ".delta" events add; the ".done" events and
// response.completed repeat it and carry none. Choices is set for
// every event that belongs to an item of the output.
var Responses Dialect = responses{}

type responses struct{}

func (responses) Name() string     { return "responses" }
func (responses) Path() string     { return "/responses" }
func (responses) Framing() Framing { return SSE }

// AppendBody implements [Dialect].
func (responses) AppendBody(dst []byte, r *Request) ([]byte, error) {
	list, err := messages(r, responsesParts)
	if err != nil {
		return nil, err
	}
	o := newBody(dst, r)
	if len(r.Messages) == 0 && r.Prompt != "" {
		o.set("input", r.Prompt)
	} else {
		o.set("input", list)
	}
	if r.Stream {
		o.set("stream", true)
	}
	o.limit(r, "max_output_tokens")
	return o.end()
}

// responsesParts writes the parts of a content as this API names them.
func responsesParts(role string, parts []part) (any, error) {
	kind := "input_text"
	if role == "assistant" {
		kind = "output_text"
	}
	for i := range parts {
		switch p := &parts[i]; {
		case p.image != nil:
			p.raw = struct {
				Type string `json:"type"`
				URL  string `json:"image_url"`
			}{"input_image", p.image.url()}
		case p.text != "":
			p.raw = textPart{kind, p.text}
		}
	}
	return raws(parts), nil
}

// Decode implements [Dialect].
func (responses) Decode(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	kind := c.typed(name)
	delta := bytes.HasSuffix(kind, []byte(".delta"))
	e.Choices = delta || bytes.HasPrefix(kind, []byte("response.output_item.")) || bytes.HasPrefix(kind, []byte("response.content_part."))
	whole := len(kind) == 0
	failed := string(kind) == "error" || string(kind) == "response.failed"
	if whole { // the answer itself, not streamed
		failed = c.response(e, true) || failed
		return c.close(failed, e)
	}
	var out output
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch key := c.key(); {
		case delta && string(key) == "delta":
			found := c.content().any()
			switch {
			case bytes.Contains(kind, []byte("reasoning")):
				out.reasoning = out.reasoning || found
			case string(kind) == "response.output_text.delta", string(kind) == "response.refusal.delta":
				out.answer = out.answer || found
			default: // a call's arguments, audio
				out.other = out.other || found
			}
		case delta && string(key) == "logprobs":
			e.Tokens = c.items()
		case string(key) == "item" && string(kind) == "response.output_item.added":
			out.called = c.named() || out.called
		case string(key) == "response" && (ends(kind) || failed):
			failed = c.response(e, false) || failed
		default:
			c.skip()
		}
	}
	e.End = ends(kind) && !failed // also without a status
	if failed {
		e.Finish = ""
	}
	e.put(out, 0)
	return c.close(failed, e)
}

// ends reports whether an event of this type is the end of a stream.
func ends(kind []byte) bool {
	switch string(kind) {
	case "response.completed", "response.incomplete":
		return true
	}
	return false
}

// response reads a response object, which is complete, and reports whether it
// is an error. Its output counts only if it is the whole answer.
func (c *cursor) response(e *Event, whole bool) (failed bool) {
	if !c.object() {
		return false
	}
	var status, why []byte
	var out output
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "status":
			status = c.string()
		case "incomplete_details":
			why = c.field("reason")
		case "usage":
			c.usage(e)
		case "error":
			failed = c.isError() || failed
		case "output":
			if !whole || !c.list() {
				if !whole {
					c.skip()
				}
				continue
			}
			for ok := c.enter('['); ok; ok = c.next(']') {
				e.Choices = true
				out.add(c.outputItem())
			}
		default:
			c.skip()
		}
	}
	switch string(status) {
	case "completed":
		e.End, e.Finish = true, "completed"
	case "incomplete":
		e.End, e.Finish = true, "incomplete"
		if len(why) > 0 {
			e.Finish = reason(why)
		}
	case "failed", "cancelled":
		failed = true
	}
	e.put(out, 0)
	return failed
}

// outputItem reads an item of a whole answer's output.
func (c *cursor) outputItem() (o output) {
	if !c.object() {
		return o
	}
	reasoning := string(c.typed(nil)) == "reasoning"
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "content", "summary":
			found := c.content().any()
			o.reasoning = o.reasoning || found && reasoning
			o.answer = o.answer || found && !reasoning
		case "name":
			o.called = c.text() || o.called
		case "arguments", "input":
			o.other = c.text() || o.other
		default:
			c.skip()
		}
	}
	return o
}

// named reads an object and reports whether it has a name.
func (c *cursor) named() bool { return len(c.field("name")) > 0 }

// field reads an object and gives the raw inside of a string field of it.
func (c *cursor) field(name string) (raw []byte) {
	if !c.object() {
		return nil
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) == name {
			raw = c.string()
		} else {
			c.skip()
		}
	}
	return raw
}
