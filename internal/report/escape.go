package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxText bounds one piece of outside text, in bytes of output.
const maxText = 500

const ellipsis = "…"

// Escape makes text from outside (a server's message, a name, a path) safe to
// print on one line: control characters, bidirectional and other invisible
// format characters and line separators become \n, \t, \r, \x1b or \u202e,
// and bytes that are no UTF-8 become \xNN. The result is valid UTF-8 of at
// most 500 bytes; what was cut off shows as "…". It is for reading and cannot
// be turned back: a backslash stays as it is. "##[", with which GitHub's runner
// takes a command out of any place of a log's line (actions/runner,
// ActionCommand.TryParse), becomes ##\x5b, and "::" at the start, which is one where
// the text begins a line, however far that is indented (TryParseV2), \x3a:.
func Escape(s string) string {
	var b strings.Builder
	kept := 0 // the longest prefix of b that leaves room for the ellipsis
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ':' && strings.HasPrefix(s[i+1:], ":") && strings.TrimSpace(b.String()) == "":
			b.WriteString(`\x3a`)
		case r == '[' && strings.HasSuffix(b.String(), "##"):
			b.WriteString(`\x5b`)
		case unicode.IsGraphic(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
		if b.Len() <= maxText-len(ellipsis) {
			kept = b.Len()
		}
		if b.Len() > maxText {
			return b.String()[:kept] + ellipsis
		}
	}
	return b.String()
}
