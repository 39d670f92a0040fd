package report

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain text, 日本語 and é", "plain text, 日本語 and é"},
		{"two\nlines\r\n\tand a tab", `two\nlines\r\n\tand a tab`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"\u009b31m", `\x9b31m`}, // the one-character form of ESC [
		{"bell\a nul\x00 del\x7f", `bell\x07 nul\x00 del\x7f`},
		{"user\u202etxt.exe", `user\u202etxt.exe`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`},
		{"line\u2028separator", `line\u2028separator`},
		{"private \U000f0000", `private \U000f0000`},
		{"bad \xff\xc3", `bad \xff\xc3`},
		{`C:\tmp`, `C:\tmp`},
		{"##[stop-commands]x ###[b] #[", `##\x5bstop-commands]x ###\x5bb] #[`},
		{"::stop-commands::x", `\x3a:stop-commands::x`},
		{" \u00a0::error::x", " \u00a0\\x3a:error::x"},
		{"a ::error::x", "a ::error::x"}, // which begins no line
		{":a::b", ":a::b"},
	} {
		require.Equal(t, c.want, Escape(c.in))
	}
}

func TestEscapeBounds(t *testing.T) {
	require.Equal(t, strings.Repeat("a", 500), Escape(strings.Repeat("a", 500)))
	require.Equal(t, strings.Repeat("a", 497)+"…", Escape(strings.Repeat("a", 501)))
	// No escape is cut in two: 124 of four bytes make 496.
	require.Equal(t, strings.Repeat(`\x00`, 124)+"…", Escape(strings.Repeat("\x00", 1000)))
}

func FuzzEscape(f *testing.F) {
	f.Add("a\x1b[0m\u202e\xff日")
	f.Add(strings.Repeat("é", 600))
	f.Add("\u2003:::##[")
	f.Fuzz(func(t *testing.T, s string) {
		e := Escape(s)
		if len(e) > 500 || !utf8.ValidString(e) {
			t.Fatalf("%d bytes, valid UTF-8 %v", len(e), utf8.ValidString(e))
		}
		if strings.HasPrefix(strings.TrimSpace(e), "::") || strings.Contains(e, "##[") {
			t.Fatalf("%q is a command to GitHub's runner", e)
		}
		for _, r := range e {
			if !unicode.IsGraphic(r) {
				t.Fatalf("%q holds %q", e, r)
			}
		}
		if Escape(e) != e {
			t.Fatalf("escaping %q again changes it", e)
		}
	})
}
