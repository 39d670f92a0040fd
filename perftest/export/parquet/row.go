package parquet

// row is a line of requests.jsonl; see perftest/schema for what each member is.
// Stamps and durations are in seconds, and what is not known is null.
type row struct {
	Index              int64      `json:"index" parquet:"index"`
	Phase              string     `json:"phase" parquet:"phase,dict"`
	Slot               int64      `json:"slot" parquet:"slot"`
	Turn               *int64     `json:"turn" parquet:"turn,optional"`
	Choices            *int64     `json:"choices" parquet:"choices,optional"`
	Items              *int64     `json:"items" parquet:"items,optional"`
	Row                *int64     `json:"row" parquet:"row,optional"`
	Tag                *string    `json:"tag" parquet:"tag,optional,dict"`
	ScheduledS         *float64   `json:"scheduled_s" parquet:"scheduled_s,optional"`
	ReadyS             *float64   `json:"ready_s" parquet:"ready_s,optional"`
	SentS              *float64   `json:"sent_s" parquet:"sent_s,optional"`
	WroteS             *float64   `json:"wrote_s" parquet:"wrote_s,optional"`
	ConnectedS         *float64   `json:"connected_s" parquet:"connected_s,optional"`
	HeadersS           *float64   `json:"headers_s" parquet:"headers_s,optional"`
	FirstEventS        *float64   `json:"first_event_s" parquet:"first_event_s,optional"`
	FirstTokenS        *float64   `json:"first_token_s" parquet:"first_token_s,optional"`
	SecondTokenS       *float64   `json:"second_token_s" parquet:"second_token_s,optional"`
	FirstAnswerS       *float64   `json:"first_answer_s" parquet:"first_answer_s,optional"`
	LastTokenS         *float64   `json:"last_token_s" parquet:"last_token_s,optional"`
	UsageS             *float64   `json:"usage_s" parquet:"usage_s,optional"`
	DoneS              *float64   `json:"done_s" parquet:"done_s,optional"`
	BodyEndS           *float64   `json:"body_end_s" parquet:"body_end_s,optional"`
	ChoiceFirstTokensS []*float64 `json:"choice_first_tokens_s" parquet:"choice_first_tokens_s,list"`
	DnsS               *float64   `json:"dns_s" parquet:"dns_s,optional"`
	DialS              *float64   `json:"dial_s" parquet:"dial_s,optional"`
	TlsS               *float64   `json:"tls_s" parquet:"tls_s,optional"`
	Reused             bool       `json:"reused" parquet:"reused"`
	Resent             int64      `json:"resent" parquet:"resent"`
	Status             *int64     `json:"status" parquet:"status,optional"`
	FinishReason       *string    `json:"finish_reason" parquet:"finish_reason,optional,dict"`
	AskedTokens        *int64     `json:"asked_tokens" parquet:"asked_tokens,optional"`
	IgnoreEos          bool       `json:"ignore_eos" parquet:"ignore_eos"`
	PlannedInputTokens *int64     `json:"planned_input_tokens" parquet:"planned_input_tokens,optional"`
	InputTokens        *int64     `json:"input_tokens" parquet:"input_tokens,optional"`
	OutputTokens       *int64     `json:"output_tokens" parquet:"output_tokens,optional"`
	CachedTokens       *int64     `json:"cached_tokens" parquet:"cached_tokens,optional"`
	ReasoningTokens    *int64     `json:"reasoning_tokens" parquet:"reasoning_tokens,optional"`
	AudioTokens        *int64     `json:"audio_tokens" parquet:"audio_tokens,optional"`
	InputAudioTokens   *int64     `json:"input_audio_tokens" parquet:"input_audio_tokens,optional"`
	InputSource        *string    `json:"input_source" parquet:"input_source,optional,dict"`
	OutputSource       *string    `json:"output_source" parquet:"output_source,optional,dict"`
	DataEvents         int64      `json:"data_events" parquet:"data_events"`
	TokenEvents        int64      `json:"token_events" parquet:"token_events"`
	Coalesced          int64      `json:"coalesced" parquet:"coalesced"`
	MaxGapS            *float64   `json:"max_gap_s" parquet:"max_gap_s,optional"`
	Bytes              int64      `json:"bytes" parquet:"bytes"`
	Class              *string    `json:"class" parquet:"class,optional,dict"`
	FailurePhase       *string    `json:"failure_phase" parquet:"failure_phase,optional,dict"`
	Message            *string    `json:"message" parquet:"message,optional"`
	EventGapsS         []float64  `json:"event_gaps_s" parquet:"event_gaps_s,list"`
	EventKinds         string     `json:"event_kinds" parquet:"event_kinds"`
	EventTokens        []int64    `json:"event_tokens" parquet:"event_tokens,list"`
}
