// Package export holds what the exporters have in common: bounded requests,
// and errors that hold no secret.
package export

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
	"unicode"
)

// Patience is how long an exporter waits for its endpoint at the end of a run.
// It is less than the 2 s that a run waits for its observers, so that the
// exporter itself can say what was not taken.
const Patience = 1500 * time.Millisecond

// CheckURL refuses what is no http or https address, by the name of its field,
// and a query or fragment, which no exporter could send: a path is put behind
// the address.
func CheckURL(field, raw string) error {
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf(`%s is %q: set it to an address with its scheme, such as "http://host:9091"`, field, Shown(raw))
	case u.RawQuery != "" || u.ForceQuery:
		return fmt.Errorf(`%s is %q with a query ([redacted]), which would not be sent: remove what follows the "?", and put a key into Headers`, field, Shown(raw))
	case u.Fragment != "":
		return fmt.Errorf(`%s is %q with a fragment, which would not be sent: remove what follows the "#"`, field, Shown(raw))
	}
	return nil
}

// CheckNoUser refuses a name and password in an address for which the exporter
// cannot send them.
func CheckNoUser(field, raw string) error {
	if u, err := url.Parse(raw); err == nil && u.User != nil {
		return fmt.Errorf(`%s is %q with a name or password ([redacted]), which would not be sent: remove what stands before the "@", and set Headers["Authorization"]`, field, Shown(raw))
	}
	return nil
}

// CheckHeaders refuses headers that cannot be sent, without showing a value.
func CheckHeaders(field string, headers map[string]string) error {
	for k, v := range headers {
		if k == "" || strings.ContainsFunc(k, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == ':' }) {
			return fmt.Errorf("%s is %q: use a name of letters, digits and hyphens", field, k)
		}
		if strings.ContainsFunc(v, unicode.IsControl) {
			return fmt.Errorf("%s[%s] is [redacted]: it holds a control character or line break: remove it", field, k)
		}
	}
	return nil
}

// Shown is a URL without userinfo, query and fragment; nothing of one in which
// they cannot be told, as where the scheme is missing.
func Shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" && strings.Contains(raw, "@") {
		return "[redacted]"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}

// Client is an HTTP client with the headers. It follows no redirect, which may
// lead to a host that is not to see them; an answer whose status is no success
// is a [StatusError], and of any other 64 KiB at most are read.
func Client(headers map[string]string) *http.Client {
	return &http.Client{
		Transport:     &transport{base: &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 2, MaxResponseHeaderBytes: 64 << 10}, headers: headers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Timeout:       Patience,
	}
}

type transport struct {
	base    *http.Transport
	headers map[string]string
}

// RoundTrip implements [http.RoundTripper].
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for k, v := range t.headers {
		req.Header.Set(k, v)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		_ = resp.Body.Close()
		return nil, StatusError(resp.StatusCode)
	}
	resp.Body = bounded{io.LimitReader(resp.Body, 64<<10), resp.Body}
	return resp, nil
}

type bounded struct {
	io.Reader
	io.Closer
}

// CloseIdleConnections is asked for by [http.Client.CloseIdleConnections].
func (t *transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// Why says in a few words why a request failed. Neither the URL nor what the
// server sent is in it: both may hold what is secret.
func Why(err error) string {
	var status StatusError
	var op *net.OpError
	var dns *net.DNSError
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &status):
		return status.Error()
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), timedOut(err):
		return "no answer in time"
	case errors.As(err, &syntax), errors.As(err, &kind):
		return "its answer is not understood"
	case errors.As(err, &dns):
		return "its name is not known"
	case errors.As(err, &op):
		return op.Op + ": " + op.Err.Error()
	}
	return "the connection failed"
}

func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// StatusError is an answer with a status that is no success.
type StatusError int

func (e StatusError) Error() string { return fmt.Sprintf("status %d", int(e)) }

// The bounds of histograms, in seconds: those that OpenTelemetry's GenAI
// conventions advise for time to first token and for the time of an operation,
// and for a token those with finer ones below 10 ms, since small models are
// faster than that.
var (
	FirstTokenBounds = []float64{0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	TokenBounds      = []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5}
	LatencyBounds    = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
)
