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
	require.Contains(t, Target{URL: "http://Aladdin:open%20sesame@h"}.secrets(), "QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
}

// Keys are found wherever they were given, also in the forms in which a server
// may echo them.
func TestSecretsOfATarget(t *testing.T) {
	all := Target{
		URL: "http://user:p4ssword@h/v1?key=query-key", APIKey: "sk-1234",
		Headers: Headers{"X-Team-Key": "header-key"},
		Params:  map[string]any{"api_key": "body", "temperature": 0.5, "stop": "short text", "nested": map[string]any{"x": "a-long-text-without-blanks"}, "max_tokens": "text"},
	}.secrets()
	for _, want := range []string{"user", "p4ssword", "user:p4ssword", "query-key", "sk-1234", "Bearer sk-1234", "header-key", "body", "a-long-text-without-blanks"} {
		require.Contains(t, all, want)
	}
	for _, harmless := range []string{"short text", "text", "0.5"} {
		require.NotContains(t, all, harmless)
	}
	require.Contains(t, Target{URL: "http://only-a-name@h"}.secrets(), "only-a-name")
}

func TestTargetPrintsWithoutSecrets(t *testing.T) {
	target := Target{URL: "http://user:hidden@h/v1?key=hidden", Params: map[string]any{"api_key": "hidden", "temperature": 0.5}}
	for _, text := range []string{fmt.Sprintf("%+v", target), fmt.Sprintf("%v", Scenario{Target: target}), fmt.Sprintf("%#v", target)} {
		require.NotContains(t, text, "hidden")
		require.Contains(t, text, "temperature")
	}
	data, err := json.Marshal(target)
	require.NoError(t, err)
	require.NotContains(t, string(data), "hidden")
}

func TestOneNameForThisMachine(t *testing.T) {
	for _, host := range []string{"localhost:8000", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST:8000", "0.0.0.0:8000"} {
		require.Equal(t, "localhost:8000", oneName(host))
	}
	require.Equal(t, "gpu1:8000", oneName("gpu1:8000"))
}
