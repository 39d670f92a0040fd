package perftest

import "time"

// Scenario is one measurement: a workload, sent to a target under a load.
// The zero value of each field works as documented, except for Target,
// Workload and Load, which [Run] insists on.
type Scenario struct {
	// Name names the results; empty means the name of the test.
	Name string
	// Target is the server to measure.
	Target Target
	// Workload yields the requests.
	Workload Workload
	// Load says when requests start and when the run ends.
	Load Load
	// Repeat is the number of runs, each with a warm-up, a seed of the load
	// (Seed, Seed+1 and so on), a nonce and prompts of its own; 0 and 1 mean
	// one. [Run] then gives the last run's result, which knows all of them:
	// its Runs are the figures of each, and SLOs are judged on the requests of
	// all together. Runs are what a comparison counts, see [Baseline].
	Repeat int
	// Warmup is sent before the load and is part of no figure; zero means none.
	Warmup Warmup
	// Timeouts bound each request; zero means the defaults.
	Timeouts Timeouts
	// TurnsInFlight is the most turns of conversations (see [Request].Then)
	// that are in flight at any time; 0 means no limit but the load's.
	TurnsInFlight int
	// ClientLimits say what delay of the client's own makes the run INVALID;
	// zero means the defaults.
	ClientLimits ClientLimits
	// Canary sends, during the load, two requests a second to a server in this
	// process whose events carry the time at which they were written. How late
	// the client stamps them, and its time to their first token, are in
	// Result.Health, and judged (see ClientLimits.Canary). It is for systems
	// where the kernel does not stamp arrivals, on which the client's own delay
	// is in every figure and nothing else shows it. In a testing/synctest
	// bubble there is none.
	Canary bool
	// Tokenizer counts the tokens that the server does not (see
	// Target.UsageOptional), and checks its counts where it does; nil means
	// that such tokens are unknown. It has to be the model's own.
	Tokenizer Tokenizer
	// SLOs are the objectives that this run is to prove, for assert.Gate: a plan
	// that cannot prove them is refused before any load (with go test's -short
	// the test is skipped; a conversation counts as one request, unless the
	// workload is [Conversational] and no Duration may cut it), and a run is stopped as soon as one of them must
	// fail, whatever the requests to come do. (Of a load by time, or of
	// conversations, it is not known how many these are: it is then stopped only
	// by what one request can miss, such as a maximum or an error rate of 0.)
	// A test that ends without having judged the result fails. Empty for a run
	// that measures only.
	SLOs []SLO
	// Extend lets a run go on whose SLOs are neither proven nor refuted; zero
	// ends it with its plan.
	Extend Extend
	// ColdConnections lets each connection be dialled by the first request on
	// it, whose times then include the dial: many dials at once show in the
	// first requests' TTFT. By default those of the slots that
	// a closed loop starts in its first 5 s are opened, TLS included, before the
	// loop begins (but not through a proxy); those of slots that start later are
	// opened up to 3 s before; and an open loop keeps some open for the slots
	// that it may need next, 2 to 64, of which those that are not used are replaced every 4 s.
	ColdConnections bool
	// Seed makes what is random repeatable; it is handed to the workload.
	Seed uint64
	// ShortIsFailure makes an answer with fewer tokens than asked, although
	// the request ignores the end token, a failure of class "short". By
	// default such answers are counted and warned of.
	ShortIsFailure bool
	// ServerMetrics asks the server for its own metrics while the load goes
	// on; nil asks for none.
	ServerMetrics *ServerMetrics
	// Observers follow the run while it goes on, and cost it nothing; none by
	// default.
	Observers []Observer `json:"-"`
}

// Extend is how far a run goes on that is inconclusive: it measures as many
// requests again as it has so far, until all of its scenario's SLOs are decided
// or there are Requests of them. Each look at the evidence is judged so much the
// stricter that all of them together are as sure as one. Where shards meet (see
// package perftest/cluster), Requests are those of all, who go on together.
type Extend struct {
	// Requests is the most to measure in all; more than the load's. 0 is none.
	Requests int
	// Duration after whose end, from the load's start, no further part begins;
	// 0 means no limit but the test's deadline.
	Duration time.Duration
}

// Warmup is a phase of requests before the measured load. It ends, with its
// last answer read, before the first measured request starts.
type Warmup struct {
	// Requests to send; 0 means no warm-up unless Duration is set.
	Requests int
	// Duration after which no more warm-up requests start; 0 means no limit.
	Duration time.Duration
	// Concurrency is the number of requests in flight; 0 means that of the
	// load, and 1 for an open loop.
	Concurrency int
}

// Timeouts bound one request. A zero field means its default; a negative one
// is refused.
type Timeouts struct {
	// Connect bounds DNS, dial and TLS together; 10 s by default.
	Connect time.Duration
	// FirstToken bounds the time from sending to the first token; 5 min by
	// default, since servers queue in silence.
	FirstToken time.Duration
	// BetweenTokens bounds the gap between token events; 1 min by default.
	BetweenTokens time.Duration
	// Total bounds the whole request; 30 min by default.
	Total time.Duration
}
