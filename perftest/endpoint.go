package perftest

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"unicode"
)

// endpoint is where a target's URL leads to.
type endpoint struct {
	post        string // the URL of the API's endpoint
	models      string // the URL that lists the models, empty when it cannot be told
	host        string // host and port, for messages and for the lock
	shown       string // post without userinfo and query, safe to print
	shownModels string // models likewise
}

// parseURL takes a base URL without or with the API's base ("/v1"), or the
// whole path of an endpoint that ends in apiPath ("/chat/completions").
func parseURL(raw, apiBase, apiPath string) (endpoint, error) {
	const field, remedy = "Target.URL", `set it to an address with its scheme, such as "http://host:8000"`
	if raw == "" {
		return endpoint{}, badField(field, `""`, remedy+", or set PERFTEST_URL")
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil && !strings.Contains(raw, "://"):
		return endpoint{}, badField(field, quoteURL(raw), "it has no scheme: "+remedy)
	case err != nil:
		return endpoint{}, badField(field, quoteURL(raw), "it is no URL: "+remedy)
	case u.Scheme != "http" && u.Scheme != "https":
		return endpoint{}, badField(field, quoteURL(raw), "it has no scheme http or https: "+remedy)
	case u.Hostname() == "":
		return endpoint{}, badField(field, quoteURL(raw), "it names no host: "+remedy)
	}
	base := *u
	base.Path = strings.TrimSuffix(u.Path, "/")
	base.RawPath, base.Fragment = "", ""
	if strings.HasSuffix(base.Path, apiPath) {
		base.Path = strings.TrimSuffix(base.Path, apiPath)
	} else if base.Path == "" {
		base.Path = apiBase
	}
	at := func(p string) url.URL { v := base; v.Path = path.Join("/", base.Path, p); return v }
	post, models := at(apiPath), at("/models")
	if apiBase == "" { // Ollama and TGI list their models in OpenAI's way only
		models = at("/v1/models")
	}
	post.User, models.User = nil, nil
	shown, shownModels := post, models
	shown.RawQuery, shownModels.RawQuery = "", ""
	host := u.Host
	if u.Port() == "" {
		host = u.Hostname() + ":" + map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return endpoint{post: post.String(), models: models.String(), host: host, shown: shown.String(), shownModels: shownModels.String()}, nil
}

// quoteURL shows a URL that could not be taken, without what may be secret.
func quoteURL(raw string) string {
	if i := strings.LastIndexByte(raw, '@'); i >= 0 {
		start := strings.Index(raw, "://")
		if start < 0 || start > i {
			start = -3
		}
		raw = raw[:max(start+3, 0)] + redacted + raw[i:]
	}
	if i := strings.IndexByte(raw, '?'); i >= 0 {
		raw = raw[:i] + "?" + redacted
	}
	return fmt.Sprintf("%q", raw)
}

// config reads the files that t names.
func (t TLS) config() (*tls.Config, error) {
	cfg := &tls.Config{InsecureSkipVerify: t.Insecure, MinVersion: tls.VersionTLS12}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, badField("Target.TLS.CAFile", fmt.Sprintf("%q", t.CAFile), "it cannot be read ("+cause(err)+"): set it to a file of PEM certificates")
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, badField("Target.TLS.CAFile", fmt.Sprintf("%q", t.CAFile), "it holds no certificate: set it to a file of PEM certificates")
		}
	}
	switch {
	case t.CertFile == "" && t.KeyFile == "":
	case t.CertFile == "" || t.KeyFile == "":
		return nil, badField("Target.TLS.CertFile", fmt.Sprintf("%q with KeyFile %q", t.CertFile, t.KeyFile), "set both or neither")
	default:
		pair, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, badField("Target.TLS.CertFile", fmt.Sprintf("%q with KeyFile %q", t.CertFile, t.KeyFile), "they are no pair ("+cause(err)+"): set them to a PEM certificate and its key")
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}

// cause is the innermost text of a file's error, without the path that the
// message around it shows already.
func cause(err error) string {
	if e, ok := err.(*os.PathError); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// header is what each request carries. A name and password in the URL are
// sent as basic authorisation, unless there is a key.
func (t Target) header() (http.Header, error) {
	h := http.Header{}
	switch {
	case t.API == AnthropicMessages:
		h.Set("Anthropic-Version", "2023-06-01")
		if t.APIKey != "" {
			h.Set("X-Api-Key", string(t.APIKey))
		}
	case t.APIKey != "":
		h.Set("Authorization", "Bearer "+string(t.APIKey))
	}
	if u, err := url.Parse(t.URL); err == nil && u.User != nil && t.APIKey == "" {
		password, _ := u.User.Password()
		(&http.Request{Header: h}).SetBasicAuth(u.User.Username(), password)
	}
	for k, v := range t.Headers {
		if !validHeaderName(k) {
			return nil, badField("Target.Headers", fmt.Sprintf("%q", k), "use a name of letters, digits and hyphens")
		}
		if strings.ContainsFunc(v, unicode.IsControl) {
			return nil, badField("Target.Headers["+k+"]", redacted, "it holds a control character or line break: remove it")
		}
		h.Set(k, v)
	}
	if strings.ContainsFunc(string(t.APIKey), unicode.IsControl) {
		return nil, badField("Target.APIKey", redacted, "it holds a control character or line break: remove it")
	}
	return h, nil
}

func validHeaderName(s string) bool {
	for _, c := range []byte(s) {
		if !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
