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

// newBody begins with the model, if there is one.
func newBody(dst []byte, r *Request) *body {
	o := &body{b: append(dst, '{'), fields: r.Fields, first: true}
	if r.Model != "" {
		o.set("model", r.Model)
	}
	return o
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

// stream asks for a stream with usage at its end, as OpenAI's chat and
// completions do.
func (o *body) stream(r *Request) {
	if !r.Stream {
		return
	}
	o.set("stream", true)
	// Options without a stream are refused.
	if _, mine := o.fields["stream"]; !mine {
		o.set("stream_options", streamOptions{IncludeUsage: true})
	}
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

// nested adds an object field in which the dialect keeps options. Those of the
// request's Fields go into the same object and win.
func (o *body) nested(name string, options map[string]any) {
	raw, mine := o.fields[name]
	if !mine {
		if len(options) > 0 {
			o.append(name, options)
		}
		return
	}
	var own map[string]json.RawMessage
	if json.Unmarshal(raw, &own) != nil || own == nil {
		return // null, or what the server may refuse: left to end
	}
	for k, v := range own {
		options[k] = v
	}
	o.append(name, options)
	o.fields = maps.Clone(o.fields)
	delete(o.fields, name)
}
