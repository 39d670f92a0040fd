package wire

// decodeOpenAI reads an event of the chat and completions dialects, streamed
// or whole: {"choices":[{"delta"|"message":{…}|"text":…}],"usage":{…}}.
func decodeOpenAI(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	failed := false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "choices":
			c.choices(e)
		case "usage":
			c.usage(e)
		case "x_groq": // Groq puts usage here
			c.nestedUsage(e)
		case "error":
			failed = c.isError() || failed
		case "object":
			failed = c.is("error") || failed
		default:
			c.skip()
		}
	}
	return c.close(failed, e)
}

// choices reads the list of choices.
func (c *cursor) choices(e *Event) {
	if !c.list() {
		return
	}
	for ok := c.enter('['); ok; ok = c.next(']') {
		e.Choices = true
		if !c.object() {
			continue
		}
		c.choice(e)
	}
}

// choice reads one choice. Its own output is put together first, since the
// index may come after it.
func (c *cursor) choice(e *Event) {
	var out output
	var index, ids, probs int64
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "index":
			index = c.count()
		case "delta", "message":
			c.delta(&out)
		case "text":
			out.answer = c.text() || out.answer
		case "finish_reason":
			c.finish(e)
		case "logprobs":
			probs = c.logprobs()
		case "token_ids": // vLLM, with return_token_ids
			ids = int64(c.items())
		case "usage": // Moonshot puts it here
			c.usage(e)
		default:
			c.skip()
		}
	}
	e.Tokens += int(max(ids, probs))
	e.put(out, index)
}

// output is what one choice of an event carries.
type output struct{ answer, reasoning bool }

func (o output) any() bool { return o.answer || o.reasoning }

func (o *output) add(p output) {
	o.answer = o.answer || p.answer
	o.reasoning = o.reasoning || p.reasoning
}

// put adds a choice's output to the event.
func (e *Event) put(o output, index int64) {
	e.Answer = e.Answer || o.answer
	e.Reasoning = e.Reasoning || o.reasoning
	if o.any() {
		e.Outputs |= 1 << uint64(min(max(index, 0), 63))
	}
}

// delta reads what a choice adds: a delta, or the message of a whole answer.
func (c *cursor) delta(o *output) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "content":
			o.add(c.content())
		case "reasoning", "reasoning_content":
			o.reasoning = c.text() || o.reasoning
		case "reasoning_details":
			o.reasoning = c.content().any() || o.reasoning
		case "refusal":
			o.answer = c.text() || o.answer
		case "audio":
			o.answer = c.anyText("data", "transcript") || o.answer
		case "tool_calls":
			o.answer = c.toolCalls() || o.answer
		case "function_call":
			o.answer = c.call() || o.answer
		default:
			c.skip()
		}
	}
}

// content reads a text, or a list of parts as Mistral streams it.
func (c *cursor) content() (o output) {
	switch c.peek() {
	case '[':
		for ok := c.enter('['); ok; ok = c.next(']') {
			o.add(c.content())
		}
	case '{':
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "text", "refusal", "summary", "data":
				o.answer = c.text() || o.answer
			case "thinking":
				o.reasoning = c.content().any() || o.reasoning
			default:
				c.skip()
			}
		}
	default:
		o.answer = c.text()
	}
	return o
}

// anyText reads an object and reports whether one of the keys holds text.
func (c *cursor) anyText(keys ...string) (found bool) {
	if !c.object() {
		return false
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		key, text := c.key(), c.text()
		for _, k := range keys {
			found = found || text && string(key) == k
		}
	}
	return found
}

// toolCalls reads a list of tool calls, or of parts of them.
func (c *cursor) toolCalls() (found bool) {
	if !c.list() {
		return false
	}
	for ok := c.enter('['); ok; ok = c.next(']') {
		if !c.object() {
			continue
		}
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "function", "custom":
				found = c.call() || found
			default:
				c.skip()
			}
		}
	}
	return found
}

// call reads a function's name and arguments. Arguments are text, but for
// Ollama's native API, where they are an object.
func (c *cursor) call() (found bool) {
	if !c.object() {
		return false
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "name", "arguments", "input":
			if c.peek() == '{' {
				c.skip()
				found = true
			} else {
				found = c.text() || found
			}
		default:
			c.skip()
		}
	}
	return found
}

// logprobs reads the log-probabilities of a choice and gives the number of
// tokens they are of: an entry a token under "content" and "refusal" (chat),
// or under "tokens" (completions).
func (c *cursor) logprobs() (n int64) {
	if !c.object() {
		return 0
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "content", "refusal", "tokens":
			n += int64(c.items())
		default:
			c.skip()
		}
	}
	return n
}

// finish reads a finish reason; the first one of an event is kept.
func (c *cursor) finish(e *Event) {
	if c.peek() != '"' {
		c.skip()
		return
	}
	if raw, _ := c.str(); e.Finish == "" {
		e.Finish = reason(raw)
	}
}

// reason gives a finish reason as a string, without an allocation for the
// ones in use.
func reason(raw []byte) string {
	for _, r := range reasons {
		if string(raw) == r {
			return r
		}
	}
	return clean(unquote(raw), maxReason)
}

// reasons are the finish reasons of OpenAI, Anthropic, Ollama and TGI.
var reasons = [...]string{
	"stop", "length", "tool_calls", "content_filter", "function_call", "max_output_tokens",
	"end_turn", "max_tokens", "stop_sequence", "tool_use", "refusal", "load", "eos_token",
}

// maxReason bounds a finish reason, in bytes.
const maxReason = 64
