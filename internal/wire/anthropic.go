package wire

import "strings"

// Anthropic is Anthropic's Messages API, as vLLM, SGLang and llama.cpp serve
// it too. Source: https://docs.anthropic.com/en/api/messages-streaming.
//
// The API insists on MaxTokens. Its input_tokens leave out what came from the
// cache or went into it; Usage.Input has all of them. The output tokens of
// message_start are a guess that message_delta replaces, so that they are
// unknown until then.
var Anthropic Dialect = anthropic{}

type anthropic struct{}

func (anthropic) Name() string     { return "anthropic" }
func (anthropic) Path() string     { return "/messages" }
func (anthropic) Framing() Framing { return SSE }

// AppendBody implements [Dialect]. System messages go into the field "system".
func (anthropic) AppendBody(dst []byte, r *Request) ([]byte, error) {
	var system []string
	talk := *r
	talk.Messages = nil
	for _, m := range r.Messages {
		if m.Role != "system" && m.Role != "developer" {
			talk.Messages = append(talk.Messages, m)
			continue
		}
		text, err := m.text()
		if err != nil {
			return nil, err
		}
		system = append(system, text)
	}
	list, err := messages(&talk, anthropicParts)
	if err != nil {
		return nil, err
	}
	o := newBody(dst, r)
	if len(system) > 0 {
		o.set("system", strings.Join(system, "\n\n"))
	}
	o.set("messages", list)
	if r.Stream {
		o.set("stream", true)
	}
	o.limit(r, "max_tokens")
	return o.end()
}

type anthropicImage struct {
	Type   string          `json:"type"`
	Source anthropicSource `json:"source"`
}

type anthropicSource struct {
	Type string `json:"type"`
	MIME string `json:"media_type,omitempty"`
	Data string `json:"data,omitempty"`
	URL  string `json:"url,omitempty"`
}

func anthropicParts(_ string, parts []part) (any, error) {
	for i := range parts {
		p := &parts[i]
		if p.image == nil {
			continue
		}
		source := anthropicSource{Type: "url", URL: p.image.url()}
		if mime, data, ok := p.image.base64(); ok {
			source = anthropicSource{Type: "base64", MIME: mime, Data: data}
		}
		p.raw = anthropicImage{"image", source}
	}
	return raws(parts), nil
}

// Decode implements [Dialect].
func (anthropic) Decode(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	kind := string(c.typed(name))
	var out output
	failed := kind == "error"
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch key := string(c.key()); {
		case kind == "message_start" && key == "message":
			c.message(e, true)
		case kind == "content_block_start" && key == "content_block", kind == "content_block_delta" && key == "delta":
			e.Choices = true
			out.add(c.block(false))
		case kind == "message_delta" && key == "delta":
			c.message(e, false)
		case kind == "message_delta" && key == "usage", kind == "message" && key == "usage":
			c.anthropicUsage(e, false)
		case kind == "message" && key == "stop_reason":
			c.finish(e)
		case kind == "message" && key == "content":
			if !c.list() {
				continue
			}
			for ok := c.enter('['); ok; ok = c.next(']') {
				e.Choices = true
				out.add(c.block(true))
			}
		case key == "error":
			failed = c.isError() || failed
		default:
			c.skip()
		}
	}
	e.End = e.End || kind == "message_stop"
	e.put(out, 0)
	return c.close(failed, e)
}

// message reads the message of message_start, or the delta of message_delta.
func (c *cursor) message(e *Event, start bool) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "stop_reason":
			c.finish(e)
		case "usage":
			c.anthropicUsage(e, start)
		default:
			c.skip()
		}
	}
}

// block reads a content block or what is added to one. The input of a tool
// comes with a whole block; where a streamed one starts it is a placeholder, {}.
func (c *cursor) block(whole bool) (o output) {
	if !c.object() {
		return o
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "text":
			o.answer = c.text() || o.answer
		case "partial_json":
			o.other = c.text() || o.other
		case "name":
			o.called = c.text() || o.called
		case "input":
			empty := !whole && c.emptyObject()
			o.other = c.arguments() && !empty || o.other
		case "thinking", "data": // data: redacted thinking
			o.reasoning = c.text() || o.reasoning
		default:
			c.skip()
		}
	}
	return o
}

// emptyObject reports whether an object without members comes. c stays where
// it is.
func (c cursor) emptyObject() bool { return c.peek() == '{' && !c.enter('{') }

func (c *cursor) anthropicUsage(e *Event, start bool) {
	if !c.object() {
		return
	}
	u, written := unknown, int64(absent)
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "input_tokens":
			u.Input = c.count()
		case "output_tokens":
			u.Output = c.count()
		case "cache_read_input_tokens":
			u.Cached = c.count()
		case "cache_creation_input_tokens":
			written = c.count()
		default:
			c.skip()
		}
	}
	if u.Input >= 0 {
		u.Input += max(u.Cached, 0) + max(written, 0)
	}
	if start {
		u.Output = absent
	}
	e.set(u)
}
