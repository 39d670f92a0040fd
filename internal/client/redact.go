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

// redactor makes text of unknown origin fit for a message.
type redactor struct {
	forms    []string // longest first
	replacer *strings.Replacer
}

func newRedactor(secrets []string) *redactor {
	var forms []string
	for _, s := range secrets {
		for _, s := range []string{s, strings.TrimSpace(s)} {
			b := []byte(s)
			quoted, _ := json.Marshal(s) // a string always marshals
			forms = append(forms, s,
				url.QueryEscape(s), url.PathEscape(s),
				strings.Trim(string(quoted), `"`), strings.Trim(strconv.Quote(s), `"`),
				base64.StdEncoding.EncodeToString(b), base64.RawStdEncoding.EncodeToString(b),
				base64.URLEncoding.EncodeToString(b), base64.RawURLEncoding.EncodeToString(b))
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a)
		}
		return strings.Compare(a, b)
	})
	forms = slices.Compact(forms)
	forms = slices.DeleteFunc(forms, func(s string) bool { return s == "" })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, redacted)
	}
	return &redactor{forms: forms, replacer: strings.NewReplacer(pairs...)}
}

// secretsOut takes the secrets out of s, also one of which the end is cut off.
func (r *redactor) secretsOut(s string) string {
	s = r.replacer.Replace(s)
	head, cut := strings.CutSuffix(s, more)
	for _, f := range r.forms {
		for n := min(len(f)-1, len(head)); n >= minTail; n-- {
			if !strings.HasSuffix(head, f[:n]) {
				continue
			}
			head = head[:len(head)-n] + redacted
			if cut {
				head += more
			}
			return head
		}
	}
	return s
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
