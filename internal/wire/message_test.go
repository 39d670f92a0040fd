package wire

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestErrorMessage(t *testing.T) {
	tests := []struct{ name, body, want string }{
		{"openai", `{"error":{"message":"Incorrect API key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, "Incorrect API key"},
		{"llama.cpp", `{"error":{"code":500,"message":"[json.exception.parse_error.101] parse error","type":"server_error"}}`, "[json.exception.parse_error.101] parse error"},
		{"vllm, sglang", `{"object":"error","message":"The model x does not exist.","type":"NotFoundError","param":null,"code":404}`, "The model x does not exist."},
		{"ollama", `{"error":"model \"x\" not found"}`, `model "x" not found`},
		{"tgi", `{"error":"Input validation error: max_new_tokens","error_type":"validation"}`, "Input validation error: max_new_tokens"},
		{"anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "Overloaded"},
		{"fastapi text", `{"detail":"Not Found"}`, "Not Found"},
		{"fastapi list", `{"detail":[{"type":"missing","loc":["body","messages",0],"msg":"Field required","input":{}}]}`, "body.messages.0: Field required"},
		{"cohere", `{"id":"1","message":"invalid request"}`, "invalid request"},
		{"list", `[{"error":{"code":400,"message":"bad"}}]`, "bad"},
		{"type only", `{"error":{"type":"insufficient_quota"}}`, "insufficient_quota"},
		{"json string", `"busy"`, "busy"},
		{"json without message", ` {"status": 503} `, `{"status": 503}`},
		{"cut json", `{"error":{"message":"bu`, `{"error":{"message":"bu`},
		{"text", "404 page not found\n", "404 page not found"},
		{"html", "<!DOCTYPE html><html><head><title>503</title><style>p { x }</style></head>\n<body><h1>Service\nUnavailable</h1><!-- x --></body></html>", "503 Service Unavailable"},
		{"html without text", "<html></html>", "<html></html>"},
		{"control characters", "a\x1b[31mb\x00\u00ad\u202e\xff", `a\x1b[31mb\x00\u00ad\u202e` + "\uFFFD"},
		{"newline in message", `{"error":"a\nb\u2028c"}`, `a\nb\u2028c`},
		{"blank", " \n", ""},
		{"long", strings.Repeat("x", 501), strings.Repeat("x", 497) + "…"},
		{"at the bound", strings.Repeat("x", 500), strings.Repeat("x", 500)},
		{"long runes", strings.Repeat("é", 300), strings.Repeat("é", 248) + "…"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { require.Equal(t, test.want, ErrorMessage([]byte(test.body))) })
	}
}

// FuzzErrorMessage: whatever a server sends, the message is fit to print.
func FuzzErrorMessage(f *testing.F) {
	f.Add([]byte(`{"error":{"message":"a\u0000b"}}`))
	f.Add([]byte("<html><p>\xff\x1b</html>"))
	f.Add([]byte(`{"detail":[{"loc":["body"],"msg":"x"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		got := ErrorMessage(body)
		require.LessOrEqual(t, len(got), 500)
		require.True(t, utf8.ValidString(got))
		require.NotContains(t, got, "\n")
		require.NotContains(t, got, "\x1b")
		require.Equal(t, strings.TrimSpace(string(body)) == "", got == "")
	})
}

func TestModels(t *testing.T) {
	got, err := Models([]byte(`{"object":"list","data":[{"id":"a","object":"model"},{"id":""},{"id":"b"}],"models":[{"name":"c"}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, got)
	got, err = Models([]byte(`{"models":[{"name":"c"}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"c"}, got)
	got, err = Models([]byte(`{"object":"list","data":[]}`))
	require.NoError(t, err)
	require.Empty(t, got)
	got, err = Models([]byte(`{"data":[` + strings.Repeat(`{"id":"a"},`, 1500) + `{"id":"` + strings.Repeat("x", 501) + `"}]}`))
	require.NoError(t, err)
	require.Len(t, got, 1000)
	for body, want := range map[string]string{
		`{"detail":"Not Found"}`: "no list of models: Not Found", "<p>hello</p>": "no list of models: hello", `{"data":{}}`: `no list of models: {"data":{}}`,
	} {
		_, err = Models([]byte(body))
		require.EqualError(t, err, want)
	}
}
