package perftest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// preflightTimeout bounds the one request before the load.
const preflightTimeout = 2 * time.Minute

// findModel is the model to ask for: the target's, or else the first one that
// the server lists.
func (r *run) findModel(ctx context.Context) (string, error) {
	if m := r.scenario.Target.Model; m != "" {
		return m, nil
	}
	models, err := r.models(ctx)
	switch {
	case errors.Is(err, errNoList):
		return "", badField("Target.Model", `""`, fmt.Sprintf("and the server does not list its models (%v): set it, or PERFTEST_MODEL", err))
	case err != nil:
		return "", err
	case len(models) == 0:
		return "", badField("Target.Model", `""`, "and the server lists no model: set it, or PERFTEST_MODEL")
	}
	return models[0], nil
}

// models are the names that the server lists.
func (r *run) models(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, min(30*time.Second, r.timeouts.Total))
	defer cancel()
	status, body, err := r.client.Get(ctx, r.endpoint.models)
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w%s (no load was sent)", r.endpoint.shownModels, err, remedyFor(err.Error()))
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return nil, fmt.Errorf("GET %s: status %d: set Target.APIKey or PERFTEST_API_KEY (no load was sent)", r.endpoint.shownModels, status)
	case status == http.StatusNotFound, status == http.StatusMethodNotAllowed, status == http.StatusNotImplemented:
		return nil, fmt.Errorf("GET %s: status %d: %w", r.endpoint.shownModels, status, errNoList)
	case status != http.StatusOK:
		return nil, fmt.Errorf("GET %s: status %d: see the server's log, or set Target.Model or PERFTEST_MODEL (no load was sent)", r.endpoint.shownModels, status)
	}
	models, err := wire.Models(body)
	if err != nil {
		return nil, fmt.Errorf("GET %s: %s: %w", r.endpoint.shownModels, r.client.Redact(err.Error()), errNoList)
	}
	return models, nil
}

// errNoList is that of a server without a list of models; the path may be wrong.
var errNoList = errors.New("no list of models, or a wrong path in Target.URL (PERFTEST_URL)")

// preflight asks the server for one token, so that what would fail every
// request fails here, once, with what to do about it.
func (r *run) preflight(ctx context.Context, cfg client.Config) error {
	rec, err := r.ask(ctx, cfg, r.smallest())
	if err != nil {
		return err
	}
	counted := rec.InputTokens != record.Absent || rec.OutputTokens != record.Absent
	if !counted && r.api.Framing() != WholeJSON && !r.scenario.Target.UsageOptional && !r.countsTokens() {
		return r.refused("the stream carried no usage, without which tokens cannot be counted: "+
			"use a server that honours stream_options.include_usage, set Scenario.Tokenizer to the model's, or set Target.UsageOptional to go without token rates and TPOT", rec)
	}
	return nil
}

// probe is what a workload may ask the server, see [RunInfo].
func (r *run) probe(ctx context.Context, cfg client.Config, req Request) (int, error) {
	req.MaxTokens = 1
	rec, err := r.ask(ctx, cfg, req)
	if err != nil {
		return 0, err
	}
	if rec.InputTokens == record.Absent {
		return 0, r.refused("the server did not say how many input tokens it counted, which the workload needs to know", rec)
	}
	return int(rec.InputTokens), nil
}

// ask sends one request ahead of the load. An answer without text is one, too.
func (r *run) ask(ctx context.Context, cfg client.Config, req Request) (*record.Record, error) {
	body, _, err := r.encode(req, r.withoutLengths())
	if err != nil {
		return nil, err
	}
	cfg.Timeouts.Total = min(cfg.Timeouts.Total, preflightTimeout)
	cfg.ShortIsFailure = false
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	var rec record.Record
	rec.Reset()
	c.NewSlot().Do(ctx, client.Call{Body: body}, &rec, func(*record.Record) {})
	c.Close() // hands the record over, if it still waits for the end of the body
	if !rec.OK() && rec.Class != record.ClassEmpty {
		return nil, r.refused(r.remedy(ctx, &rec), &rec)
	}
	return &rec, nil
}

// smallest is the request of the preflight.
func (r *run) smallest() Request {
	switch r.api {
	case Embeddings:
		return Request{Inputs: []string{"Hello"}}
	case Rerank:
		return Request{Query: "Hello", Documents: []string{"Hello"}}
	}
	return Request{Prompt: "Hello", MaxTokens: 1}
}

