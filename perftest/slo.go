package perftest

import "time"

// Metric names a quantity that an SLO or a table is about.
type Metric string

// The metrics. Durations are in seconds, rates per second, shares from 0 to 1.
const (
	TTFT         Metric = "ttft"          // time to first token
	TTFA         Metric = "ttfa"          // time to first answer: first output that is not reasoning
	TTST         Metric = "ttst"          // time from the first to the second token event
	TPOT         Metric = "tpot"          // time per output token after the first
	ITL          Metric = "itl"           // gap between successive token events
	ITLPerToken  Metric = "itl_per_token" // the same, divided by the tokens that the event carries
	Latency      Metric = "latency"       // from sending to the end of the answer
	Response     Metric = "response"      // from the scheduled start to the end of the answer
	InputTokens  Metric = "input_tokens"  // a request
	OutputTokens Metric = "output_tokens" // a request
	ErrorRate    Metric = "error_rate"    // failed requests over all
	OutputRate   Metric = "output_rate"   // output tokens of successes a second
	TotalRate    Metric = "total_rate"    // input and output tokens of successes a second
	RequestRate  Metric = "request_rate"  // successes a second
	Goodput      Metric = "goodput"       // share of all requests within every given limit
	GoodputRate  Metric = "goodput_rate"  // the same requests, a second
	ServerMetric Metric = "server"        // the server's own, which SLO.Series names
)

// Stat is the figure of a distribution that an SLO is about: "mean", "max" or
// a percentile such as "p99" or "p99.9". Empty for metrics that are one number.
type Stat string

// The stats that are no percentile. Min and Last are for ServerMetric alone.
const (
	Mean Stat = "mean"
	Max  Stat = "max"
	Min  Stat = "min"
	Last Stat = "last" // the last value; of a counter, its increase during the load
)

// Op compares a measured figure with a limit.
type Op string

// The comparisons that an SLO can make.
const (
	Below   Op = "<"
	AtMost  Op = "<="
	AtLeast Op = ">="
	Above   Op = ">"
)

// SLO is one objective: a metric's figure and the limit that it has to keep.
// Package assert has constructors whose types keep the units right.
type SLO struct {
	Metric Metric  `json:"metric"`
	Stat   Stat    `json:"stat,omitempty"`
	Op     Op      `json:"op"`
	Limit  float64 `json:"limit"` // seconds, tokens, per second, or a share: the metric's unit
	// Tag limits the objective to the requests that the workload gave this
	// tag; empty means all.
	Tag string `json:"tag,omitempty"`
	// Series is the metric of the server, for ServerMetric: a name as its
	// /metrics has it, perhaps with labels that choose among several series:
	// vllm:request_success_total{finished_reason="length"}.
	Series string `json:"series,omitempty"`
	// Limits are what a good request keeps, for Goodput and GoodputRate.
	Limits Limits `json:"limits,omitzero"`
	// Confidence is how sure a proof has to be, above 0.5 and below 1; 0 means
	// 0.95, and 0.99 for percentiles from p99.9 on. It changes what is proven,
	// not what is measured.
	Confidence float64 `json:"confidence,omitzero"`
}

// Limits are what one request has to keep to be good: each value strictly
// below its limit. A zero field is no limit. A failed request keeps none; a
// metric that a success does not have (TPOT of a one-token answer) is kept.
type Limits struct {
	TTFT    time.Duration
	TTFA    time.Duration
	TPOT    time.Duration
	ITL     time.Duration // largest gap of the request
	Latency time.Duration
	// Response is counted from the scheduled start.
	Response time.Duration
}
