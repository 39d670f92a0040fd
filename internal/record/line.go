package record

// A line of requests.jsonl is one JSON object with the columns below, always
// all of them and in this order, so that tools that read columns see the same
// ones in every file:
//
//   - stamps and durations (names ending in _s) are decimal seconds with up to
//     nine places, exact to the nanosecond; stamps count from the run's start;
//   - what does not exist is null: an absent stamp or count, an empty text, and
//     a status, turn, choices, items, row, asked_tokens or planned_input_tokens of 0;
//   - choice_first_tokens_s is a list of stamps, an entry a choice, where
//     several choices were asked for;
//   - phase is "measured", "warmup", "start" or "padding": see [Part].
//
// The data events follow as compact members: event_gaps_s holds the first
// arrival after sent_s, then each arrival after the one before; event_kinds has
// two hexadecimal digits an event, the bits of its [Kind] (01 choices, 02
// answer, 04 reasoning, 08 finish reason, 10 usage, 20 end mark, 40 coalesced,
// 80 output that is not text); event_tokens has the tokens of each event, and
// is left out when the server gave none.
const (
	keyGaps   = "event_gaps_s"
	keyKinds  = "event_kinds"
	keyTokens = "event_tokens"
)

// The sorts of column, as views of a record's fields.
type (
	seconds int64   // nanoseconds, written as seconds; null when Absent
	stamps  []int64 // a list of such, null when empty
	tally   int64   // null when Absent
	nonzero int     // null when 0
	phase   Part
	text    string // null when empty
)

// column is one member of a line; at gives a pointer to the record's field.
type column struct {
	key string
	at  func(*Record) any
}

// columns are the single source of the format, for writer and reader alike.
var columns = [...]column{
	{"index", func(r *Record) any { return &r.Index }},
	{"phase", func(r *Record) any { return (*phase)(&r.Part) }},
	{"slot", func(r *Record) any { return &r.Slot }},
	{"turn", func(r *Record) any { return (*nonzero)(&r.Turn) }},
	{"choices", func(r *Record) any { return (*nonzero)(&r.Choices) }},
	{"items", func(r *Record) any { return (*nonzero)(&r.Items) }},
	{"row", func(r *Record) any { return (*nonzero)(&r.Row) }},
	{"tag", func(r *Record) any { return (*text)(&r.Tag) }},

	{"scheduled_s", func(r *Record) any { return (*seconds)(&r.Scheduled) }},
	{"ready_s", func(r *Record) any { return (*seconds)(&r.Ready) }},
	{"sent_s", func(r *Record) any { return (*seconds)(&r.Sent) }},
	{"wrote_s", func(r *Record) any { return (*seconds)(&r.Wrote) }},
	{"connected_s", func(r *Record) any { return (*seconds)(&r.Connected) }},
	{"headers_s", func(r *Record) any { return (*seconds)(&r.Headers) }},
	{"first_event_s", func(r *Record) any { return (*seconds)(&r.FirstEvent) }},
	{"first_token_s", func(r *Record) any { return (*seconds)(&r.FirstToken) }},
	{"second_token_s", func(r *Record) any { return (*seconds)(&r.SecondToken) }},
	{"first_answer_s", func(r *Record) any { return (*seconds)(&r.FirstAnswer) }},
	{"last_token_s", func(r *Record) any { return (*seconds)(&r.LastToken) }},
	{"usage_s", func(r *Record) any { return (*seconds)(&r.UsageAt) }},
	{"done_s", func(r *Record) any { return (*seconds)(&r.Done) }},
	{"body_end_s", func(r *Record) any { return (*seconds)(&r.BodyEnd) }},
	{"choice_first_tokens_s", func(r *Record) any { return (*stamps)(&r.FirstTokens) }},

	{"dns_s", func(r *Record) any { return (*seconds)(&r.DNS) }},
	{"dial_s", func(r *Record) any { return (*seconds)(&r.Dial) }},
	{"tls_s", func(r *Record) any { return (*seconds)(&r.TLS) }},
	{"reused", func(r *Record) any { return &r.Reused }},
	{"resent", func(r *Record) any { return &r.Resent }},

	{"status", func(r *Record) any { return (*nonzero)(&r.Status) }},
	{"finish_reason", func(r *Record) any { return (*text)(&r.FinishReason) }},
	{"asked_tokens", func(r *Record) any { return (*nonzero)(&r.AskedTokens) }},
	{"ignore_eos", func(r *Record) any { return &r.IgnoreEOS }},
	{"planned_input_tokens", func(r *Record) any { return (*nonzero)(&r.PlannedInput) }},

	{"input_tokens", func(r *Record) any { return (*tally)(&r.InputTokens) }},
	{"output_tokens", func(r *Record) any { return (*tally)(&r.OutputTokens) }},
	{"cached_tokens", func(r *Record) any { return (*tally)(&r.CachedTokens) }},
	{"reasoning_tokens", func(r *Record) any { return (*tally)(&r.ReasoningTokens) }},
	{"audio_tokens", func(r *Record) any { return (*tally)(&r.AudioTokens) }},
	{"input_audio_tokens", func(r *Record) any { return (*tally)(&r.InputAudio) }},
	{"input_source", func(r *Record) any { return (*text)(&r.InputSource) }},
	{"output_source", func(r *Record) any { return (*text)(&r.OutputSource) }},

	{"data_events", func(r *Record) any { return &r.DataEvents }},
	{"token_events", func(r *Record) any { return &r.TokenEvents }},
	{"coalesced", func(r *Record) any { return &r.Coalesced }},
	{"max_gap_s", func(r *Record) any { return (*seconds)(&r.MaxGap) }},
	{"bytes", func(r *Record) any { return &r.Bytes }},

	{"class", func(r *Record) any { return (*text)(&r.Class) }},
	{"failure_phase", func(r *Record) any { return (*text)(&r.Phase) }},
	{"message", func(r *Record) any { return (*text)(&r.Message) }},
}
