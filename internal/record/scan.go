package record

import (
	"bytes"
	"math"
	"unicode/utf8"
)

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skip passes over white space.
func (p *parser) skip() {
	for p.at < len(p.in) && isSpace(p.in[p.at]) {
		p.at++
	}
}

// take passes over c, with the white space before it, if c is next.
func (p *parser) take(c byte) bool {
	p.skip()
	if p.at == len(p.in) || p.in[p.at] != c {
		return false
	}
	p.at++
	return true
}

// pass passes over the value that is next: over a list of numbers faster than by
// looking at each.
func (p *parser) pass() {
	p.skip()
	if p.at < len(p.in) && p.in[p.at] == '[' {
		if n := bytes.IndexByte(p.in[p.at:], ']'); n >= 0 {
			p.at += n + 1
			return
		}
	}
	p.value()
}

// value gives the bytes of the value that is next, and trusts in nothing but
// its extent.
func (p *parser) value() []byte {
	p.skip()
	start, depth := p.at, 0
	for p.at < len(p.in) {
		switch c := p.in[p.at]; {
		case c >= '-' && c <= '9': // most of a line is digits and points
		case c == '"':
			p.at += stringLen(p.in[p.at:])
			if depth == 0 {
				return p.in[start:p.at]
			}
			continue
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 0:
			depth--
			if depth == 0 {
				p.at++
				return p.in[start:p.at]
			}
		case depth == 0 && (c == ',' || c == ':' || c == '}' || c == ']' || isSpace(c)):
			return p.in[start:p.at]
		}
		p.at++
	}
	return p.in[start:p.at]
}

// stringLen is the length of the string at the start of b, quotes included, or
// that of b when it does not end.
func stringLen(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(b)
}

// plainString gives what is between the quotes of a string without escapes.
func plainString(value []byte) ([]byte, bool) {
	n := len(value)
	if n < 2 || value[0] != '"' || value[n-1] != '"' {
		return nil, false
	}
	in := value[1 : n-1]
	for _, c := range in {
		if c < 0x20 || c == '"' || c == '\\' {
			return nil, false
		}
	}
	return in, utf8.Valid(in)
}

// fixedOr is fixed, but gives absent for null.
func fixedOr(absent int64, null bool, dst *int64, value []byte, places int) error {
	if null {
		*dst = absent
		return nil
	}
	return fixed(dst, value, places)
}

// fixed reads a decimal number with up to the given places as an integer of
// its smallest place.
func fixed(dst *int64, b []byte, places int) error {
	digits, negative := bytes.CutPrefix(b, []byte{'-'})
	whole, rest, point := bytes.Cut(digits, []byte{'.'})
	ok := len(whole) == 1 || len(whole) > 1 && whole[0] != '0'
	ok = ok && (!point || len(rest) > 0 && len(rest) <= places)
	var u uint64
	for _, part := range [2][]byte{whole, rest} {
		for _, c := range part {
			ok = ok && c >= '0' && c <= '9' && u <= math.MaxInt64/10
			u = u*10 + uint64(c-'0')
		}
	}
	for range places - len(rest) {
		ok = ok && u <= math.MaxInt64/10
		u *= 10
	}
	if negative {
		ok = ok && u <= 1<<63
		u = -u
	} else {
		ok = ok && u <= math.MaxInt64
	}
	if !ok {
		if places == 0 {
			return unlike(b, "an integer")
		}
		return unlike(b, "a number of seconds with at most nine places")
	}
	*dst = int64(u)
	return nil
}

// fixedList reads a JSON list of such numbers onto dst; where nulls are allowed
// they are Absent.
func fixedList(dst *[]int64, value []byte, places int, nulls bool) error {
	p := parser{in: value}
	if !p.take('[') {
		return unlike(value, "a list")
	}
	if p.take(']') {
		return nil
	}
	for {
		var n int64
		v := p.value()
		if err := fixedOr(Absent, nulls && string(v) == "null", &n, v, places); err != nil {
			return err
		}
		*dst = append(*dst, n)
		if !p.take(',') {
			break
		}
	}
	if !p.take(']') || p.at != len(value) {
		return unlike(value, "a list")
	}
	return nil
}
