package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

const maxGet = 4 << 20 // bytes of an answer to Get

// Get fetches url with the client's headers and returns the status and the
// body, of which at most 4 MiB are read. Redirects are not followed. It is for
// the small questions ahead of a load, keeps no connection and takes at most
// Timeouts.Total. The text of an error is without secrets; its chain is kept.
func (c *Client) Get(ctx context.Context, target string) (status int, body []byte, err error) {
	u, err := url.Parse(target)
	if err != nil {
		return 0, nil, errors.New("URL cannot be parsed")
	}
	u.User = nil // its place is the header, as in New
	ctx, cancel := context.WithTimeout(ctx, c.cfg.Timeouts.Total)
	defer cancel()
	t := c.transport(new(lags), new(spare))
	t.DisableKeepAlives = true
	defer t.CloseIdleConnections()
	req := newRequest(http.MethodGet, u, u.Host, c.getHeader).WithContext(ctx)
	resp, err := t.RoundTrip(req)
	if err != nil {
		return 0, nil, c.safe(err)
	}
	defer resp.Body.Close()
	body, err = io.ReadAll(io.LimitReader(resp.Body, maxGet+1))
	if err == nil && len(body) > maxGet {
		err = fmt.Errorf("answer of more than %d bytes", maxGet)
	}
	if err != nil {
		return resp.StatusCode, nil, c.safe(err)
	}
	return resp.StatusCode, body, nil
}

// safe gives err a text that may be shown.
func (c *Client) safe(err error) error {
	return &safeError{text: c.redact.clean(err.Error(), maxMessage), err: err}
}

type safeError struct {
	text string
	err  error
}

func (e *safeError) Error() string { return e.text }
func (e *safeError) Unwrap() error { return e.err }
