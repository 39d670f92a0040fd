package wire

import "strconv"

// number reads a number and gives its text.
func (c *cursor) number() []byte {
	c.peek()
	b, i := c.b, c.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	n := digits(b, i)
	ok := n > i && (b[i] != '0' || n == i+1)
	i = n
	if i < len(b) && b[i] == '.' {
		n = digits(b, i+1)
		ok = ok && n > i+1
		i = n
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		n = digits(b, i)
		ok = ok && n > i
		i = n
	}
	if !ok {
		c.fail()
		return nil
	}
	raw := b[c.i:i]
	c.i = i
	return raw
}

// digits is the index after the run of digits at i.
func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

// count reads a value and gives it as a number of tokens: Absent unless it is
// a number that can be one.
func (c *cursor) count() int64 {
	if b := c.peek(); b != '-' && (b < '0' || b > '9') {
		c.skip()
		return absent
	}
	return tokens(c.number())
}

// maxCount is the largest number that is taken for a count of tokens. No answer
// has so many, and sums over millions of requests stay within an int64.
const maxCount = 1 << 40

// tokens gives a JSON number as a count; fractions are cut off. Some servers
// write counts as 12.0.
func tokens(number []byte) int64 {
	var n int64
	for i, d := range number {
		if d < '0' || d > '9' || i >= 12 { // 12 digits are below maxCount
			f, err := strconv.ParseFloat(string(number), 64)
			if err != nil || f < 0 || f > maxCount {
				return absent
			}
			return int64(f)
		}
		n = n*10 + int64(d-'0')
	}
	if len(number) == 0 {
		return absent
	}
	return n
}

// text reads a value and reports whether it is a string with anything in it,
// which is then found. Nothing else may become of the string; see [placer].
func (c *cursor) text() bool {
	if c.peek() != '"' {
		c.skip()
		return false
	}
	from := c.i + 1
	raw, _ := c.str()
	if len(raw) == 0 {
		return false
	}
	c.found = span{from, from + len(raw)}
	return true
}

// items reads a value and gives the number of its elements if it is a list.
func (c *cursor) items() (n int) {
	if !c.list() {
		return 0
	}
	for ok := c.enter('['); ok; ok = c.next(']') {
		c.skip()
		n++
	}
	return n
}
