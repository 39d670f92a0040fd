package perftest

import "time"

// Observer follows runs while they go on: an exporter of metrics or traces, a
// live page, a test's own code. Set it in [Scenario.Observers].
//
// It costs the measurement nothing: each has a goroutine of its own, and what it
// has not fetched yet waits in a buffer of [ObserverBuffer] requests. When
// that is full, further requests are missed and counted, and no sender, stamp or
// other observer waits. At the end of the run it is waited for, for at most 2 s.
// One that panics, or ends its goroutine (as t.FailNow does), is told nothing
// more. Whatever was missed is among [Result.Warnings].
type Observer interface {
	// Observe is called once a second, earlier when half of the buffer is
	// full, and once at the end of the run. The calls of one run come one
	// after another; runs at the same time call at the same time.
	Observe(Snapshot)
}

// Warner is an [Observer] that can fail on its own, as an exporter whose
// endpoint is away. When it has returned from the last snapshot it is asked
// what went wrong, in one line without secrets; "" is nothing. The line is then
// among [Result.Warnings].
type Warner interface {
	Observer
	Warning() string
}

// ObserverFunc is a function as an [Observer].
type ObserverFunc func(Snapshot)

// Observe implements [Observer].
func (f ObserverFunc) Observe(s Snapshot) { f(s) }

// ObserverBuffer is how many finished requests wait for an observer.
const ObserverBuffer = 4096

// observeEvery is the time between snapshots.
const observeEvery = time.Second

// Snapshot is how a run stands. It belongs to the observer that gets it. As in
// a [Result], names end in their unit, and what is not known is absent (null).
type Snapshot struct {
	Run ObservedRun `json:"run"`
	// At is when it was taken, in seconds after the run's start.
	At Value `json:"at_s"`
	// Last says that the run has ended and no other snapshot follows.
	Last bool `json:"last"`
	Live Live `json:"live"`
	// Finished are the requests that ended since the snapshot before, in the
	// order in which they ended; those of the warm-up are marked.
	Finished []FinishedRequest `json:"finished"`
	// Missed is the number of requests so far that are in no snapshot,
	// because the buffer was full when they ended.
	Missed int `json:"missed"`
}

// ObservedRun tells one run from others. Its texts are valid UTF-8.
type ObservedRun struct {
	Name      string `json:"name"` // the scenario's
	Test      string `json:"test"`
	Package   string `json:"package"`
	Simulated bool   `json:"simulated"`
	// Started is the wall-clock time of the run's start, from which all
	// stamps count.
	Started time.Time  `json:"started"`
	Target  TargetInfo `json:"target"`
	Load    LoadInfo   `json:"load"`
}

// Time is the wall-clock time of a stamp of this run; zero for an absent one.
func (r ObservedRun) Time(stamp Value) time.Time {
	if !stamp.Known() {
		return time.Time{}
	}
	return r.Started.Add(time.Duration(float64(stamp) * 1e9))
}

// Live are a run's figures so far: what the progress line shows. During the
// warm-up, counts are those of the warm-up and the other figures absent.
type Live struct {
	Warmup bool `json:"warmup"` // no measured request has ended yet, and the warm-up goes on
	// Elapsed is the time since the phase began, and Limit the time after which
	// no more requests of it start; absent when there is none.
	Elapsed Value `json:"elapsed_s"`
	Limit   Value `json:"limit_s"`

	Asked     int `json:"asked"` // requests to send in all; 0 when only time ends the phase
	InFlight  int `json:"in_flight"`
	Done      int `json:"done"` // Succeeded + Failed + Cancelled
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
	Cancelled int `json:"cancelled"`

	// Rates are those of the successes, from the first sending to the last end.
	Requests Value `json:"requests_per_s"`
	Output   Value `json:"output_tokens_per_s"`
	// Means over the successes.
	TTFT Value `json:"mean_ttft_s"`
	TPOT Value `json:"mean_tpot_s"`
}

// FinishedRequest is a request that has ended. What is not defined for it (TTFT
// of a failed connection, TPOT without a token count) is absent.
type FinishedRequest struct {
	Index int `json:"index"` // position in the plan of its part, from 0
	// Part of the run that it belongs to: "measured", or one that is in no
	// figure: "warmup", "start" (see Closed.KeepEnds) or "padding".
	Part  string `json:"part"`
	Slot  int    `json:"slot"`
	Row   int    `json:"row"` // of the workload, from 1; 0 when it has none
	Tag   string `json:"tag"`
	Turn  int    `json:"turn"`  // of its conversation, from 1; 0 when it is none
	Items int    `json:"items"` // texts to embed or documents to rank

	// Stamps, in seconds after the run's start.
	Scheduled  Value `json:"scheduled_s"`
	Sent       Value `json:"sent_s"`
	FirstToken Value `json:"first_token_s"`
	LastToken  Value `json:"last_token_s"`
	Done       Value `json:"done_s"`

	// The metrics of the package documentation, in seconds; Queue is from
	// Scheduled to Sent, and MaxITL the largest gap between token events.
	TTFT     Value `json:"ttft_s"`
	TTFA     Value `json:"ttfa_s"`
	TTST     Value `json:"ttst_s"`
	TPOT     Value `json:"tpot_s"`
	MaxITL   Value `json:"max_itl_s"`
	Latency  Value `json:"latency_s"`
	Response Value `json:"response_s"`
	Queue    Value `json:"queue_s"`

	InputTokens     Value `json:"input_tokens"`
	OutputTokens    Value `json:"output_tokens"`
	CachedTokens    Value `json:"cached_tokens"`
	ReasoningTokens Value `json:"reasoning_tokens"`
	TokenEvents     int   `json:"token_events"`

	// Class is the failure class and empty for a success, Phase that in which
	// a request failed, and Message one bounded line without secrets.
	Class   string `json:"class"`
	Phase   string `json:"failure_phase"`
	Status  int    `json:"status"` // HTTP status; 0 when no answer came
	Message string `json:"message"`
}

// OK reports whether the request succeeded.
func (f *FinishedRequest) OK() bool { return f.Class == "" }
