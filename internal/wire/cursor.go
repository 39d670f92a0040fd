package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
)

// maxDepth bounds nesting, so that a hostile answer cannot grow the stack.
// Real answers nest about ten deep.
const maxDepth = 200

// cursor walks over JSON text once, from value to value, and copies nothing.
// It accepts exactly what RFC 8259 and encoding/json accept (but for
// maxDepth). After the first mistake bad is set, and every method returns at
// once with a zero result, so that callers check once, at the end.
//
// An object is read by
//
//	for ok := c.enter('{'); ok; ok = c.next('}') {
//		switch string(c.key()) { … } // reads exactly one value
//	}
type cursor struct {
	b     []byte
	i     int
	depth int
	bad   bool
	badAt int  // where the mistake was
	found span // the last text that was found
}

var errNotJSON = errors.New("not a JSON object")

// err is the result of a walk that should have ended at the end of the text.
func (c *cursor) err() error {
	if !c.bad && c.peek() == 0 && c.i >= len(c.b) {
		return nil
	}
	if !c.bad {
		c.badAt = c.i
	}
	return fmt.Errorf("bad JSON at byte %d of %d", c.badAt, len(c.b))
}

// fail notes a mistake and goes to the end, where nothing is found any more.
func (c *cursor) fail() bool {
	if !c.bad {
		c.bad, c.badAt, c.i = true, c.i, len(c.b)
	}
	return false
}

// peek skips white space and gives the first byte of what follows, 0 at the
// end or after a mistake.
func (c *cursor) peek() byte {
	if c.i < len(c.b) {
		if b := c.b[c.i]; b > ' ' {
			return b
		}
	}
	return c.space()
}

func (c *cursor) space() byte {
	for ; c.i < len(c.b); c.i++ {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\n', '\r':
		default:
			return b
		}
	}
	return 0
}

// enter goes into the object or list that begins with open, and reports
// whether there is anything in it. Without open it is a mistake.
func (c *cursor) enter(open byte) bool {
	if c.peek() != open || c.depth == maxDepth {
		return c.fail()
	}
	c.depth++
	c.i++
	if c.peek() == open+2 { // '{' and '}', '[' and ']' are two apart
		c.depth--
		c.i++
		return false
	}
	return true
}

// next goes on to the next element, or out of the object or list at its end.
func (c *cursor) next(end byte) bool {
	switch c.peek() {
	case ',':
		c.i++
		return true
	case end:
		c.depth--
		c.i++
		return false
	}
	return c.fail()
}

// key reads a key and its colon.
func (c *cursor) key() []byte {
	raw, escaped := c.str()
	if c.peek() != ':' {
		c.fail()
		return nil
	}
	c.i++
	if escaped {
		return []byte(unquote(raw))
	}
	return raw
}

// unquote gives the text of a string's raw inside.
func unquote(raw []byte) string {
	if bytes.IndexByte(raw, '\\') < 0 {
		return string(raw)
	}
	var s string
	// raw was checked by the cursor; what is left to fail is nothing.
	_ = json.Unmarshal(append(append([]byte{'"'}, raw...), '"'), &s)
	return s
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// str reads a string and gives its raw inside, in which escapes are checked
// but still there.
func (c *cursor) str() (raw []byte, escaped bool) {
	if c.peek() != '"' {
		c.fail()
		return nil, false
	}
	b, i := c.b, c.i+1
	from := i
	for {
		// Eight bytes at a time to the first quote, backslash or control
		// character (the usual zero-byte test: Warren, Hacker's Delight, 6-1;
		// its lowest hit is exact).
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			q, s := w^ones*'"', w^ones*'\\'
			if hit := ((q-ones)&^q | (s-ones)&^s | (w-ones*0x20)&^w) & highs; hit != 0 {
				i += bits.TrailingZeros64(hit) / 8
				break
			}
			i += 8
		}
		if i >= len(b) {
			c.fail()
			return nil, false
		}
		switch {
		case b[i] == '"':
			c.i = i + 1
			return b[from:i], escaped
		case b[i] == '\\':
			n := escape(b[i+1:])
			if n == 0 {
				c.i = i
				c.fail()
				return nil, false
			}
			escaped = true
			i += 1 + n
		case b[i] < 0x20:
			c.i = i
			c.fail()
			return nil, false
		default:
			i++ // in the last seven bytes
		}
	}
}

// escape is the length of the escape whose backslash was before b, 0 if it is none.
func escape(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) < 5 {
			return 0
		}
		for _, h := range b[1:5] {
			if !('0' <= h && h <= '9' || 'a' <= h|0x20 && h|0x20 <= 'f') {
				return 0
			}
		}
		return 5
	}
	return 0
}

// skip goes over one value of any kind.
func (c *cursor) skip() {
	switch b := c.peek(); b {
	case '"':
		c.str()
	case '{':
		for ok := c.enter('{'); ok; ok = c.next('}') {
			c.str()
			if c.peek() != ':' {
				c.fail()
				return
			}
			c.i++
			c.skip()
		}
	case '[':
		for ok := c.enter('['); ok; ok = c.next(']') {
			c.skip()
		}
	case 't':
		c.word("true")
	case 'f':
		c.word("false")
	case 'n':
		c.word("null")
	default:
		c.number()
	}
}

// value goes over one value and gives its text.
func (c *cursor) value() []byte {
	c.peek()
	from := c.i
	c.skip()
	if c.bad {
		return nil
	}
	return c.b[from:c.i]
}

func (c *cursor) word(w string) {
	if n := c.i + len(w); n <= len(c.b) && string(c.b[c.i:n]) == w {
		c.i = n
		return
	}
	c.fail()
}
