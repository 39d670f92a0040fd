// Package wire is what goes over the wire and what comes back, one dialect a
// file: a request body out, and for each event what it carries. It knows no
// HTTP and takes no stamps.
package wire

import "encoding/json"

// Framing is how a dialect's streamed answer is cut into events.
type Framing uint8

// The framings.
const (
	SSE    Framing = iota // server-sent events
	NDJSON                // one JSON value a line
	JSON                  // one JSON value: the whole body is the event
)

// Dialect is one API of a model server.
type Dialect interface {
	// Name is the dialect's name in results, such as "chat".
	Name() string
	// Path is the endpoint's path below the API's base URL, such as
	// "/chat/completions" below ".../v1".
	Path() string
	// Framing is that of the answer to a streamed request; see [Whole] for
	// the other ones.
	Framing() Framing
	// AppendBody appends the JSON body of r to dst: only the fields that r sets.
	AppendBody(dst []byte, r *Request) ([]byte, error)
	// Decode reads one event into e, which the caller has zeroed. name is the
	// event's type ("event:" field), empty when it has none. It keeps no
	// reference to data. An error means that data is malformed.
	Decode(name, data []byte, e *Event) error
}

// Request is one request, free of any dialect.
type Request struct {
	Model     string
	Messages  []Message
	Prompt    string   // text to go on with; a chat sends it as the user's message if there are no Messages
	PromptIDs []int    // token ids in place of Prompt, for completions
	Inputs    []string // texts to embed; for completions, several prompts in one request
	Query     string   // what Documents are ranked by
	Documents []string // what is to be ranked
	MaxTokens int      // 0: not sent
	Stream    bool     // ask for a stream, and for usage at its end

	// MaxTokensField is the name under which MaxTokens is sent; empty means
	// the dialect's own ("max_tokens"). Ollama and TGI, which have it among
	// their options, know one name only and take no notice.
	MaxTokensField string
	// Fields are further top-level body fields. They win over the ones above.
	Fields map[string]json.RawMessage
}

// Message is one message of a chat. Content is a JSON string or a JSON list of
// content parts.
type Message struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
	// Images come after Content, in the form of the dialect.
	Images []Image `json:"-"`
}

// Usage is a server's count of tokens; Absent (-1) for what it does not say.
// Cached and InputAudio are parts of Input; Reasoning and Audio are parts of
// Output.
type Usage struct {
	Input, Output, Cached, Reasoning, Audio, InputAudio int64
}

// Event is what one data event carries.
type Event struct {
	Choices   bool   // a non-empty list of choices
	Answer    bool   // non-empty output that is not reasoning
	Reasoning bool   // non-empty reasoning
	Finish    string // finish reason, empty when it has none
	HasUsage  bool   // Usage is set
	Usage     Usage
	Tokens    int    // tokens the event carries where the server says so (logprobs, token ids), else 0
	Outputs   uint64 // the choices that carry output: bit i for choice i, the last bit for all from 63 on
	Finished  uint64 // the choices that have a finish reason, in the same way; 0 with a Finish stands for all
	Choice    int    // number of the only choice in the event, from 1; 0 when there is none, or several
	NotText   bool   // none of the output is text: arguments of tool calls, audio
	Called    bool   // the name of a tool call, which is no output by itself
	End       bool   // the end mark: "[DONE]", message_stop, response.completed
	Error     string // message of an error object or error event, never empty when Failed
	Failed    bool   // the event is an error
}
