package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

const (
	maxMessage = 500      // bytes of a message that are kept
	maxText    = 64 << 10 // bytes of a text that are looked at
)

// ErrorMessage gives what an error body says to a human: its message, in the
// shapes of OpenAI, vLLM, SGLang, llama.cpp, Ollama, TGI, Anthropic and
// FastAPI ({"detail":…}), or else the start of its text, without HTML tags.
// The result is one line of at most 500 bytes of valid UTF-8 in which
// characters that do not print are escaped; it is empty only if body is blank.
func ErrorMessage(body []byte) string {
	body = bytes.TrimSpace(body)
	if m := findMessage(body, 4); m != "" {
		return clean(m, maxMessage)
	}
	text := string(body[:min(len(body), maxText)])
	if strings.HasPrefix(text, "<") {
		if plain := strings.TrimSpace(tags().ReplaceAllString(text, " ")); plain != "" {
			text = plain
		}
	}
	return clean(strings.Join(strings.Fields(text), " "), maxMessage)
}

// messageKeys are where a message may be, the best first.
var messageKeys = []string{"error", "message", "detail", "msg", "errors", "error_message", "response", "type", "code"}

// findMessage looks for a message in JSON, at most depth levels down.
func findMessage(body []byte, depth int) string {
	if len(body) == 0 || depth == 0 {
		return ""
	}
	switch body[0] {
	case '"':
		var s string
		_ = json.Unmarshal(body, &s) // what is no string gives no message
		return strings.TrimSpace(s)
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(body, &list) == nil && len(list) > 0 {
			return findMessage(list[0], depth-1)
		}
	case '{':
		var object map[string]json.RawMessage
		if json.Unmarshal(body, &object) != nil {
			return ""
		}
		for _, k := range messageKeys {
			m := findMessage(object[k], depth-1)
			if m == "" || m == "error" {
				continue
			}
			if k == "msg" { // FastAPI says beside it where: ["body","messages",0]
				m = place(object["loc"]) + m
			}
			return m
		}
	}
	return ""
}

// place gives a path into the request as a prefix, such as "body.messages: ".
func place(loc json.RawMessage) string {
	var path []any
	if json.Unmarshal(loc, &path) != nil || len(path) == 0 {
		return ""
	}
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(path), "[]")), ".") + ": "
}

// tags matches the tags of HTML, and what is not text in it.
var tags = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)\s*>|<!--.*?-->|<[^>]*>`)
})

// clean makes a server's text fit to print: valid UTF-8 on one line, with
// what does not print escaped, and at most limit bytes.
func clean(s string, limit int) string {
	const more = "…"
	var b strings.Builder
	cut := 0 // length at which there is still room for the mark
	for _, r := range s {
		n := b.Len()
		if n+len(more) <= limit {
			cut = n
		}
		if r == utf8.RuneError || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		if b.Len() > limit {
			return b.String()[:cut] + more
		}
	}
	return b.String()
}
