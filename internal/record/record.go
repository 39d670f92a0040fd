// Package record holds what is known of one request: its raw stamps, its
// counts and how it ended. Everything else in the project is a function of
// these values; nothing here is rounded or derived.
package record

import "slices"

// Absent marks a stamp, duration or count that does not exist. It is never a
// measured value: stamps and counts are zero or more.
const Absent int64 = -1

// Failure classes. The empty class is success.
const (
	ClassConnect     = "connect"      // DNS, dial or TLS failed
	ClassStatus      = "status"       // an answer with status 4xx or 5xx (or an unfollowed 3xx)
	ClassTimeout     = "timeout"      // a time-out of the scenario; Phase says which
	ClassReset       = "reset"        // the connection was reset or closed before the answer began
	ClassTruncated   = "truncated"    // the stream ended without its end mark or finish reason
	ClassStreamError = "stream-error" // an error object, error event or finish reason that is one, inside a 200 answer
	ClassMalformed   = "malformed"    // bytes that are no event, or an event that is no JSON
	ClassEmpty       = "empty"        // a clean end without any output where output was asked for
	ClassCancelled   = "cancelled"    // given up by the scenario
	ClassShort       = "short"        // fewer tokens than asked although EOS is ignored
)

// Phases of a request, in which a failure happened.
const (
	PhaseConnect       = "connect"
	PhaseHeaders       = "headers"
	PhaseFirstToken    = "first-token"
	PhaseBetweenTokens = "between-tokens"
	PhaseTotal         = "total"
)

// Part is the part of a run that a request belongs to.
type Part uint8

// The parts. The zero value is the one that figures are made of.
const (
	Measured Part = iota
	Warmup        // sent before the load
	Start         // of the burst with which a closed loop starts
	Padding       // sent to keep a closed loop's slots busy until the last measured request had ended
)

var partNames = [...]string{"measured", "warmup", "start", "padding"}

func (p Part) String() string {
	if int(p) < len(partNames) {
		return partNames[p]
	}
	return "unknown"
}

// Sources of a token count.
const (
	SourceUsage     = "usage"     // the server's usage object
	SourceTokenizer = "tokenizer" // counted by the client
	SourceNone      = "none"      // unknown
)

// Kind says what an event carried. One event may carry several things.
type Kind uint8

// The bits of a Kind. An event with KindChoices alone is a role-only or empty
// one; an event without any bit carried nothing that is known (a null, a ping).
const (
	KindChoices   Kind = 1 << iota // a non-empty choices list (or the dialect's equal of it)
	KindAnswer                     // output that is not reasoning
	KindReasoning                  // reasoning output
	KindFinish                     // a finish reason
	KindUsage                      // a usage object
	KindEnd                        // the end mark of the stream
	KindCoalesced                  // came in the same socket read as the event before it
	KindNotText                    // none of its output is text: arguments of tool calls, audio
)

// KindOutput is output of either sort: the event is a token event.
const KindOutput = KindAnswer | KindReasoning

// Event is one data event of a stream.
type Event struct {
	At     int64 // arrival, nanoseconds after the run's start
	Tokens int32 // output tokens it carries where the server says so, else 0
	Kind   Kind
}

