package wire

import "bytes"

// AppendText implements [Texter].
func (anthropic) AppendText(t *Text, name, data []byte) {
	c, more, _ := open(name, data, new(Event))
	if !more {
		return
	}
	kind := string(c.typed(name))
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch key := string(c.key()); {
		case kind == "content_block_start" && key == "content_block", kind == "content_block_delta" && key == "delta":
			c.blockTexts(t)
		case kind == "message" && key == "content" && c.peek() == '[':
			for ok := c.enter('['); ok; ok = c.next(']') {
				c.blockTexts(t)
			}
		default:
			c.skip()
		}
	}
}

// blockTexts reads a content block or what is added to one.
func (c *cursor) blockTexts(t *Text) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "text":
			t.answer = c.appendText(t.answer)
		case "thinking":
			t.thoughts = c.appendText(t.thoughts)
		case "partial_json", "name", "data":
			t.other(c.text())
		case "input":
			t.other(c.arguments())
		default:
			c.skip()
		}
	}
	t.put(0)
}

// AppendText implements [Texter].
func (responses) AppendText(t *Text, name, data []byte) {
	c, more, _ := open(name, data, new(Event))
	if !more {
		return
	}
	kind := c.typed(name)
	if len(kind) == 0 {
		c.responseTexts(t)
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch key := string(c.key()); {
		case key == "delta" && bytes.HasSuffix(kind, []byte(".delta")):
			switch string(kind) {
			case "response.output_text.delta", "response.refusal.delta":
				c.contentTexts(t, false)
			case "response.reasoning_text.delta":
				c.contentTexts(t, true)
			default: // a summary of thoughts, audio, a call's arguments
				t.other(c.content().any())
			}
		case key == "item" && string(kind) == "response.output_item.added":
			t.other(c.named())
		default:
			c.skip()
		}
	}
	t.put(0)
}

// responseTexts reads a whole answer.
func (c *cursor) responseTexts(t *Text) {
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) != "output" || c.peek() != '[' {
			c.skip()
			continue
		}
		for ok := c.enter('['); ok; ok = c.next(']') {
			if !c.object() {
				continue
			}
			thoughts := string(c.typed(nil)) == "reasoning"
			for ok := c.enter('{'); ok; ok = c.next('}') {
				switch string(c.key()) {
				case "content":
					c.contentTexts(t, thoughts)
				case "summary":
					t.other(c.content().any())
				case "name", "arguments", "input":
					t.other(c.text())
				default:
					c.skip()
				}
			}
			t.put(0)
		}
	}
}

// AppendText implements [Texter].
func (ollama) AppendText(t *Text, name, data []byte) {
	c, more, _ := open(name, data, new(Event))
	if !more {
		return
	}
	c.ollamaTexts(t)
	t.put(0)
}

// ollamaTexts reads an event of either API, or the message in one; the cursor's
// bound of nesting holds for it.
func (c *cursor) ollamaTexts(t *Text) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "message":
			c.ollamaTexts(t)
		case "response", "content":
			t.answer = c.appendText(t.answer)
		case "thinking":
			t.thoughts = c.appendText(t.thoughts)
		case "tool_calls":
			t.calls(c.toolCalls)
		default:
			c.skip()
		}
	}
}

// AppendText implements [Texter]. The end token is no text.
func (tgi) AppendText(t *Text, name, data []byte) {
	c, more, _ := open(name, data, new(Event))
	if !more {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) != "token" || c.peek() != '{' {
			c.skip()
			continue
		}
		special := false
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "text":
				t.answer = c.appendText(t.answer)
			case "special":
				special = string(c.value()) == "true"
			default:
				c.skip()
			}
		}
		if special {
			t.answer = t.answer[:0]
		}
	}
	t.put(0)
}
