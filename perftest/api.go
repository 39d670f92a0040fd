package perftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/slogate/slogate/internal/wire"
)

// API is how a server is spoken to: a request body out, and for each event of
// the answer what it carries. The [StandardAPI] values are the ones that
// slogate speaks; a test may bring its own, also one that wraps a standard one.
//
// Where the endpoint of an own API is not below "/v1", a method Base() string
// names what is before its Path.
type API interface {
	// Name is the API's name in results.
	Name() string
	// Path is the endpoint's path below the base URL, such as
	// "/chat/completions" below ".../v1".
	Path() string
	// Framing is how the answer is cut into events.
	Framing() Framing
	// AppendBody appends the JSON body of c to dst. It is called ahead of the
	// sending, from one goroutine.
	AppendBody(dst []byte, c *Call) ([]byte, error)
	// Decode reads one event into e, which is zero. name is the event's type
	// ("event:"), empty when it has none. It is called from many goroutines
	// at once, as events arrive, and must not keep data. An error means that
	// data is malformed.
	Decode(name, data []byte, e *Event) error
}

// TextAPI is an [API] that also reads the text of its answers, for a scenario's
// Tokenizer to count and for the next turn of a conversation. The standard ones but [Embeddings] and [Rerank] are, and what
// wraps one of them is too.
type TextAPI interface {
	API
	// AppendText appends to e what an event adds to the answer. It is called
	// only where the scenario needs the text, after Decode and as that is.
	AppendText(e *EventText, name, data []byte)
}

// EventText is the text of an event's output.
type EventText struct {
	Reasoning []byte
	Answer    []byte
	// Other says that the event has output that is no text, such as a call of a
	// tool: the tokens of the whole answer are then not counted.
	Other bool
}

// Framing is how an answer is cut into events.
type Framing uint8

// The framings.
const (
	ServerSentEvents Framing = iota // a stream of server-sent events
	JSONLines                       // a stream of JSON values, one a line
	WholeJSON                       // one JSON value: the answer is one event, and has no token times
)

// Call is a request as an API has to encode it.
type Call struct {
	Request
	// Model is the name to send.
	Model string
	// Stream asks for a stream, and for usage at its end.
	Stream bool
	// MaxTokensField is the target's.
	MaxTokensField string
}

// Event is what one event carries. Its zero value carries nothing.
type Event struct {
	Choices   bool   // a non-empty list of choices (a role-only first event has one)
	Answer    bool   // non-empty output that is not reasoning
	Reasoning bool   // non-empty reasoning
	Finish    string // finish reason, empty when it has none
	HasUsage  bool   // Usage is set
	Usage     Usage
	Tokens    int    // output tokens the event carries, 0 when it does not say
	Outputs   uint64 // the choices that carry output: bit i for choice i, the last bit for all from 63 on
	Finished  uint64 // the choices that have a finish reason, in the same way; 0 with a Finish stands for all
	Choice    int    // number of the only choice in the event, from 1; 0 when there is none, or several
	NotText   bool   // none of the output is text: arguments of tool calls, audio
	Called    bool   // the name of a tool call, which is no output by itself
	End       bool   // the end mark of the stream
	Failed    bool   // the event is an error
	Error     string // its message
}

// Usage is a server's count of tokens, -1 for what it does not say. Cached and
// InputAudio are parts of Input; Reasoning and Audio are parts of Output.
type Usage struct {
	Input, Output, Cached, Reasoning, Audio, InputAudio int64
}

// StandardAPI is an [API] that slogate speaks.
type StandardAPI string

// The standard APIs. A target without one speaks [Chat], unless its URL ends
// in the path of another.
const (
	Chat              StandardAPI = "chat"            // OpenAI chat completions
	Completions       StandardAPI = "completions"     // OpenAI completions, of text or token ids
	Responses         StandardAPI = "responses"       // OpenAI Responses
	AnthropicMessages StandardAPI = "anthropic"       // Anthropic Messages
	OllamaChat        StandardAPI = "ollama-chat"     // Ollama's own chat
	OllamaGenerate    StandardAPI = "ollama-generate" // Ollama's own generate
	TGIGenerate       StandardAPI = "tgi"             // text-generation-inference's generate_stream, which always streams
	Embeddings        StandardAPI = "embeddings"      // OpenAI embeddings
	Rerank            StandardAPI = "rerank"          // rerank as Cohere, Jina and vLLM have it
)

// Name implements [API].
func (a StandardAPI) Name() string { return string(a) }

// Path implements [API].
func (a StandardAPI) Path() string { return a.dialect().Path() }

// Base is what is before the Path on most servers: "/v1" or nothing.
func (a StandardAPI) Base() string { return wire.Base(a.dialect()) }

// Framing implements [API].
func (a StandardAPI) Framing() Framing { return Framing(a.dialect().Framing()) }

// AppendBody implements [API].
func (a StandardAPI) AppendBody(dst []byte, c *Call) ([]byte, error) {
	w, err := c.wire()
	if err != nil {
		return nil, err
	}
	return a.dialect().AppendBody(dst, w)
}

