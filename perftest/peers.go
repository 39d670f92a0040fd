package perftest

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/slogate/slogate/internal/record"
)

// Peer is another load tester. Peers put different quantities behind the same
// word: the TTFT of one stream may be 50, 200 or 400 ms, depending on the tool.
type Peer string

// The peers whose reading of a run [Result.As] gives.
const (
	EvalScope     Peer = "EvalScope" // evalscope perf, up to version 1.11.0
	AIPerf        Peer = "AIPerf"
	GuideLLM      Peer = "GuideLLM"
	VLLM          Peer = "vLLM bench"   // vllm bench serve, back end openai-chat
	SGLang        Peer = "SGLang bench" // sglang.bench_serving, back end sglang-oai-chat
	GenAIBench    Peer = "genai-bench"
	InferencePerf Peer = "inference-perf"
)

// Reading is what a peer would have printed for a run, by the peer's rules and
// under its names, from the stamps that this project took.
//
// It is a reading of stamps and no measurement: the peer's own delays (an
// interpreter that is late to read, requests that queue in the client) are not
// in it. It is over the measured requests that succeeded here, while a peer may
// count a broken answer as a success. Rounding of what is printed is left out.
//
// The rules are those for OpenAI chat streams. Where a peer counts tokens with
// its own tokenizer, the server's count stands in. Tool-call arguments and audio
// are output here, while SGLang bench, genai-bench and inference-perf do not see
// them: their rules pass over events that hold nothing else.
type Reading struct {
	Peer Peer
	// Source names the files that the rules were read from, each with a
	// commit of the peer's repository, or the change that set the rule.
	Source string
	// Why says in a line what sets the peer's figures apart.
	Why     string
	Figures []PeerFigure
}

// PeerFigure is one figure of a peer, in seconds whatever the peer prints.
type PeerFigure struct {
	// Name is the peer's own.
	Name string
	// Metric is the one of this project that the figure is held against.
	Metric Metric
	// Count is the number of samples: requests, gaps, or tokens where the
	// peer weights its requests by their tokens.
	Count int
	// Mean, Min and Max are absent without samples, where some peers print 0.
	Mean, Min, Max Value
	// Percentiles are P50, P90, P95 and P99 by the peer's own rule.
	Percentiles Percentiles
	// Note says what the figure is, and what it counts that Metric does not.
	Note string
}

// P is the given percentile; absent unless it is one of Percentiles.
func (f PeerFigure) P(p float64) Value { return Distribution{Percentiles: f.Percentiles}.P(p) }

// Of is the peer's first figure that is held against m. Where there is none,
// it has no name, no sample, and absent values.
func (r Reading) Of(m Metric) PeerFigure {
	for _, f := range r.Figures {
		if f.Metric == m {
			return f
		}
	}
	return PeerFigure{Metric: m, Mean: Absent, Min: Absent, Max: Absent}
}

// As gives the figures that p would have printed for this very run. It reads
// the requests' events from requests.jsonl in r.Dir, and keeps a few numbers a
// request in memory. It fails for a result that has no folder, when the file is
// missing, damaged or not of this result, and for a peer that is not known.
func (r *Result) As(p Peer) (Reading, error) {
	rules := rulesOf(p)
	if rules == nil {
		return Reading{}, badField("peer", fmt.Sprintf("%q", string(p)), "it is none of those that package perftest names")
	}
	readings, err := r.readings(rules)
	if err != nil {
		return Reading{}, err
	}
	return readings[0], nil
}

// readings reads the requests once for all the given peers.
func (r *Result) readings(peers ...*peerRules) ([]Reading, error) {
	if r.Dir == "" {
		return nil, errors.New("read as a peer: the result has no folder: a peer's figures are made of the requests' events, and no " + requestsFile + " was written")
	}
	name := filepath.Join(r.Dir, requestsFile)
	readers := make([]*peerReader, len(peers))
	for i, p := range peers {
		readers[i] = newPeerReader(p)
	}
	successes := 0
	_, err := eachRecord(name, func(rec *record.Record) {
		if rec.Part != record.Measured || !rec.OK() {
			return
		}
		successes++
		for _, rd := range readers {
			rd.add(rec)
		}
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read as a peer: a peer's figures are made of the requests' events, and their file is missing: %w", err)
	case err != nil:
		return nil, fmt.Errorf("read as a peer: %w", err)
	case successes != r.Counts.Succeeded:
		return nil, fmt.Errorf("read as a peer: %s holds %d measured successes, the result says %d", name, successes, r.Counts.Succeeded)
	}
	out := make([]Reading, len(readers))
	for i, rd := range readers {
		out[i] = rd.reading()
	}
	return out, nil
}
