package perftest

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write testdata/worked anew")

const ms = int64(time.Millisecond)

// The kinds of events that streams are made of here.
const (
	role      = record.KindChoices
	reasoning = record.KindChoices | record.KindReasoning
	answered  = record.KindChoices | record.KindAnswer
	call      = record.KindChoices | record.KindAnswer | record.KindNotText
	finish    = record.KindChoices | record.KindFinish
	usage     = record.KindUsage
	end       = record.KindEnd
)

// at is an event so many milliseconds after the sending.
func at(millis int64, kind record.Kind) record.Event {
	return record.Event{At: millis, Kind: kind}
}

// stream is a success sent one second after the start, as the client would
// have stamped it; tokens is what usage says, or Absent.
func stream(tokens int64, events ...record.Event) record.Record {
	const sent = 1000 * ms
	var r record.Record
	r.Reset()
	r.Scheduled, r.Sent, r.Status = sent, sent, 200
	if r.OutputTokens = tokens; tokens != record.Absent {
		r.OutputSource = record.SourceUsage
	}
	for _, e := range events {
		e.At = sent + e.At*ms
		r.Events = append(r.Events, e)
		r.Done = e.At
		r.DataEvents++
		if r.FirstEvent == record.Absent {
			r.FirstEvent = e.At
		}
		if e.Kind&record.KindUsage != 0 {
			r.UsageAt = e.At
		}
		if e.Kind&record.KindOutput == 0 {
			continue
		}
		switch r.TokenEvents++; r.TokenEvents {
		case 1:
			r.FirstToken = e.At
		case 2:
			r.SecondToken = e.At
		}
		if e.Kind&record.KindAnswer != 0 && r.FirstAnswer == record.Absent {
			r.FirstAnswer = e.At
		}
		if r.LastToken != record.Absent {
			r.MaxGap = max(r.MaxGap, e.At-r.LastToken)
		}
		r.LastToken = e.At
	}
	return r
}

// worked is the stream that the readings are worked out for by hand: a role at
// 50 ms, 41 token events every 20 ms from 200 to 1000 ms of which the first ten
// are reasoning, an empty finish event at 1010, usage and end mark at 1015, and
// the end of the body at 1020.
func worked() record.Record {
	events := []record.Event{at(50, role)}
	for i := range int64(41) {
		kind := answered
		if i < 10 {
			kind = reasoning
		}
		events = append(events, at(200+20*i, kind))
	}
	r := stream(41, append(events, at(1010, finish), at(1015, usage), at(1015, end|record.KindCoalesced))...)
	r.BodyEnd = r.Sent + 1020*ms
	r.InputTokens, r.InputSource, r.FinishReason = 12, record.SourceUsage, "stop"
	r.Coalesced = 1
	return r
}

// storeIn writes records into dir as a run would.
func storeIn(t *testing.T, dir string, records ...record.Record) *Result {
	t.Helper()
	c := newCollector()
	w, err := record.Create(filepath.Join(dir, requestsFile), c.add)
	require.NoError(t, err)
	for i, r := range records {
		rec := w.Get()
		*rec = r
		rec.Index = i
		w.Put(rec)
	}
	require.NoError(t, w.Close())
	r := &Result{
		Schema: ResultSchema, Version: ResultVersion, Name: "TestWorked", Simulated: true, Ended: endedComplete, Dir: dir,
		Started:     time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		Environment: Environment{Clock: "none: written by hand"},
		Failures:    []Failure{}, Warnings: []string{}, Verdicts: []Verdict{},
	}
	r.Duration = Absent
	c.finish(r, 1)
	require.NoError(t, r.save())
	return r
}

// figures are what a figure comes to, in milliseconds.
type figures struct {
	Count               int
	Mean, Min, Max, P99 float64
}

func figuresOf(f PeerFigure) figures {
	in := func(v Value) float64 { return round(float64(v) * 1000) }
	return figures{f.Count, in(f.Mean), in(f.Min), in(f.Max), in(f.P(99))}
}

// round takes the last bits' noise away.
func round(v float64) float64 { return math.Round(v*1e6) / 1e6 }

// same is a figure whose samples are all equal.
func same(n int, v float64) figures { return figures{n, v, v, v, v} }

