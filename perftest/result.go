package perftest

import (
	"encoding/json"
	"sync/atomic"
	"time"
)

// The identity of result.json. A reader of one version takes all earlier ones.
const (
	ResultSchema  = "slogate/result"
	ResultVersion = 2
)

// Result is what one run measured. It is written as result.json beside
// requests.jsonl; [ReadResult] gives it back. Names end in their unit: _s is
// seconds, _per_s is a second; what is not known is null.
type Result struct {
	Schema  string `json:"schema"`
	Version int    `json:"version"`

	// Name is the scenario's name, Test that of the test that ran it, and
	// Package the test's import path.
	Name    string `json:"name"`
	Test    string `json:"test"`
	Package string `json:"package"`
	// Simulated says that no real server was measured.
	Simulated bool `json:"simulated"`
	// Partial says that the run ended before its plan; Ended says how:
	// "complete", "deadline", "interrupted", "must fail" (a gate whose objectives no further
	// request could have saved), "missing shards" or "shards apart" (see
	// [Merge]), "lost shard" (see package perftest/cluster) or "error".
	Partial bool   `json:"partial"`
	Ended   string `json:"ended"`
	// Started is the wall-clock time of the run's start, from which the
	// stamps of requests.jsonl count.
	Started time.Time `json:"started"`

	Scenario    ScenarioInfo `json:"scenario"`
	Target      TargetInfo   `json:"target"`
	Environment Environment  `json:"environment"`

	Counts Counts `json:"counts"`
	// Window is from the first sending to the last end of the measured
	// requests, failures included; Duration is the whole run.
	Window   Value `json:"window_s"`
	Duration Value `json:"duration_s"`

	Metrics Metrics `json:"metrics"`
	Rates   Rates   `json:"rates"`
	Steady  Steady  `json:"steady"`
	// WithStart are figures with the start burst in them; absent where there
	// is none that was kept out.
	WithStart WithStart `json:"with_start"`
	// Tokenizer is what the scenario's tokenizer counted; zero without one.
	Tokenizer TokenizerInfo `json:"tokenizer,omitzero"`
	Failures  []Failure     `json:"failures"`
	// Shards are the parts that a merged result is made of, see [Merge]; absent
	// in that of one run.
	Shards []ShardInfo `json:"shards,omitempty"`
	// Health is how the client did: where it was the bottleneck, the run can
	// tell nothing of a real server.
	Health Health `json:"health"`
	// Server is what the server said of itself; zero without
	// [Scenario.ServerMetrics].
	Server ServerInfo `json:"server,omitzero"`
	// Warnings are findings that decide nothing but that a reader has to know.
	Warnings []string  `json:"warnings"`
	Verdicts []Verdict `json:"verdicts"`
	// Runs are the figures of each run of a repeated scenario, this one's last;
	// absent where there was one run.
	Runs []RunFigures `json:"runs,omitempty"`
	// EarlierRuns are the folders of the runs before this one, of a repeated
	// scenario, as they lie from this one's.
	EarlierRuns []string `json:"earlier_runs,omitempty"`
	// Comparison with a baseline, once there was one.
	Comparison *Comparison `json:"comparison,omitempty"`

	// Dir is the folder that holds the result; empty when it was not written.
	Dir string `json:"-"`

	samples samples
	earlier []*Result  // the runs before, of a repeated scenario
	parts   []*Result  // the runs that are pooled in it
	server  *serverLog // nil where the server was not asked
	tag     string     // of the requests that it is about, where these are not all
	span    busy       // that its rates are over, where its requests do not say
	taken   int        // requests that the run took from its workload
	over    bool       // shard 0's test does not go on
	then    []byte     // how a search goes on after it, as shard 0 says
	stored  bool       // it was read back, and its files stay as they are

	within   bool // a later run of its scenario stands for it too
	replayed bool // it stands for a run of the test under way

	cut       bool   // of its folder's requests, it is about its shard's alone
	elsewhere string // where the verdict is, of a shard that does not give it
	reported  bool   // its page is written

	judgedOnce *atomic.Bool // set by Judge; nil where nothing has to
}

// begun is how many requests of the plan were sent: of a conversation, the
// turns after the first are none.
func (r *Result) begun() (n int) {
	for i := range r.samples.all {
		if r.samples.all[i].turn <= 1 {
			n++
		}
	}
	return n
}

