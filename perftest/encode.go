package perftest

import (
	"cmp"
	"encoding/json"
	"maps"
)

// encoded is what the record of a request needs to know of its body.
type encoded struct {
	asked     int // output tokens, 0 when not bounded
	ignoreEOS bool
	choices   int // of all prompts together
	prompts   int
	prompt    string // for a tokenizer, where it is all of the input
	promptIDs int
}

// encode makes the body of a request. Fields of the request win over params,
// and both over the rest.
func (r *run) encode(req Request, params map[string]json.RawMessage) ([]byte, encoded, error) {
	if len(req.Fields) > 0 && len(params) > 0 {
		fields := maps.Clone(params)
		maps.Copy(fields, req.Fields)
		params = fields
	} else if len(req.Fields) > 0 {
		params = req.Fields
	}
	req.Fields = params
	c := Call{Request: req, Model: r.model, Stream: !r.scenario.Target.NoStream, MaxTokensField: r.scenario.Target.MaxTokensField}
	body, err := r.api.AppendBody(nil, &c)
	e := r.askedOf(&c)
	if r.scenario.Tokenizer != nil {
		e.prompt, e.promptIDs = r.plainInput(&c)
	}
	return body, e, err
}

// askedOf reads what a call asks for, also where its fields say it.
func (r *run) askedOf(c *Call) encoded {
	number := func(name string) (n int) {
		if v, ok := c.Fields[name]; ok && json.Unmarshal(v, &n) == nil {
			return n
		}
		return 0
	}
	e := encoded{asked: c.MaxTokens, choices: max(1, number("n")), prompts: 1}
	if r.api == Completions && len(c.Inputs) > 0 {
		e.prompts = len(c.Inputs)
		e.choices *= e.prompts
	}
	for _, name := range lengthFields(&r.scenario.Target) {
		if n := number(name); n > 0 {
			e.asked = n
			break
		}
	}
	e.ignoreEOS = string(c.Fields["ignore_eos"]) == "true"
	return e
}

// lengthFields are the names under which a body may bound its answer.
func lengthFields(t *Target) []string {
	return []string{cmp.Or(t.MaxTokensField, "max_tokens"), "max_tokens", "max_completion_tokens", "max_output_tokens"}
}