// Each figure is worked out from the stream by hand, with (1015-50)/40 = 24.125
// and so on; 42 gaps of events with choices are 150, 40 times 20, and 10.
func TestWorkedExample(t *testing.T) {
	want := map[Peer]map[string]figures{
		EvalScope: {
			"TTFT": same(1, 50), "Latency": same(1, 1015), "TPOT": same(1, 24.125),
			"ITL": {42, 22.857143, 10, 150, 150}, // p99 is the sample at 42*99/100 = 41, the last
		},
		AIPerf: {
			"Time to First Token": same(1, 200), "Request Latency": same(1, 1000), "Inter Token Latency": same(1, 20),
			"Inter Chunk Latency": same(40, 20), "Time to Second Token": same(1, 20), "Time to First Output Token": same(1, 400),
		},
		GuideLLM: {
			"time_to_first_token_ms": same(1, 200), "request_latency": same(1, 1015),
			"time_per_output_token_ms": same(41, 24.390244), // 1000 / 41
			"inter_token_latency_ms":   same(40, 20), "time_to_first_output_token_ms": same(1, 400),
		},
		VLLM: {
			"ttft": same(1, 50), "e2el": same(1, 1015), "tpot": same(1, 24.125),
			"itl":                             {42, 22.857143, 10, 150, 96.7}, // 20 and 150 at rank 41*0.99 = 40.59
			"e2el (since pull request 55508)": same(1, 1010), "tpot (since pull request 55508)": same(1, 24),
		},
		SGLang: {
			"ttft": same(1, 200), "e2e_latency": same(1, 1015), "tpot": same(1, 20.375), "itl": same(40, 20), // 815 / 40
		},
		GenAIBench: {"ttft": same(1, 200), "e2e_latency": same(1, 1015), "tpot": same(1, 20.375)},
		InferencePerf: {
			"time_to_first_token": same(1, 400), "request_latency": same(1, 1020), "inter_token_latency": same(30, 20),
			"time_per_output_token":                            same(1, 20),        // 600 / 30
			"time_per_output_token (use_server_output_tokens)": same(1, 15),        // 600 / 40
			"normalized_time_per_output_token":                 same(1, 32.903226), // 1020 / 31
		},
	}
	dir := t.TempDir()
	fresh := storeIn(t, dir, worked())
	if *update {
		require.NoError(t, os.MkdirAll("testdata/worked", 0o755))
		storeIn(t, "testdata/worked", worked())
	}
	kept, err := ReadResult("testdata/worked")
	require.NoError(t, err)
	for _, res := range []*Result{fresh, kept} {
		require.Equal(t, []Value{0.2, 1.015, 0.02, 0.4}, []Value{
			res.Metrics.TTFT.Mean, res.Metrics.Latency.Mean, res.Metrics.TPOT.Mean, res.Metrics.TTFA.Mean})
		require.Equal(t, 40, res.Metrics.ITL.Count)
		require.Equal(t, Value(0.02), res.Metrics.ITL.Max)
		for p, figs := range want {
			reading, err := res.As(p)
			require.NoError(t, err)
			require.Equal(t, p, reading.Peer)
			require.NotEmpty(t, reading.Source)
			got := map[string]figures{}
			for _, f := range reading.Figures {
				got[f.Name] = figuresOf(f)
				require.NotEmpty(t, f.Note)
			}
			if diff := cmp.Diff(figs, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", p, diff)
			}
		}
	}
	require.Len(t, want, len(allPeers))
}

func TestPeersTable(t *testing.T) {
	res := storeIn(t, t.TempDir(), worked())
	table, err := res.Peers()
	require.NoError(t, err)
	require.Len(t, table.Readings, len(allPeers))
	for _, r := range table.Readings {
		alone, err := res.As(r.Peer)
		require.NoError(t, err)
		if diff := cmp.Diff(alone, r); diff != "" {
			t.Errorf("%s alone and among all (-alone +all):\n%s", r.Peer, diff)
		}
	}
	require.Contains(t, table.String(), "SIMULATED")
	require.Empty(t, PeerTable{}.String())
	none := table.Readings[5].Of(ITL)
	require.Equal(t, GenAIBench, table.Readings[5].Peer)
	require.Zero(t, none.Count)
	require.False(t, none.Mean.Known() || none.P(99).Known())
}

func TestAsFails(t *testing.T) {
	_, err := new(Result).As(VLLM)
	require.EqualError(t, err, "read as a peer: the result has no folder: a peer's figures are made of the requests' events, and no requests.jsonl was written")
	_, err = new(Result).Peers()
	require.ErrorContains(t, err, "the result has no folder")

	dir := t.TempDir()
	res := storeIn(t, dir, worked())
	_, err = res.As("wrk")
	require.EqualError(t, err, `peer is "wrk": it is none of those that package perftest names`)

	res.Counts.Succeeded++
	_, err = res.As(VLLM)
	require.ErrorContains(t, err, "requests.jsonl holds 1 measured successes, the result says 2")

	name := filepath.Join(dir, requestsFile)
	require.NoError(t, os.WriteFile(name, []byte("{}\n"), 0o644))
	_, err = res.As(VLLM)
	require.ErrorContains(t, err, "line 1: no JSON object")

	require.NoError(t, os.Remove(name))
	_, err = res.As(VLLM)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.ErrorContains(t, err, "their file is missing: open "+name)
}
