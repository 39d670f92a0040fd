package client

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestRedact(t *testing.T) {
	r := newRedactor([]string{"sk-a/b+c=12345", " padded ", ""})
	for in, want := range map[string]string{
		"key sk-a/b+c=12345 is bad":               "key [redacted] is bad",
		"sk-a/b+c=12345sk-a/b+c=12345":            "[redacted][redacted]",
		"?key=sk-a%2Fb%2Bc%3D12345&x":             "?key=[redacted]&x",
		"Basic c2stYS9iK2M9MTIzNDU=":              "Basic [redacted]",
		"raw c2stYS9iK2M9MTIzNDU.":                "raw [redacted].",
		"is padded here":                          "is[redacted]here",
		"'padded'":                                "'[redacted]'",
		"cut sk-a/b+c":                            "cut [redacted]",
		"cut sk-a/b…":                             "cut [redacted]…",
		"no secret":                               "no secret",
		"KEY SK-A/B+C=12345!":                     "KEY [redacted]!",
		"?key=sk-a%2fb%2bc%3d12345&x":             "?key=[redacted]&x",
		`{"key":"sk-a\/b+c=12345"}`:               `{"key":"[redacted]"}`,
		`{"key":"s\u006b-a\u002fb+c\u003D12345"}`: `{"key":"[redacted]"}`,
		`{\"key\":\"sk-a\\\/b+c=12345\"}`:         `{\"key\":\"[redacted]\"}`,
		`cut s\u006b-a\/b`:                        "cut [redacted]",
		`"A\n\u00e9\u00" \`:                       `"A\n\u00e9\u00" \`,
		"a\nb\x1b[31m\u202e \xff é":               "a\\nb\\x1b[31m\\u202e \ufffd é",
		"tail of three letters is kept: sk-":      "tail of three letters is kept: sk-",
		"":                                        "",
	} {
		require.Equal(t, want, r.clean(in, maxMessage), in)
	}
}

func TestBoundIsOnRunes(t *testing.T) {
	r := newRedactor(nil)
	got := r.clean(strings.Repeat("é", 400), 500)
	require.True(t, utf8.ValidString(got))
	require.Len(t, got, 499) // 248 letters of two bytes and the mark's three
}

func FuzzRedact(f *testing.F) {
	f.Add("sk-secret-1", "before sk-secret-1 after", 10)
	f.Add("a&b c", "a%26b+c", 3)
	f.Fuzz(func(t *testing.T, secret, text string, cut int) {
		// A secret that is part of the replacement can only be shown by it.
		if len(secret) < 6 || strings.Contains(redacted+more, secret) {
			return
		}
		r := newRedactor([]string{secret})
		for _, form := range []string{secret, url.QueryEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret))} {
			got := r.clean("{"+text+"}{"+form+"}", maxMessage)
			require.LessOrEqual(t, len(got), maxMessage)
			require.True(t, utf8.ValidString(got))
			require.NotContains(t, strings.ReplaceAll(got, redacted, "\x00"), secret)
			require.NotContains(t, strings.ReplaceAll(r.secretsOut("{"+form+"}"), redacted, "\x00"), form)
		}
	})
}

// What a server repeats is without secrets however it spells them.
func TestExcerptsAreRedacted(t *testing.T) {
	const key = "Sk-Live/1234567"
	for name, answer := range map[string]string{
		"coding":       strings.Replace(streamOf(tok("a")), "\r\n", "\r\nContent-Encoding: x-"+key+"\r\n", 1),
		"no stream":    plainAnswer("200 OK", "", `{"key":"S\u006b-Live\/1234567"}`),
		"event":        streamOf(`data: {"key":"S\u006b-Live\/1234567"` + "\n\n"),
		"status":       plainAnswer("401 Unauthorized", "", `{"error":{"message":"bad key S\u006b-Live\/1234567"}}`),
		"finish":       streamOf(strings.Replace(stop, "stop", "S\\u006b-live\\/1234567", 1)),
		"beside":       streamOf(`S\u006b-Live\/1234567` + "\n\n"),
		"content type": plainAnswer("200 OK", "Content-Type: sk-live%2f1234567\r\n", "<p>no</p>"),
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, false, func(p *peer) { p.request(); p.send(answer); p.request() })
			rec := do(t.Context(), start(t, Config{URL: srv.url, Secrets: []string{key}}).NewSlot(), Call{}, 0)
			require.NotEmpty(t, rec.Message)
			require.NotContains(t, strings.ToLower(rec.Message+rec.FinishReason), "1234567")
			require.Contains(t, rec.Message+rec.FinishReason, redacted)
		})
	}
}
