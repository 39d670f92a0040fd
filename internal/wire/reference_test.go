package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// node is a JSON value as encoding/json reads it, with keys in order and
// doubles kept. It is what the fast decoders are compared with.
type node struct {
	kind byte // '{', '[', '"', '0' or 'n' (null and the booleans)
	text string
	keys []string
	vals []node
}

// parseTree gives false for what encoding/json refuses, or nests too deep.
func parseTree(data []byte) (node, bool) {
	if !json.Valid(data) {
		return node{}, false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	n, ok := build(d, 0)
	if _, err := d.Token(); err != io.EOF {
		return node{}, false
	}
	return n, ok
}

func build(d *json.Decoder, depth int) (node, bool) {
	token, err := d.Token()
	if err != nil {
		return node{}, false
	}
	switch v := token.(type) {
	case json.Delim:
		n := node{kind: byte(v)}
		if depth == maxDepth {
			return n, false
		}
		for d.More() {
			if v == '{' {
				key, _ := d.Token()
				n.keys = append(n.keys, key.(string))
			}
			child, ok := build(d, depth+1)
			if !ok {
				return n, false
			}
			n.vals = append(n.vals, child)
		}
		d.Token()
		return n, true
	case string:
		return node{kind: '"', text: v}, true
	case json.Number:
		return node{kind: '0', text: string(v)}, true
	case bool:
		return node{kind: 'n', text: strconv.FormatBool(v)}, true
	}
	return node{kind: 'n', text: "null"}, true
}

// all gives the values of a key of an object, in order.
func (n node) all(keys ...string) (out []node) {
	if n.kind != '{' {
		return nil
	}
	for i, k := range n.keys {
		for _, want := range keys {
			if k == want {
				out = append(out, n.vals[i])
			}
		}
	}
	return out
}

func (n node) list() []node {
	if n.kind == '[' {
		return n.vals
	}
	return nil
}

func (n node) isText() bool { return n.kind == '"' && n.text != "" }

// anyOf reports whether a key of n holds text.
func (n node) anyOf(keys ...string) bool {
	for _, v := range n.all(keys...) {
		if v.isText() {
			return true
		}
	}
	return false
}

func (n node) count() int64 {
	f, err := strconv.ParseFloat(n.text, 64)
	if n.kind != '0' || err != nil || f < 0 || f > maxCount {
		return -1
	}
	return int64(math.Trunc(f))
}

// largest gives the largest count of the keys.
func (n node) largest(keys ...string) int64 {
	best := int64(-1)
	for _, v := range n.all(keys...) {
		best = max(best, v.count())
	}
	return best
}

// refContent gives what a text or a list of parts holds.
func refContent(n node) (answer, reasoning bool) {
	switch n.kind {
	case '"':
		return n.isText(), false
	case '[':
		for _, v := range n.vals {
			a, r := refContent(v)
			answer, reasoning = answer || a, reasoning || r
		}
	case '{':
		answer = n.anyOf("text", "refusal", "summary", "data")
		for _, v := range n.all("thinking") {
			a, r := refContent(v)
			reasoning = reasoning || a || r
		}
	}
	return answer, reasoning
}

// refCall reads a call: whether it has arguments, and a name.
func refCall(n node) (other, called bool) {
	for _, v := range n.all("arguments", "input") {
		other = other || v.isText() || v.kind == '{'
	}
	return other, n.anyOf("name")
}

func refDelta(n node) (answer, reasoning, other, called bool) {
	call := func(n node) {
		o, c := refCall(n)
		other, called = other || o, called || c
	}
	answer = n.anyOf("refusal")
	reasoning = n.anyOf("reasoning", "reasoning_content")
	for _, v := range n.all("content") {
		a, r := refContent(v)
		answer, reasoning = answer || a, reasoning || r
	}
	for _, v := range n.all("reasoning_details") {
		a, r := refContent(v)
		reasoning = reasoning || a || r
	}
	for _, v := range n.all("audio") {
		other = other || v.anyOf("data", "transcript")
	}
	for _, v := range n.all("tool_calls") {
		for _, one := range v.list() {
			for _, f := range one.all("function", "custom") {
				call(f)
			}
		}
	}
	for _, v := range n.all("function_call") {
		call(v)
	}
	return answer, reasoning, other, called
}

func refUsage(n node, e *Event) {
	u := Usage{
		Input:     n.largest("prompt_tokens", "input_tokens"),
		Output:    n.largest("completion_tokens", "output_tokens"),
		Cached:    n.largest("prompt_cache_hit_tokens", "cached_tokens"),
		Reasoning: n.largest("reasoning_tokens"),
		Audio:     -1, InputAudio: -1,
	}
	for _, v := range n.all("prompt_tokens_details", "input_tokens_details") {
		u.InputAudio = max(u.InputAudio, v.largest("audio_tokens"))
	}
	for _, v := range n.all("completion_tokens_details", "output_tokens_details") {
		u.Audio = max(u.Audio, v.largest("audio_tokens"))
	}
	for _, v := range n.all("prompt_tokens_details", "input_tokens_details", "completion_tokens_details", "output_tokens_details") {
		u.Cached = max(u.Cached, v.largest("cached_tokens"))
		u.Reasoning = max(u.Reasoning, v.largest("reasoning_tokens"))
	}
	if n.kind == '{' && (u.Input >= 0 || u.Output >= 0) {
		e.HasUsage, e.Usage = true, u
	}
}

func refChoice(n node, e *Event) {
	var answer, reasoning, other, finished bool
	index, ids, probs := int64(0), 0, 0
	if v := n.all("index"); len(v) > 0 {
		index = v[len(v)-1].count()
	}
	for i, k := range n.keys {
		v := n.vals[i]
		switch k {
		case "delta", "message":
			a, r, o, c := refDelta(v)
			answer, reasoning, other = answer || a, reasoning || r, other || o
			e.Called = e.Called || c
		case "text":
			answer = answer || v.isText()
		case "finish_reason":
			bad := map[string]bool{"error": true, "abort": true, "aborted": true}
			if finished = v.isText(); v.kind == '"' && (e.Finish == "" || bad[v.text] && !bad[e.Finish]) {
				e.Finish = clean(v.text, maxReason)
			}
		case "token_ids":
			ids = len(v.list())
		case "logprobs":
			probs = 0
			for _, list := range v.all("content", "refusal", "tokens") {
				probs += len(list.list())
			}
		case "usage":
			refUsage(v, e)
		}
	}
	e.Tokens += max(ids, probs)
	place := min(max(index, 0), 63)
	if finished {
		e.Finished |= 1 << place
	}
	if answer || reasoning || other {
		e.NotText = (e.Outputs == 0 || e.NotText) && !answer && !reasoning
		e.Outputs |= 1 << place
	}
	e.Answer, e.Reasoning = e.Answer || answer || other, e.Reasoning || reasoning
	e.Choice = int(max(index, 0)) + 1
}

// refOpenAI is Chat.Decode by way of encoding/json.
func refOpenAI(name, data []byte, e *Event) (ok bool) {
	trimmed := bytes.Trim(data, " \t\r\n")
	switch {
	case string(name) == "error":
		e.fail(data)
		return true
	case len(trimmed) == 0:
		return true
	case string(trimmed) == "[DONE]":
		e.End = true
		return true
	}
	n, ok := parseTree(data)
	if !ok || n.kind != '{' && n.text != "null" || n.kind == '"' {
		return false
	}
	failed := false
	for i, k := range n.keys {
		v := n.vals[i]
		switch k {
		case "choices":
			for _, choice := range v.list() {
				e.Choices = true
				if choice.kind == '{' {
					refChoice(choice, e)
				}
			}
			if len(v.list()) > 1 {
				e.Choice = 0
			}
		case "usage":
			refUsage(v, e)
		case "x_groq":
			for _, u := range v.all("usage") {
				refUsage(u, e)
			}
		case "error":
			failed = failed || v.kind == '{' || v.kind == '[' || v.isText() || v.text == "true" && v.kind == 'n'
		case "object":
			failed = failed || v.kind == '"' && v.text == "error"
		}
	}
	if failed {
		e.fail(data)
	}
	return true
}

// FuzzOpenAI compares the fast decoder with the one above: what it accepts,
// and all that it finds.
func FuzzOpenAI(f *testing.F) {
	for _, test := range chatEvents {
		f.Add("", test.data)
	}
	for _, data := range hostile {
		f.Add("", data)
	}
	f.Add("error", "busy")
	f.Fuzz(func(t *testing.T, name, data string) {
		var got, want Event
		err := Chat.Decode([]byte(name), []byte(data), &got)
		ok := refOpenAI([]byte(name), []byte(data), &want)
		require.Equal(t, ok, err == nil, "%q: %v", data, err)
		if ok {
			require.Empty(t, cmp.Diff(want, got), "%q (-want +got)", data)
		}
	})
}
