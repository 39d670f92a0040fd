package client

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	redacted   = "[redacted]"
	maxMessage = 500 // bytes of a message
	more       = "…" // where text was cut
	minTail    = 4   // shortest start of a secret that is taken for one at the end of cut text
)

// redactor makes text of unknown origin fit for a message. It knows a secret in
// upper and lower case, and with its characters escaped as in JSON.
type redactor struct {
	forms []string  // in lower case, longest first
	first [256]bool // the bytes that a form begins with
}

func newRedactor(secrets []string) *redactor {
	var forms []string
	for _, s := range secrets {
		for _, s := range []string{s, strings.TrimSpace(s)} {
			b := []byte(s)
			quoted, _ := json.Marshal(s) // a string always marshals
			inJSON := strings.Trim(string(quoted), `"`)
			forms = append(forms, s,
				url.QueryEscape(s), url.PathEscape(s),
				inJSON, strings.ReplaceAll(inJSON, "/", `\/`), strings.Trim(strconv.Quote(s), `"`),
				base64.StdEncoding.EncodeToString(b), base64.RawStdEncoding.EncodeToString(b),
				base64.URLEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b))
		}
	}
	for i := range forms {
		forms[i] = lower(forms[i])
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	forms = slices.DeleteFunc(forms, func(s string) bool { return s == "" })
	r := &redactor{forms: forms}
	for _, f := range forms {
		r.first[f[0]] = true
	}
	return r
}

// secretsOut takes the secrets out of s, also one of which the end is cut off.
func (r *redactor) secretsOut(s string) string {
	if len(r.forms) == 0 {
		return s
	}
	s = r.replace(spelled{text: s, view: lower(s)})
	if strings.IndexByte(s, '\\') >= 0 {
		s = r.replace(unescaped(s))
	}
	return s
}

// spelled is a text and how it is read: in lower case, with escapes taken back.
type spelled struct {
	text, view string
	from       []int // where in text each byte of view begins, and the end; nil where both are alike
}

func (s spelled) at(i int) int {
	if s.from == nil {
		return i
	}
	return s.from[i]
}

// replace takes the secrets out that stand in the view of s.
func (r *redactor) replace(s spelled) string {
	var b strings.Builder
	kept, view := 0, s.view
	for i := 0; i < len(view); {
		n := 0
		if r.first[view[i]] {
			n = r.match(view[i:])
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(s.text[kept:s.at(i)] + redacted)
		i += n
		kept = s.at(i)
	}
	if kept == 0 {
		return s.text
	}
	return b.String() + s.text[kept:]
}

// match gives the length of the secret that view begins with, or of the start
// of one that the end of the text cuts off.
func (r *redactor) match(view string) int {
	for _, f := range r.forms {
		if strings.HasPrefix(view, f) {
			return len(f)
		}
	}
	rest := strings.TrimSuffix(view, more)
	if len(rest) < minTail {
		return 0
	}
	for _, f := range r.forms {
		if len(rest) < len(f) && f[:len(rest)] == rest {
			return len(rest)
		}
	}
	return 0
}

// lower makes ASCII letters lower-case. Bytes stay where they are.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c | 0x20
		}
	}
	return string(b)
}

// unescaped reads s as the inside of JSON strings, as far as the escapes are
// those in which a secret can be spelled.
func unescaped(s string) spelled {
	view, from := make([]byte, 0, len(s)), make([]int, 0, len(s)+1)
	for i := 0; i < len(s); {
		n := 1
		one := s[i : i+1]
		if s[i] == '\\' && i+1 < len(s) {
			switch c := s[i+1]; c {
			case '/', '"', '\\':
				one, n = s[i+1:i+2], 2
			case 'u':
				if code, err := strconv.ParseUint(s[i+2:min(i+6, len(s))], 16, 16); err == nil && len(s) >= i+6 {
					one, n = string(rune(code)), 6
				}
			}
		}
		for j := range len(one) {
			view = append(view, one[j])
			from = append(from, i)
		}
		i += n
	}
	return spelled{text: s, view: lower(string(view)), from: append(from, len(s))}
}

// clean gives s without secrets, as one line of printable UTF-8.
func (r *redactor) clean(s string, limit int) string {
	return bound(printable(r.secretsOut(s)), limit)
}

// printable escapes everything that could move a cursor or hide text.
func printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
		return s
	}
	var b []byte
	for _, r := range s {
		if unicode.IsPrint(r) {
			b = utf8.AppendRune(b, r)
			continue
		}
		q := strconv.QuoteRune(r)
		b = append(b, q[1:len(q)-1]...)
	}
	return string(b)
}

// bound cuts s to at most limit bytes, on a rune's border.
func bound(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := limit - len(more)
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + more
}
