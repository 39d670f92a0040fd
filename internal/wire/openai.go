package wire

// decodeOpenAI reads an event of the chat and completions dialects, streamed
// or whole: {"choices":[{"delta"|"message":{…}|"text":…}],"usage":{…}}. It gives
// where a text lies; see [placer].
func decodeOpenAI(name, data []byte, e *Event) (text span, err error) {
	c, more, err := open(name, data, e)
	if !more {
		return span{}, err
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
	if err := c.close(failed, e); err != nil || failed {
		return span{}, err
	}
	return c.found, nil
}

// choices reads the list of choices.
func (c *cursor) choices(e *Event) {
	if !c.list() {
		return
	}
	n := 0
	for ok := c.enter('['); ok; ok = c.next(']') {
		e.Choices = true
		if n++; c.object() {
			c.choice(e)
		}
	}
	if n > 1 {
		e.Choice = 0
	}
}

// choice reads one choice. Its own output is put together first, since the
// index may come after it.
func (c *cursor) choice(e *Event) {
	var out output
	var index, ids, probs int64
	finished := false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "index":
			index = c.count()
		case "delta", "message":
			c.delta(&out)
		case "text":
			out.answer = c.text() || out.answer
		case "finish_reason":
			finished = c.finish(e)
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
	if finished {
		e.Finished |= bit(index)
	}
	e.Choice = int(max(index, 0)) + 1
}

// output is what one choice of an event carries.
type output struct {
	answer, reasoning bool // text
	other             bool // what is no text: arguments of tool calls, audio
	called            bool // the name of a tool call, which is none by itself
}

func (o output) any() bool { return o.answer || o.reasoning || o.other }

func (o *output) add(p output) {
	o.answer = o.answer || p.answer
	o.reasoning = o.reasoning || p.reasoning
	o.other = o.other || p.other
	o.called = o.called || p.called
}

// put adds a choice's output to the event.
func (e *Event) put(o output, index int64) {
	e.Called = e.Called || o.called
	if !o.any() {
		return
	}
	text := o.answer || o.reasoning || e.Outputs != 0 && !e.NotText
	e.Answer = e.Answer || o.answer || o.other
	e.Reasoning = e.Reasoning || o.reasoning
	e.NotText = !text
	e.Outputs |= bit(index)
}

// bit stands for a choice; the last one for all from 63 on.
func bit(index int64) uint64 { return 1 << uint64(min(max(index, 0), 63)) }

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
			o.other = c.anyText("data", "transcript") || o.other
		case "tool_calls":
			c.toolCalls(o)
		case "function_call":
			c.call(o)
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
func (c *cursor) toolCalls(o *output) {
	if !c.list() {
		return
	}
	for ok := c.enter('['); ok; ok = c.next(']') {
		if !c.object() {
			continue
		}
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "function", "custom":
				c.call(o)
			default:
				c.skip()
			}
		}
	}
}

// call reads a function's name and arguments.
func (c *cursor) call(o *output) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "name":
			o.called = c.text() || o.called
		case "arguments", "input":
			o.other = c.arguments() || o.other
		default:
			c.skip()
		}
	}
}

// arguments reads a call's arguments and reports whether there are some. They
// are text, but for Ollama's native API and Anthropic's whole answers, where
// they are an object: an empty one is all of them, as the text "{}" is.
func (c *cursor) arguments() bool {
	if c.peek() == '{' {
		c.skip()
		return true
	}
	return c.text()
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

// finish reads a finish reason and reports whether there is one. The first one
// of an event is kept, but one that says that a choice failed wins.
func (c *cursor) finish(e *Event) bool {
	if c.peek() != '"' {
		c.skip()
		return false
	}
	raw, _ := c.str()
	if r := reason(raw); e.Finish == "" || Aborts(r) && !Aborts(e.Finish) {
		e.Finish = r
	}
	return len(raw) > 0
}

// Aborts reports whether a finish reason says that the server gave up: vLLM and
// SGLang end an answer so that failed inside the engine, in place of an error.
func Aborts(reason string) bool {
	return reason == "error" || reason == "abort" || reason == "aborted"
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
	"error", "abort", "aborted",
}

// maxReason bounds a finish reason, in bytes.
const maxReason = 64
