package perftest

import (
	"context"
	"encoding/json"
	"time"
)

// Workload yields the requests of a run. Package fixtures has the ready-made
// ones; a test may bring its own.
type Workload interface {
	// Open checks the workload and starts it for one run. It is called once,
	// before any request is sent. Its error names the field, the value and
	// the remedy.
	Open(ctx context.Context, run RunInfo) (Source, error)
}

// Conversational is a [Workload] of conversations that knows, before it is
// opened, how many turns they have. A plan is then held by its turns against
// what Scenario.SLOs need; without it each conversation counts as one request.
type Conversational interface {
	Workload
	// FewestTurns is the least number of requests to which n conversations in
	// a row come, wherever the row begins, when no turn of them fails.
	FewestTurns(n int) int
}

// RunInfo is what a workload may need to know of the run that opens it.
type RunInfo struct {
	Model    string // the model's name, as sent
	API      string // the API's name, such as "chat"
	Seed     uint64 // the scenario's seed
	Nonce    uint64 // the run's own number, for prompts that no earlier run has sent; 0 leaves it to the workload
	Skip     int    // requests that earlier levels of the same sweep have taken: data goes on after them
	Requests int    // the most requests the run will ask for, warm-up included; 0 when it is bound by time only
	// Probe sends a request to the server at once, ahead of the load and part
	// of no figure, and gives the number of input tokens that the server counts
	// in it. No more than one token of an answer is asked for. Its error says
	// what to do. Nil where there is no server to ask, as in a workload's own
	// tests; it must not be called once Open has returned.
	Probe func(ctx context.Context, req Request) (inputTokens int, err error)
}

// Source yields the requests of one run, one after the other. It is called
// from one goroutine, ahead of the sending.
type Source interface {
	// Next gives the next request, or io.EOF when there are no more, which
	// ends the run early. Any other error ends the run as failed.
	Next() (Request, error)
	// Close frees what Open took.
	Close() error
}

// Request is one request, free of any server's API. Which of its parts are
// used is up to the API: a chat takes Messages (or Prompt as the one message
// of the user), completions take Prompt, PromptIDs or Inputs, embeddings take
// Inputs, rerank takes Query and Documents.
type Request struct {
	// Messages of the chat.
	Messages []Message
	// Prompt is a text to go on with.
	Prompt string
	// PromptIDs are token ids in place of Prompt.
	PromptIDs []int
	// Inputs are texts to embed.
	Inputs []string
	// Query is what Documents are ranked by.
	Query     string
	Documents []string
	// MaxTokens is the number of output tokens asked for; 0 leaves the limit
	// to the server and sends none.
	MaxTokens int
	// Fields are further top-level fields of the body, such as "temperature"
	// or "ignore_eos". They win over every other setting; null removes a field.
	Fields map[string]json.RawMessage
	// PlannedInput is the number of input tokens that the workload planned;
	// 0 means that it does not know.
	PlannedInput int
	// Then, when set, makes the request a turn of a conversation: it gets the
	// answer (without its reasoning) and gives the next turn, or false at the
	// conversation's end. It is called in the way of the next turn, and should
	// be quick. A turn that fails ends its conversation.
	Then func(answer string) (Request, bool) `json:"-"`
	// Think is the time between the answer before and this turn; it has no
	// meaning for a first one.
	Think time.Duration
	// At is the time in the workload's trace, for a [Replay].
	At time.Duration
	// Row is the position in the workload's own data, from 1, such as a
	// file's line, so that a request in the results can be found there; 0
	// means none.
	Row int
	// Tag names the kind of request where a workload mixes several.
	Tag string
}

// Message is one message of a chat.
type Message struct {
	// Role is "system", "user" or "assistant"; empty means "user".
	Role string
	// Content is the message's text.
	Content string
	// Images come after the text.
	Images []Image
}

// Image is a picture in a message: its bytes, or the address of it.
type Image struct {
	Type string // media type of Data; empty means "image/png"
	Data []byte // sent as a data URL, or whatever the API has for it
	URL  string // used when there is no Data
}
