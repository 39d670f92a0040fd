package client

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/wire"
)

func TestNewNamesWhatIsWrong(t *testing.T) {
	good := Config{URL: "http://127.0.0.1:1/v1/chat/completions", Timeouts: patient, Dialect: wire.Chat, Epoch: time.Now()}
	_, err := New(good)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		spoil func(*Config)
		want  string
	}{
		"no scheme":         {func(c *Config) { c.URL = "localhost/v1" }, "want http://host"},
		"no host":           {func(c *Config) { c.URL = "http:///v1" }, "want http://host"},
		"unreadable":        {func(c *Config) { c.URL = "http://u:hunter22@h ost/" }, "URL cannot be parsed"},
		"password":          {func(c *Config) { c.URL = "ftp://u:hunter22@host/" }, "URL is"},
		"connect":           {func(c *Config) { c.Timeouts.Connect = 0 }, "Timeouts.Connect is 0s"},
		"first token":       {func(c *Config) { c.Timeouts.FirstToken = -1 }, "Timeouts.FirstToken is -1ns"},
		"between":           {func(c *Config) { c.Timeouts.BetweenTokens = 0 }, "Timeouts.BetweenTokens is 0s"},
		"total":             {func(c *Config) { c.Timeouts.Total = 0 }, "Timeouts.Total is 0s"},
		"dialect":           {func(c *Config) { c.Dialect = nil }, "no Dialect"},
		"epoch":             {func(c *Config) { c.Epoch = time.Time{} }, "no Epoch"},
		"header name":       {func(c *Config) { c.Header = http.Header{"X Y": {"1"}} }, `header name "X Y"`},
		"header value":      {func(c *Config) { c.Header = http.Header{"X": {"hunter22\r\nY: 1"}} }, `value of header "X"`},
		"proxy with secret": {func(c *Config) { c.Proxy = badProxy }, "the proxy for the URL cannot be used"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.spoil(&cfg)
			_, err := New(cfg)
			require.ErrorContains(t, err, c.want)
			require.NotContains(t, err.Error(), "hunter22")
		})
	}
}

func badProxy(*http.Request) (*url.URL, error) {
	return url.Parse(strings.Clone("http://u:hunter22@h ost/")) // as the environment may hold it
}

func TestWhatIsSent(t *testing.T) {
	var got []*http.Request
	srv := serve(t, false, func(p *peer) {
		for {
			req, ok := p.request()
			if !ok {
				return
			}
			got = append(got, req)
			p.send(streamOf(tok("a"), stop, done))
		}
	})
	c := start(t, Config{
		URL:    strings.Replace(srv.url, "http://", "http://ann:hunter22@", 1),
		Header: http.Header{"x-team": {"a"}, "Host": {"model.example"}},
	})
	rec := do(t.Context(), c.NewSlot(), Call{Body: []byte(`{"stream":true}`)}, 0)
	require.Empty(t, rec.Message)
	c.Close()
	require.Len(t, got, 1)
	r := got[0]
	require.Equal(t, "POST", r.Method)
	require.Equal(t, "/v1/chat/completions", r.URL.Path)
	require.Equal(t, "model.example", r.Host)
	require.Equal(t, int64(15), r.ContentLength)
	require.Equal(t, "Basic YW5uOmh1bnRlcjIy", r.Header.Get("Authorization"))
	require.Equal(t, "a", r.Header.Get("X-Team"))
	require.Equal(t, "application/json", r.Header.Get("Content-Type"))
	require.Equal(t, "slogate", r.Header.Get("User-Agent"))
	require.Empty(t, r.Header.Get("Accept-Encoding"))
}

func TestGet(t *testing.T) {
	srv := serve(t, false, func(p *peer) {
		req, ok := p.request()
		if !ok {
			return
		}
		switch req.URL.Path {
		case "/moved":
			p.send(plainAnswer("302 Found", "Location: /v1/models\r\n", ""))
		case "/cut":
			p.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{")
		case "/big":
			p.send("HTTP/1.1 200 OK\r\n\r\n", strings.Repeat(" ", maxGet+1))
		default:
			p.send(plainAnswer("200 OK", "X-Key: "+req.Header.Get("Authorization")+"\r\n", `{"data":[{"id":"m"}]}`))
		}
	})
	c := start(t, Config{URL: srv.url, Header: http.Header{"Authorization": {"Bearer hunter22"}}})
	base := strings.TrimSuffix(srv.url, "/chat/completions")

	status, body, err := c.Get(t.Context(), base+"/models")
	require.NoError(t, err)
	require.Equal(t, 200, status)
	require.Equal(t, `{"data":[{"id":"m"}]}`, string(body))

	root := strings.TrimSuffix(base, "/v1")
	status, _, err = c.Get(t.Context(), root+"/moved")
	require.NoError(t, err)
	require.Equal(t, 302, status)

	status, _, err = c.Get(t.Context(), root+"/cut")
	require.ErrorContains(t, err, "unexpected EOF")
	require.Equal(t, 200, status)

	_, _, err = c.Get(t.Context(), root+"/big")
	require.ErrorContains(t, err, "more than 4194304 bytes")

	_, _, err = c.Get(t.Context(), "http://u:hunter22@h ost/")
	require.EqualError(t, err, "URL cannot be parsed")
}

func TestGetErrorKeepsItsChainAndHidesSecrets(t *testing.T) {
	c := start(t, Config{
		URL:     "http://host.example/v1/chat/completions",
		Secrets: []string{"hunter22"},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "hunter22.example", IsNotFound: true}
		},
	})
	_, _, err := c.Get(t.Context(), "http://hunter22.example/v1/models")
	require.EqualError(t, err, "lookup [redacted].example: no such host")
	var dns *net.DNSError
	require.ErrorAs(t, err, &dns)
}
