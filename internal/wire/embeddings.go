package wire

// Embeddings is OpenAI's API of embeddings. Its answer is one JSON value, and
// its output is the vectors. Source: https://platform.openai.com/docs/api-reference/embeddings.
var Embeddings Dialect = embeddings{}

type embeddings struct{}

func (embeddings) Name() string     { return "embeddings" }
func (embeddings) Path() string     { return "/embeddings" }
func (embeddings) Framing() Framing { return JSON }

// AppendBody implements [Dialect]. One of Inputs is sent as a list too.
func (embeddings) AppendBody(dst []byte, r *Request) ([]byte, error) {
	o := newBody(dst, r)
	switch {
	case len(r.Inputs) > 0:
		o.set("input", r.Inputs)
	case len(r.PromptIDs) > 0:
		o.set("input", r.PromptIDs)
	default:
		o.set("input", r.Prompt)
	}
	return o.end()
}

// Decode implements [Dialect].
func (embeddings) Decode(name, data []byte, e *Event) error {
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	failed := false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "data":
			c.results(e)
		case "usage":
			c.inputUsage(e)
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

// results reads a list of vectors or scores, which are the output; the list is
// the end of the answer.
func (c *cursor) results(e *Event) {
	if !c.list() {
		return
	}
	e.End = true
	var out output
	for ok := c.enter('['); ok; ok = c.next(']') {
		e.Choices = true
		if !c.object() {
			continue
		}
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "embedding", "relevance_score", "score":
				out.answer = c.filled() || out.answer
			default:
				c.skip()
			}
		}
	}
	e.put(out, 0)
}

// filled reads a value and reports whether it is a number, a text (a vector in
// base64), an object (vectors of several types) or a list with anything in it.
func (c *cursor) filled() bool {
	switch c.peek() {
	case '[':
		return c.items() > 0
	case '"':
		return c.text()
	case 'n', 't', 'f':
		c.skip()
		return false
	}
	c.skip()
	return true
}

// inputUsage reads the usage of an API without output tokens, some of which
// say the total only.
func (c *cursor) inputUsage(e *Event) {
	if !c.object() {
		return
	}
	u, total := unknown, int64(absent)
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "prompt_tokens", "input_tokens":
			u.Input = max(u.Input, c.count())
		case "total_tokens":
			total = c.count()
		case "prompt_tokens_details", "input_tokens_details":
			c.details(&u, false)
		default:
			c.skip()
		}
	}
	if u.Input < 0 {
		u.Input = total
	}
	e.set(u)
}