// Decode implements [API].
func (a StandardAPI) Decode(name, data []byte, e *Event) error {
	var w wire.Event
	err := a.dialect().Decode(name, data, &w)
	*e = Event{Choices: w.Choices, Answer: w.Answer, Reasoning: w.Reasoning, Finish: w.Finish, HasUsage: w.HasUsage, Usage: Usage(w.Usage),
		Tokens: w.Tokens, Outputs: w.Outputs, Finished: w.Finished, Choice: w.Choice, NotText: w.NotText, Called: w.Called, End: w.End, Failed: w.Failed, Error: w.Error}
	return err
}

// AppendText implements [TextAPI] for the first choice.
func (a StandardAPI) AppendText(e *EventText, name, data []byte) {
	reader, ok := wire.AsTexter(a.dialect())
	if !ok {
		e.Other = true
		return
	}
	t := wire.Text{Split: true}
	t.Reset(1)
	reader.AppendText(&t, name, data)
	e.Reasoning = append(e.Reasoning, t.Reasoning...)
	e.Answer = append(e.Answer, t.Answer...)
	e.Other = e.Other || t.Partial
}

// dialect is a's; chat's for one that does not exist, which check refuses.
func (a StandardAPI) dialect() wire.Dialect {
	if d, ok := wire.ByName(string(a)); ok {
		return d
	}
	return wire.Chat
}

// own makes a test's API a dialect that the client can read. Bodies are
// encoded by the API itself.
type own struct{ api API }

func (o own) Name() string          { return o.api.Name() }
func (o own) Path() string          { return o.api.Path() }
func (o own) Framing() wire.Framing { return wire.Framing(o.api.Framing()) }
func (o own) Base() string {
	if b, ok := o.api.(interface{ Base() string }); ok {
		return b.Base()
	}
	return "/v1"
}

// AppendBody implements [wire.Dialect].
func (o own) AppendBody([]byte, *wire.Request) ([]byte, error) { return nil, errors.ErrUnsupported }

// Decode implements [wire.Dialect].
func (o own) Decode(name, data []byte, w *wire.Event) error {
	var e Event
	err := o.api.Decode(name, data, &e)
	*w = wire.Event{Choices: e.Choices, Answer: e.Answer, Reasoning: e.Reasoning, Finish: e.Finish, HasUsage: e.HasUsage, Usage: wire.Usage(e.Usage),
		Tokens: e.Tokens, Outputs: e.Outputs, Finished: e.Finished, Choice: e.Choice, NotText: e.NotText, Called: e.Called, End: e.End, Failed: e.Failed, Error: e.Error}
	return err
}

// ownTexts is an own API with texts.
type ownTexts struct {
	own
	texts TextAPI
}

// AppendText implements [wire.Texter]. An own API does not tell choices apart.
func (o ownTexts) AppendText(t *wire.Text, name, data []byte) {
	var e EventText
	e.Reasoning, e.Answer = t.Room()
	o.texts.AppendText(&e, name, data)
	t.Put(e.Reasoning, e.Answer)
	t.Partial = t.Partial || e.Other || len(t.Choices) > 1
}

// speaks is the API of a target and the dialect that reads its answers: its
// own, else the one whose path its URL ends in, else chat's.
func (t Target) speaks() (API, wire.Dialect, error) {
	api, d := API(Chat), wire.Chat
	switch a := t.API.(type) {
	case nil:
		path, _, _ := strings.Cut(t.URL, "?")
		if found, ok := wire.ForPath(path); ok {
			api, d = StandardAPI(found.Name()), found
		}
	case StandardAPI:
		found, ok := wire.ByName(string(a))
		if !ok {
			return nil, nil, badField("Target.API", fmt.Sprintf("%q", string(a)), "use one of "+strings.Join(wire.Names(), ", "))
		}
		api, d = a, found
	default:
		api, d = a, own{a}
		if texts, ok := a.(TextAPI); ok {
			d = ownTexts{own{a}, texts}
		}
	}
	if t.NoStream && d.Framing() != wire.JSON {
		d = wire.Whole(d)
	}
	return api, d, nil
}

// wire is c as the dialects know it.
func (c *Call) wire() (*wire.Request, error) {
	w := &wire.Request{
		Model: c.Model, Prompt: c.Prompt, PromptIDs: c.PromptIDs, Inputs: c.Inputs, Query: c.Query, Documents: c.Documents,
		MaxTokens: c.MaxTokens, Stream: c.Stream, MaxTokensField: c.MaxTokensField, Fields: c.Fields,
	}
	for _, m := range c.Messages {
		content, err := json.Marshal(m.Content)
		if err != nil {
			return nil, err
		}
		one := wire.Message{Role: m.Role, Content: content}
		if one.Role == "" {
			one.Role = "user"
		}
		for _, i := range m.Images {
			one.Images = append(one.Images, wire.Image(i))
		}
		w.Messages = append(w.Messages, one)
	}
	return w, nil
}
