package wire

// AppendText implements [Texter].
func (chat) AppendText(t *Text, name, data []byte) { t.openAI(name, data) }

// AppendText implements [Texter].
func (completions) AppendText(t *Text, name, data []byte) { t.openAI(name, data) }

// openAI reads the texts of an event as decodeOpenAI reads what it carries.
func (t *Text) openAI(name, data []byte) {
	c, more, _ := open(name, data, new(Event))
	if !more {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) == "choices" {
			c.choiceTexts(t)
		} else {
			c.skip()
		}
	}
}

func (c *cursor) choiceTexts(t *Text) {
	if !c.list() {
		return
	}
	for ok := c.enter('['); ok; ok = c.next(']') {
		if !c.object() {
			continue
		}
		index := int64(0)
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "index":
				index = max(c.count(), 0)
			case "delta", "message":
				c.deltaTexts(t)
			case "text":
				t.answer = c.appendText(t.answer)
			default:
				c.skip()
			}
		}
		t.put(index)
	}
}

// deltaTexts reads what a choice adds. Servers send the same thoughts under
// several names at once (vLLM two, OpenRouter with the details): the first one
// counts.
func (c *cursor) deltaTexts(t *Text) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "content":
			c.contentTexts(t, false)
		case "reasoning", "reasoning_content":
			if len(t.thoughts) > 0 {
				c.skip()
				continue
			}
			t.thoughts = c.appendText(t.thoughts)
		case "reasoning_details":
			if len(t.thoughts) > 0 {
				c.skip()
				continue
			}
			c.contentTexts(t, true)
		case "refusal":
			t.answer = c.appendText(t.answer)
		case "audio":
			t.other(c.anyText("data", "transcript"))
		case "tool_calls":
			t.calls(c.toolCalls)
		case "function_call":
			t.calls(c.call)
		default:
			c.skip()
		}
	}
}

// contentTexts reads a text, or a list of parts.
func (c *cursor) contentTexts(t *Text, thoughts bool) {
	switch c.peek() {
	case '[':
		for ok := c.enter('['); ok; ok = c.next(']') {
			c.contentTexts(t, thoughts)
		}
	case '{':
		for ok := c.enter('{'); ok; ok = c.next('}') {
			switch string(c.key()) {
			case "text", "refusal":
				t.said(c, thoughts)
			case "thinking":
				c.contentTexts(t, true)
			case "summary", "data": // data: encrypted thoughts
				t.other(c.content().any())
			default:
				c.skip()
			}
		}
	default:
		t.said(c, thoughts)
	}
}

// said reads a text.
func (t *Text) said(c *cursor, thoughts bool) {
	if thoughts {
		t.thoughts = c.appendText(t.thoughts)
	} else {
		t.answer = c.appendText(t.answer)
	}
}
