package perftest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
)

const redacted = "[redacted]"

// Secret is a string that prints and marshals as "[redacted]".
type Secret string

// Format implements [fmt.Formatter] for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, s.shown()) }

// MarshalText implements encoding.TextMarshaler.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.shown()), nil }

func (s Secret) shown() string {
	if s == "" {
		return ""
	}
	return redacted
}

// Headers are HTTP headers whose values print and marshal as "[redacted]".
type Headers map[string]string

// Format implements [fmt.Formatter] for every verb.
func (h Headers) Format(f fmt.State, _ rune) {
	var b strings.Builder
	b.WriteString("map[")
	for i, k := range slices.Sorted(maps.Keys(h)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(k + ":" + redacted)
	}
	b.WriteByte(']')
	io.WriteString(f, b.String())
}

// MarshalJSON implements json.Marshaler.
func (h Headers) MarshalJSON() ([]byte, error) {
	shown := make(map[string]string, len(h))
	for k := range h {
		shown[k] = redacted
	}
	return json.Marshal(shown)
}

// Format implements [fmt.Formatter] for every verb: without what may be secret.
func (t Target) Format(f fmt.State, verb rune) {
	type plain Target // without this method
	fmt.Fprintf(f, fmt.FormatString(f, verb), plain(t.shown()))
}

// MarshalJSON implements json.Marshaler: without what may be secret.
func (t Target) MarshalJSON() ([]byte, error) {
	type plain Target
	return json.Marshal(plain(t.shown()))
}

// shown is t without the password and query of its URL and the texts among its
// Params.
func (t Target) shown() Target {
	if u, err := url.Parse(t.URL); err != nil {
		t.URL = redacted
	} else if u.User != nil || u.RawQuery != "" {
		if u.User != nil {
			u.User = url.User("redacted")
		}
		if u.RawQuery != "" {
			u.RawQuery = "redacted"
		}
		t.URL = u.String()
	}
	if len(t.Params) > 0 {
		params := make(map[string]any, len(t.Params))
		for k, v := range t.Params {
			params[k] = withoutTexts(plainJSON(v))
		}
		t.Params = params
	}
	return t
}

// secrets are the texts that no message or file may hold: keys, header values,
// name, password and query of the URL, and texts among the Params that look
// like keys.
func (t Target) secrets() []string {
	var all []string
	add := func(s string) {
		if s = strings.TrimSpace(s); len(s) >= 4 { // shorter ones would blank out ordinary text
			all = append(all, s)
		}
	}
	header, _ := t.header()
	for name, values := range header {
		if name == "Anthropic-Version" {
			continue
		}
		for _, v := range values {
			add(v)
			if _, after, ok := strings.Cut(v, " "); ok { // "Bearer key", "Basic …"
				add(after)
			}
		}
	}
	if u, err := url.Parse(t.URL); err == nil {
		add(u.User.Username())
		if p, ok := u.User.Password(); ok {
			add(p)
			add(u.User.Username() + ":" + p)
		}
		for _, vs := range u.Query() {
			for _, v := range vs {
				add(v)
			}
		}
	}
	for name, v := range t.Params {
		secretsIn(name, plainJSON(v), add)
	}
	return all
}

// secretsIn finds the texts in a parameter that look like keys: by the name
// that they go by, or long and without a blank.
func secretsIn(name string, v any, add func(string)) {
	switch v := v.(type) {
	case string:
		if secretName(name) || len(v) >= 16 && !strings.ContainsAny(v, " \n") {
			add(v)
		}
	case []any:
		for _, one := range v {
			secretsIn(name, one, add)
		}
	case map[string]any:
		for k, one := range v {
			secretsIn(k, one, add)
		}
	}
}

func secretName(name string) bool {
	name = strings.ToLower(name)
	for _, part := range []string{"key", "token", "secret", "password", "auth", "credential"} {
		if strings.Contains(name, part) && !strings.HasSuffix(name, "tokens") {
			return true
		}
	}
	return false
}

// plainJSON is v as JSON has it, nil where it cannot.
func plainJSON(v any) (plain any) {
	data, err := json.Marshal(v)
	if err != nil || json.Unmarshal(data, &plain) != nil {
		return nil
	}
	return plain
}
