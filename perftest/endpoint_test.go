package perftest

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]endpoint{
		"http://h:8000":                     {"http://h:8000/v1/chat/completions", "http://h:8000/v1/models", "h:8000", "http://h:8000/v1/chat/completions", "http://h:8000/v1/models"},
		"http://h:8000/":                    {"http://h:8000/v1/chat/completions", "http://h:8000/v1/models", "h:8000", "http://h:8000/v1/chat/completions", "http://h:8000/v1/models"},
		"http://h:8000/v1":                  {"http://h:8000/v1/chat/completions", "http://h:8000/v1/models", "h:8000", "http://h:8000/v1/chat/completions", "http://h:8000/v1/models"},
		"http://h:8000/v1/":                 {"http://h:8000/v1/chat/completions", "http://h:8000/v1/models", "h:8000", "http://h:8000/v1/chat/completions", "http://h:8000/v1/models"},
		"https://h/v1/chat/completions":     {"https://h/v1/chat/completions", "https://h/v1/models", "h:443", "https://h/v1/chat/completions", "https://h/v1/models"},
		"https://h/api/v3":                  {"https://h/api/v3/chat/completions", "https://h/api/v3/models", "h:443", "https://h/api/v3/chat/completions", "https://h/api/v3/models"},
		"http://[::1]:80/v1":                {"http://[::1]:80/v1/chat/completions", "http://[::1]:80/v1/models", "[::1]:80", "http://[::1]:80/v1/chat/completions", "http://[::1]:80/v1/models"},
		"https://u:pass@h/v1?api-version=1": {"https://h/v1/chat/completions?api-version=1", "https://h/v1/models?api-version=1", "h:443", "https://h/v1/chat/completions", "https://h/v1/models"},
	} {
		got, err := parseURL(raw, "/v1", "/chat/completions")
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
}

// Each error is one line with the field, the value and what to do, and shows
// nothing that may be secret.
func TestParseURLErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                      `Target.URL is "": set it to an address with its scheme, such as "http://host:8000", or set PERFTEST_URL`,
		"host:8000":             `Target.URL is "host:8000": it has no scheme http or https: set it`,
		"10.0.0.1:8000":         `Target.URL is "10.0.0.1:8000": it has no scheme: set it`,
		"ftp://h":               `Target.URL is "ftp://h": it has no scheme http or https: set it`,
		"http://":               `Target.URL is "http://": it names no host: set it`,
		"http://u:hidden@:80":   `Target.URL is "http://[redacted]@:80": it names no host: set it`,
		"h://h/?key=hidden":     `Target.URL is "h://h/?[redacted]": it has no scheme http or https: set it`,
		"http://u:hidden@h\x7f": `Target.URL is "http://[redacted]@h\x7f": it is no URL: set it`,
	} {
		_, err := parseURL(raw, "/v1", "/chat/completions")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
		require.NotContains(t, err.Error(), "\n")
	}
}

func TestSecretsDoNotPrint(t *testing.T) {
	target := Target{URL: "http://h", APIKey: "sk-hidden", Headers: Headers{"X-Api-Key": "hidden"}}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		require.NotContains(t, fmt.Sprintf(verb, target), "hidden", verb)
		require.NotContains(t, fmt.Sprintf(verb, target.APIKey), "hidden", verb)
		require.NotContains(t, fmt.Sprintf(verb, &target.Headers), "hidden", verb)
		require.NotContains(t, fmt.Sprintf(verb, Scenario{Target: target}), "6869", verb) // "hi" in hex
	}
	data, err := json.Marshal(Scenario{Target: target})
	require.NoError(t, err)
	require.NotContains(t, string(data), "hidden")
	require.Contains(t, string(data), "[redacted]")
}

func TestBasicAuthorisationFromURL(t *testing.T) {
	h, err := Target{URL: "http://Aladdin:open%20sesame@h"}.header()
	require.NoError(t, err)
	require.Equal(t, "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", h.Get("Authorization")) // RFC 7617's example
	require.Equal(t, []string{"open sesame"}, Target{URL: "http://Aladdin:open%20sesame@h"}.secrets())
}