// Counts are numbers of requests. Sent = Succeeded + Failed + Cancelled.
// Planned, Dropped and Unsent count a conversation as one, the others count
// each of its turns.
type Counts struct {
	Planned   int `json:"planned"` // 0 when the run was bound by time
	Sent      int `json:"sent"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`
	Dropped   int `json:"dropped"` // not sent, because the bound of requests in flight was reached
	Unsent    int `json:"unsent"`  // still waiting to be sent when the run ended
	// Conversations is the number of those whose first turn was sent.
	Conversations int `json:"conversations"`
	Warmup        int `json:"warmup"` // sent before the load, part of no figure

	WarmupFailed int `json:"warmup_failed"`
	// Start is the number of requests in the burst with which a closed loop
	// starts, and Padding that of those sent to keep its slots busy to the end
	// of the last measured one: neither is part of any figure, see
	// [Closed].KeepEnds.
	Start       int `json:"start"`
	StartFailed int `json:"start_failed"`
	Padding     int `json:"padding"`
	// Connections and the requests that were sent again on a fresh connection,
	// because the server had closed the old one.
	Dialled int `json:"connections_dialled"`
	Resent  int `json:"resent"`
	// Events is the number of data events, TokenEvents of those that carried
	// output, and Coalesced of those that shared a socket read with the token
	// event before.
	Events      int `json:"events"`
	TokenEvents int `json:"token_events"`
	Coalesced   int `json:"token_events_coalesced"`
	// NoUsage is the number of successes whose tokens the server did not count.
	NoUsage int `json:"no_usage"`
	// Planned and served input tokens, over the successes of which both are
	// known: PlannedServed of them.
	PlannedServed    int   `json:"planned_served"`
	PlannedInput     int64 `json:"planned_input_tokens"`
	ServedInput      int64 `json:"served_input_tokens"`
	LargestDeviation int64 `json:"largest_input_deviation"` // served - planned, of the request where it is largest
	// AtOnce is the number of successes whose tokens, more than one, came in
	// one event.
	AtOnce int `json:"at_once"`
	// Short is the number of successes with fewer tokens than asked although
	// the request ignored the end token.
	Short int `json:"short"`
	// TokenizerDiffers is the number of successes of which the scenario's
	// tokenizer and the server count different numbers of tokens.
	TokenizerDiffers int `json:"tokenizer_differs"`
}

// Metrics are distributions over the successful requests; ITL is over their
// gaps between token events, ITLPerToken over the tokens of events of which the
// server says how many they carry (logprobs, token ids, usage in each event):
// each token weighs gap / tokens of its event.
type Metrics struct {
	TTFT         Distribution `json:"ttft_s"`
	TTFA         Distribution `json:"ttfa_s"`
	TTST         Distribution `json:"ttst_s"`
	TPOT         Distribution `json:"tpot_s"`
	ITL          Distribution `json:"itl_s"`
	ITLPerToken  Distribution `json:"itl_per_token_s"`
	Latency      Distribution `json:"latency_s"`
	Response     Distribution `json:"response_s"`
	Queue        Distribution `json:"queue_s"`
	InputTokens  Distribution `json:"input_tokens"`
	OutputTokens Distribution `json:"output_tokens"`
	Events       Distribution `json:"events"`
	CachedTokens Distribution `json:"cached_tokens"` // of the input, where the server tells
	// Of conversations: the time to first token of first and of later turns.
	FirstTurnTTFT Distribution `json:"first_turn_ttft_s"`
	LaterTurnTTFT Distribution `json:"later_turn_ttft_s"`
	OutputSpeed   Distribution `json:"output_tokens_per_s"` // a request's output tokens over its latency
	TotalSpeed    Distribution `json:"total_tokens_per_s"`  // with its input tokens
	DecodeSpeed   Distribution `json:"decode_tokens_per_s"` // 1 / TPOT
}

// Rates are over Window; where the ends of a closed loop are kept out of the
// figures, they are those of Steady, if there is such a part.
type Rates struct {
	Requests    Value `json:"requests_per_s"`
	Output      Value `json:"output_tokens_per_s"`
	Total       Value `json:"total_tokens_per_s"`
	Input       Value `json:"input_tokens_per_s"`
	Items       Value `json:"items_per_s"` // texts embedded or documents ranked
	Errors      Value `json:"error_rate"`  // failed over all, 0 to 1
	Concurrency Value `json:"mean_in_flight"`
	// Per accelerator, where the target says how many there are.
	OutputPerAccelerator Value `json:"output_tokens_per_s_per_accelerator"`
	TotalPerAccelerator  Value `json:"total_tokens_per_s_per_accelerator"`
}

