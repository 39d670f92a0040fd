package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// body builds a request body: a JSON object, field after field. The request's
// own Fields win over what a dialect sets, and come last, in the order of
// their names, so that a request has one body only.
type body struct {
	b      []byte
	fields map[string]json.RawMessage
	first  bool
	err    error
}

func newBody(dst []byte, fields map[string]json.RawMessage) *body {
	return &body{b: append(dst, '{'), fields: fields, first: true}
}

// set adds a field unless the request's Fields have it.
func (o *body) set(name string, value any) {
	if _, mine := o.fields[name]; !mine {
		o.append(name, value)
	}
}

func (o *body) append(name string, value any) {
	if !o.first {
		o.b = append(o.b, ',')
	}
	o.first = false
	o.marshal(name, name)
	o.b = append(o.b, ':')
	o.marshal(name, value)
}

// marshal appends v. Unlike json.Marshal it leaves <, > and & alone, which
// prompts are full of.
func (o *body) marshal(name string, v any) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil && o.err == nil {
		o.err = fmt.Errorf("body field %q: %w", name, err)
	}
	o.b = append(o.b, bytes.TrimSuffix(buf.Bytes(), []byte("\n"))...)
}

// end adds the request's Fields and gives the body. A field of null is left out.
func (o *body) end() ([]byte, error) {
	for _, name := range slices.Sorted(maps.Keys(o.fields)) {
		if raw := o.fields[name]; len(raw) > 0 && string(bytes.TrimSpace(raw)) != "null" {
			o.append(name, raw)
		}
	}
	if o.err != nil {
		return nil, o.err
	}
	return append(o.b, '}'), nil
}

// base adds the fields that OpenAI's dialects share, after set has added the
// prompt: the model, the limit of tokens, and the wish for a stream with
// usage at its end.
func (o *body) base(r *Request, maxTokens string) {
	if r.Stream {
		o.set("stream", true)
		// Options without a stream are refused.
		if _, mine := o.fields["stream"]; !mine {
			o.set("stream_options", streamOptions{IncludeUsage: true})
		}
	}
	o.limit(r, maxTokens)
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

// limit adds the limit of output tokens under the request's or the dialect's name.
func (o *body) limit(r *Request, name string) {
	if r.MaxTokensField != "" {
		name = r.MaxTokensField
	}
	if r.MaxTokens > 0 {
		o.set(name, r.MaxTokens)
	}
}