// withoutLengths are the target's Params without what would ask for a longer
// answer than one token.
func (r *run) withoutLengths() map[string]json.RawMessage {
	params := maps.Clone(r.params)
	for _, name := range append(lengthFields(&r.scenario.Target), "min_tokens", "n", "best_of") {
		delete(params, name)
	}
	return params
}

// refused is the preflight's error.
func (r *run) refused(remedy string, rec *record.Record) error {
	what := cmp.Or(rec.Class, "no usage")
	if rec.Message != "" {
		what += ": " + rec.Message
	}
	return fmt.Errorf("preflight: POST %s: %s: %s (no load was sent)", r.endpoint.shown, what, remedy)
}

// remedy is what to do about a failed preflight.
func (r *run) remedy(ctx context.Context, rec *record.Record) string {
	switch rec.Class {
	case record.ClassConnect:
		if m := remedyFor(rec.Message); m != "" {
			return strings.TrimPrefix(m, ": ")
		}
		return "check Target.URL (PERFTEST_URL) and that the server runs"
	case record.ClassStatus:
		return r.statusRemedy(ctx, rec)
	case record.ClassTimeout:
		if rec.TokenEvents > 1 {
			return "the server goes on after the one token that it was asked for: set Target.MaxTokensField to the name that it knows for the limit"
		}
		return "the server took too long for one token: check that it has finished loading the model, or raise Timeouts"
	case record.ClassReset:
		if strings.Contains(rec.Message, "tls:") {
			return "the server ended the TLS connection: it may want a client certificate: set Target.TLS.CertFile and KeyFile"
		}
	case record.ClassStreamError:
		return "the server answered with an error inside the stream: see its log"
	case record.ClassMalformed:
		return "this is no answer of the " + r.api.Name() + " API: check the path in Target.URL (PERFTEST_URL), and that the server can stream"
	case record.ClassTruncated:
		return "the stream ended without an end: see the server's log, and what stands between (a proxy?)"
	}
	return "see the server's log"
}

func (r *run) statusRemedy(ctx context.Context, rec *record.Record) string {
	switch {
	case rec.Status == http.StatusUnauthorized || rec.Status == http.StatusForbidden:
		return "set Target.APIKey or PERFTEST_API_KEY to a key that the server takes"
	case rec.Status == http.StatusNotFound || rec.Status == http.StatusBadRequest && strings.Contains(rec.Message, "model"):
		models, err := r.models(ctx)
		if err != nil || len(models) == 0 {
			return "check the path in Target.URL (PERFTEST_URL) and Target.Model (PERFTEST_MODEL)"
		}
		const most = 10
		more := ""
		if len(models) > most {
			more = fmt.Sprintf(" and %d more", len(models)-most)
			models = models[:most]
		}
		for i, m := range models {
			models[i] = fmt.Sprintf("%q", r.client.Redact(m))
		}
		return fmt.Sprintf("Target.Model is %q: the server has %s%s: set Target.Model or PERFTEST_MODEL", r.client.Redact(r.model), strings.Join(models, ", "), more)
	case rec.Status == http.StatusTooManyRequests:
		return "the server limits this key or is full: wait, or raise the limit"
	case 300 <= rec.Status && rec.Status < 400:
		return "set Target.URL (PERFTEST_URL) to where the server is; redirects are not followed"
	case strings.Contains(rec.Message, "max_completion_tokens"):
		return `set Target.MaxTokensField to "max_completion_tokens"`
	case rec.Status == http.StatusBadRequest || rec.Status == http.StatusUnprocessableEntity:
		return "the server does not take this body: check Target.Params and Target.MaxTokensField"
	}
	return "see the server's log"
}

// remedyFor is the remedy of a connection that could not be made, with the
// colon before it; empty when the text says nothing that is known.
func remedyFor(text string) string {
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(strings.ToLower(text), p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("refused"):
		return ": nothing listens there: start the server, or correct Target.URL (PERFTEST_URL)"
	case has("no such host", "lookup"):
		return ": the host's name is not known: correct Target.URL (PERFTEST_URL)"
	case has("http response to https", "look like a tls handshake"):
		return ": the server speaks no TLS there: use http:// in Target.URL (PERFTEST_URL)"
	case has("certificate", "x509"):
		return ": set Target.TLS.CAFile to the certificate that signed the server's, or Target.TLS.Insecure for a test"
	case has("tls"):
		return ": check that the server speaks TLS there, and Target.TLS"
	}
	return ""
}