// Steady are the rates while all slots were busy: from the moment when the
// asked concurrency was reached (where the start burst is kept out: from the
// first sending after it) to the last sending, by the successes that ended in
// it. Absent when the run was too short to have such a part.
type Steady struct {
	Window   Value `json:"window_s"`
	Requests Value `json:"requests_per_s"`
	Output   Value `json:"output_tokens_per_s"`
	Total    Value `json:"total_tokens_per_s"`
}

// WithStart are distributions over the successes of the start burst and of the
// measured requests together, as a tool prints them that measures all.
type WithStart struct {
	TTFT    Distribution `json:"ttft_s"`
	TPOT    Distribution `json:"tpot_s"`
	Latency Distribution `json:"latency_s"`
}

// Failure counts the failed and cancelled requests of one class, phase and status.
type Failure struct {
	Class  string `json:"class"`
	Phase  string `json:"phase,omitempty"`
	Status int    `json:"status,omitempty"`
	Count  int    `json:"count"`
	// Tokens is the number of token events that had come before they failed.
	Tokens  int    `json:"token_events"`
	Example string `json:"example"` // the first one's message, bounded and without secrets
}

// ScenarioInfo is the scenario as it ran.
type ScenarioInfo struct {
	Load           LoadInfo        `json:"load"`
	Workload       json.RawMessage `json:"workload"`
	WorkloadType   string          `json:"workload_type"`
	WarmupRequests int             `json:"warmup_requests"`
	WarmupDuration Value           `json:"warmup_duration_s"`
	WarmupSlots    int             `json:"warmup_concurrency"`
	Seed           uint64          `json:"seed"`
	// Nonce is the run's own number, which made its prompts new to the server;
	// one that the workload sets wins over it. 0 in results from before it.
	Nonce          uint64       `json:"nonce"`
	Timeouts       TimeoutsInfo `json:"timeouts"`
	ShortIsFailure bool         `json:"short_is_failure"`
	// SLOs are the scenario's.
	SLOs []SLO `json:"slos"`
	// Looks is how often the SLOs are judged at most, of a run that may be
	// extended: each look is judged so much the stricter. 0 is one.
	Looks int `json:"looks"`
	// ColdConnections is the scenario's.
	ColdConnections bool `json:"cold_connections,omitempty"`
	// TurnsInFlight is the scenario's bound of turns in flight; 0 is none.
	TurnsInFlight int `json:"turns_in_flight,omitempty"`
}

// LoadInfo is the load as it was asked.
type LoadInfo struct {
	Type        string          `json:"type"`
	Config      json.RawMessage `json:"config"`      // its fields
	Concurrency int             `json:"concurrency"` // the most slots of a closed loop; 0 for an open one
	Rate        Value           `json:"requests_per_s"`
	Requests    int             `json:"requests"`
	Duration    Value           `json:"duration_s"`
	// Shard of the load that this process sent: part ShardIndex, from 0, of
	// ShardCount.
	ShardIndex int `json:"shard_index"`
	ShardCount int `json:"shard_count"`
}

// TimeoutsInfo are the time-outs with their defaults filled in, in seconds.
type TimeoutsInfo struct {
	Connect       Value `json:"connect_s"`
	FirstToken    Value `json:"first_token_s"`
	BetweenTokens Value `json:"between_tokens_s"`
	Total         Value `json:"total_s"`
}

// TargetInfo is the target without its secrets.
type TargetInfo struct {
	URL      string `json:"url"` // without userinfo and query
	Model    string `json:"model"`
	API      string `json:"api"`
	NoStream bool   `json:"no_stream"`
	// Params are the target's, with numbers and truth values as they are and
	// every text "[redacted]", since it may be secret; Headers are names only.
	Params       json.RawMessage `json:"params"`
	Headers      []string        `json:"headers"`
	Accelerators int             `json:"accelerators"`
	// Labels are the target's.
	Labels map[string]string `json:"labels,omitempty"`
	Proxy  string            `json:"proxy,omitempty"` // its host
}

// Environment is the client's machine and build.
type Environment struct {
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	CPU     string `json:"cpu"`
	CPUs    int    `json:"cpus"` // usable by this process
	Commit  string `json:"commit"`
	Clock   string `json:"clock"` // where arrival stamps come from
	Version string `json:"slogate"`
}
