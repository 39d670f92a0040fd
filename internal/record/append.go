package record

import (
	"strconv"
	"unicode/utf8"
)

// appendLine appends r as one line of requests.jsonl, newline included.
func appendLine(dst []byte, r *Record) []byte {
	dst = append(dst, '{')
	for i := range columns {
		c := &columns[i]
		dst = appendKey(dst, c.key)
		switch v := c.at(r).(type) {
		case *seconds:
			dst = appendUnless(dst, int64(*v) == Absent, appendSeconds, int64(*v))
		case *stamps:
			dst = appendStamps(dst, *v)
		case *tally:
			dst = appendUnless(dst, int64(*v) == Absent, appendInt, int64(*v))
		case *nonzero:
			dst = appendUnless(dst, *v == 0, appendInt, int64(*v))
		case *int:
			dst = appendInt(dst, int64(*v))
		case *int64:
			dst = appendInt(dst, *v)
		case *bool:
			dst = strconv.AppendBool(dst, *v)
		case *phase:
			dst = appendString(dst, Part(*v).String())
		case *text:
			dst = appendText(dst, string(*v))
		}
		dst = append(dst, ',')
	}
	dst = appendEvents(dst, r)
	return append(dst, '}', '\n')
}

func appendEvents(dst []byte, r *Record) []byte {
	dst = append(appendKey(dst, keyGaps), '[')
	last, tokens := gapBase(r), false
	for i := range r.Events {
		e := &r.Events[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendSeconds(dst, e.At-last)
		last = e.At
		tokens = tokens || e.Tokens != 0
	}
	dst = append(appendKey(append(dst, ']', ','), keyKinds), '"')
	const digits = "0123456789abcdef"
	for i := range r.Events {
		k := r.Events[i].Kind
		dst = append(dst, digits[k>>4], digits[k&15])
	}
	dst = append(dst, '"')
	if !tokens {
		return dst
	}
	dst = append(appendKey(append(dst, ','), keyTokens), '[')
	for i := range r.Events {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendInt(dst, int64(r.Events[i].Tokens))
	}
	return append(dst, ']')
}

// gapBase is the stamp that the first event's gap counts from.
func gapBase(r *Record) int64 {
	if r.Sent == Absent {
		return 0
	}
	return r.Sent
}

func appendKey(dst []byte, key string) []byte {
	dst = append(dst, '"')
	dst = append(dst, key...)
	return append(dst, '"', ':')
}

func appendUnless(dst []byte, absent bool, f func([]byte, int64) []byte, v int64) []byte {
	if absent {
		return append(dst, "null"...)
	}
	return f(dst, v)
}

func appendStamps(dst []byte, all []int64) []byte {
	if len(all) == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, '[')
	for i, at := range all {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendUnless(dst, at == Absent, appendSeconds, at)
	}
	return append(dst, ']')
}

func appendInt(dst []byte, v int64) []byte { return strconv.AppendInt(dst, v, 10) }

// appendSeconds appends ns as decimal seconds, in integers only so that no
// nanosecond is lost, and without trailing zeros.
func appendSeconds(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst = append(dst, '-')
		u = -u
	}
	dst = strconv.AppendUint(dst, u/1e9, 10)
	rest := uint32(u % 1e9)
	if rest == 0 {
		return dst
	}
	var places [10]byte
	places[0] = '.'
	for i := 9; i > 0; i-- {
		places[i] = '0' + byte(rest%10)
		rest /= 10
	}
	n := len(places)
	for places[n-1] == '0' {
		n--
	}
	return append(dst, places[:n]...)
}

// appendText appends s as a JSON string, null when it is empty.
func appendText(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}

// appendString appends s as a JSON string. Beyond what JSON asks for it escapes
// every control character and line separator, so that neither a terminal nor a
// reader with its own idea of lines is misled; a byte that is no UTF-8 becomes
// U+FFFD.
func appendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', byte(c))
		case c < 0x20 || c >= 0x7f && c < 0xa0 || c == 0x2028 || c == 0x2029:
			dst = append(dst, '\\', 'u', digits[c>>12&15], digits[c>>8&15], digits[c>>4&15], digits[c&15])
		default:
			dst = utf8.AppendRune(dst, c)
		}
	}
	return append(dst, '"')
}
