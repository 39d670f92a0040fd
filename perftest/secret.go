package perftest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
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