// Record is one request. Stamps are nanoseconds on the monotonic clock after
// the run's start, durations are nanoseconds, and both are [Absent] where they
// do not exist. Use [Record.Reset] to get one with nothing known.
type Record struct {
	Index   int    // position in the plan of its part, from 0
	Part    Part   // of the run: only the measured part is in the figures
	Slot    int    // the closed-loop slot or open-loop worker that sent it
	Choices int    // asked for, over all its prompts; 0 and 1 are one
	Turn    int    // of its conversation, from 1; 0 when it is none
	Items   int    // texts to embed or documents to rank in it; 0 for what has none
	Row     int    // the row of the workload that it is, from 1; 0 when it has none
	Tag     string // the workload's name for this kind of request

	Scheduled   int64 // when the load wanted it to start
	Ready       int64 // when it might: Scheduled, or the end of its wait for a bound of the load
	Sent        int64 // just before it was handed to the transport, body encoded
	Wrote       int64 // just before its first byte was written to the connection
	Connected   int64 // a connection was in hand
	Headers     int64 // status line and headers were read
	FirstEvent  int64 // first data event of any kind
	FirstToken  int64 // first token event (output of any sort)
	SecondToken int64 // second token event
	FirstAnswer int64 // first event with output that is not reasoning
	LastToken   int64 // last token event
	UsageAt     int64 // the event that carried usage
	Done        int64 // end of the answer, or the moment it failed
	BodyEnd     int64 // end of the body, which a server may hold back after the answer's end mark

	DNS, Dial, TLS int64 // parts of Connected - Sent, each Absent when it did not happen
	Reused         bool  // the connection had carried a request before
	Resent         int   // sent again on a fresh connection, because a reused one failed before any byte

	Status       int    // HTTP status, 0 when no answer came
	FinishReason string // as the server gave it, bounded
	AskedTokens  int    // output tokens asked for, 0 when not bounded
	IgnoreEOS    bool   // the end token is ignored, so that AskedTokens is what has to come
	PlannedInput int    // input tokens the workload planned, 0 when it does not know

	InputTokens     int64
	OutputTokens    int64
	CachedTokens    int64
	ReasoningTokens int64
	AudioTokens     int64  // part of OutputTokens
	InputAudio      int64  // tokens of sound, part of InputTokens
	InputSource     string // source of InputTokens
	OutputSource    string // source of OutputTokens

	DataEvents  int   // data events of any kind
	TokenEvents int   // events that carried output
	Coalesced   int   // events that shared a socket read with the one before
	MaxGap      int64 // largest gap between successive token events
	Bytes       int64 // bytes of the body that were read

	Class   string // failure class, empty on success
	Phase   string // phase of a failure, where it has one
	Message string // one bounded line about the failure, without secrets

	// FirstTokens are the first token events of each choice, Absent for one
	// without any; empty when one choice was asked for. The 64th entry, if
	// there is one, stands for all choices from there on.
	FirstTokens []int64

	// What a tokenizer of the client's own counts. It is not written, and its
	// memory is used again.
	Texts     [][]byte // the answer's text, one a choice; empty when it is not to be counted
	WholeText bool     // Texts are all of the output
	Prompt    string   // the input, where it is sent as it is
	PromptIDs int      // tokens of an input of token ids

	// Events are the data events in order of arrival. They are written to
	// requests.jsonl and are nil in records that a result keeps in memory.
	Events []Event
}

// Reset makes r a record of which nothing is known, and keeps the memory of
// its lists for the next request.
func (r *Record) Reset() {
	ev, first, texts := r.Events[:0], r.FirstTokens[:0], r.Texts[:0]
	*r = Record{
		Scheduled: Absent, Ready: Absent, Sent: Absent, Wrote: Absent, Connected: Absent, Headers: Absent,
		FirstEvent: Absent, FirstToken: Absent, SecondToken: Absent, FirstAnswer: Absent,
		LastToken: Absent, UsageAt: Absent, Done: Absent, BodyEnd: Absent,
		DNS: Absent, Dial: Absent, TLS: Absent,
		InputTokens: Absent, OutputTokens: Absent, CachedTokens: Absent, ReasoningTokens: Absent,
		AudioTokens: Absent, InputAudio: Absent,
		InputSource: SourceNone, OutputSource: SourceNone,
		MaxGap:      Absent,
		FirstTokens: first,
		Texts:       texts,
		Events:      ev,
	}
}

// KeepTexts copies the texts of an answer's choices into r. whole says that
// they are all of its output.
func (r *Record) KeepTexts(choices [][]byte, whole bool) {
	r.Texts = slices.Grow(r.Texts[:0], len(choices))[:len(choices)]
	for i, text := range choices {
		r.Texts[i] = append(r.Texts[i][:0], text...)
	}
	r.WholeText = whole
}

// OK reports whether the request succeeded.
func (r *Record) OK() bool { return r.Class == "" }
