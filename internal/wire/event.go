package wire

import "bytes"

// open begins to read an event, and reports whether there is an object in it.
//
// A JSON null and an event without data carry nothing (llama-server sends the
// former as the first event of a batch), "[DONE]" is the end, and an event
// named error is one, whatever is in it. Anything else that is no object is
// malformed.
func open(name, data []byte, e *Event) (c cursor, more bool, err error) {
	c.b = data
	if string(name) == "error" {
		e.fail(data)
		return c, false, nil
	}
	switch c.peek() {
	case '{':
		return c, true, nil
	case 'n':
		c.word("null")
		return c, false, c.err()
	case '[':
		if string(bytes.Trim(data, " \t\r\n")) == "[DONE]" {
			e.End = true
			return c, false, nil
		}
	case 0:
		if c.i == len(data) {
			return c, false, nil
		}
	}
	return c, false, errNotJSON
}

// close ends an event that open began. failed says that it is an error.
func (c *cursor) close(failed bool, e *Event) error {
	if err := c.err(); err != nil {
		return err
	}
	if failed {
		e.fail(c.b)
	}
	return nil
}

// fail makes e an error, whose message is in data.
func (e *Event) fail(data []byte) {
	e.Failed = true
	if e.Error = ErrorMessage(data); e.Error == "" {
		e.Error = "error event without a message"
	}
}

// isError reads the value of an "error" key and reports whether it is one:
// null, false, an empty string and a number are not.
func (c *cursor) isError() bool {
	switch c.peek() {
	case '{', '[', 't':
		c.skip()
		return true
	}
	return c.text()
}

// is reads a value and reports whether it is the string s.
func (c *cursor) is(s string) bool {
	raw := c.string()
	return raw != nil && string(raw) == s
}

// string reads a value and gives the raw inside of a string, nil for others.
func (c *cursor) string() []byte {
	if c.peek() != '"' {
		c.skip()
		return nil
	}
	raw, _ := c.str()
	return raw
}

// typed gives the text of the key "type" of the object that c is before, or
// name if there is none. c stays where it is.
func (c cursor) typed(name []byte) []byte {
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) == "type" {
			if raw := c.string(); raw != nil {
				return raw
			}
			break
		}
		c.skip()
	}
	return name
}

// object reports whether an object comes, and skips anything else. It lets a
// reader say: if c.object() { for ok := c.enter('{'); … } }.
func (c *cursor) object() bool {
	if c.peek() == '{' {
		return true
	}
	c.skip()
	return false
}

// list is as object, for a list.
func (c *cursor) list() bool {
	if c.peek() == '[' {
		return true
	}
	c.skip()
	return false
}
