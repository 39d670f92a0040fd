package perftest

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// nothing is a figure without a sample.
var nothing = figures{0, math.NaN(), math.NaN(), math.NaN(), math.NaN()}

// whole is an answer in one piece: an event, but no token times.
func whole(tokens int64) record.Record {
	r := stream(tokens, at(500, answered|record.KindFinish|usage))
	r.FirstEvent, r.FirstToken, r.FirstAnswer, r.LastToken = record.Absent, record.Absent, record.Absent, record.Absent
	return r
}

// asked is r with so many tokens asked for.
func asked(r record.Record, n int) record.Record {
	r.AskedTokens = n
	return r
}

// carrying gives each event of r so many tokens.
func carrying(r record.Record, n int32) record.Record {
	for i := range r.Events {
		r.Events[i].Tokens = n
	}
	return r
}

func TestPeersOfOddStreams(t *testing.T) {
	for name, c := range map[string]struct {
		records []record.Record
		want    map[Peer]map[string]figures
	}{
		"usage with the finish reason": {
			[]record.Record{stream(3, at(10, role), at(100, answered), at(110, answered), at(120, answered), at(130, finish|usage), at(140, end))},
			map[Peer]map[string]figures{
				EvalScope:     {"TTFT": same(1, 10), "Latency": same(1, 130), "TPOT": same(1, 60), "ITL": {4, 30, 10, 90, 90}},
				AIPerf:        {"Request Latency": same(1, 120), "Inter Token Latency": same(1, 10)},
				GuideLLM:      {"request_latency": same(1, 140), "time_per_output_token_ms": same(3, 40), "inter_token_latency_ms": same(2, 10)},
				VLLM:          {"e2el": same(1, 130), "tpot": same(1, 60), "e2el (since pull request 55508)": same(1, 130)},
				SGLang:        {"e2e_latency": same(1, 140), "tpot": same(1, 20)},
				GenAIBench:    {"e2e_latency": same(1, 130), "tpot": same(1, 15)},
				InferencePerf: {"request_latency": same(1, 140)}, // no end of the body was stamped
			},
		},
		"usage in every event, end mark late": {
			[]record.Record{stream(2, at(100, answered|usage), at(120, answered|usage), at(130, finish), at(135, usage), at(150, end))},
			map[Peer]map[string]figures{
				EvalScope:  {"TTFT": same(1, 100), "Latency": same(1, 135), "TPOT": same(1, 35)},
				SGLang:     {"e2e_latency": same(1, 150), "tpot": same(1, 50)},
				GenAIBench: {"e2e_latency": same(1, 135), "tpot": same(1, 35)},
			},
		},
		"an event without choices between": { // the gap of EvalScope and vLLM bench is from it
			[]record.Record{stream(2, at(100, answered), at(115, 0), at(120, answered), at(130, finish), at(130, end))},
			map[Peer]map[string]figures{
				EvalScope: {"ITL": {2, 7.5, 5, 10, 10}},
				SGLang:    {"itl": same(1, 20)},
			},
		},
		"no usage, five tokens asked for": {
			[]record.Record{asked(stream(record.Absent, at(100, answered), at(110, answered), at(120, answered), at(130, finish), at(140, end)), 5)},
			map[Peer]map[string]figures{
				EvalScope:     {"TPOT": nothing},
				AIPerf:        {"Inter Token Latency": nothing, "Inter Chunk Latency": same(2, 10)},
				GuideLLM:      {"time_per_output_token_ms": same(3, 40)},
				VLLM:          {"tpot": nothing},
				SGLang:        {"tpot": same(1, 10)}, // 40 / (5 - 1)
				GenAIBench:    {"e2e_latency": same(1, 140), "tpot": nothing},
				InferencePerf: {"time_per_output_token": same(1, 10), "time_per_output_token (use_server_output_tokens)": same(1, 10)},
			},
		},
		"one token": {
			[]record.Record{stream(1, at(100, answered|record.KindFinish), at(110, usage), at(110, end))},
			map[Peer]map[string]figures{
				EvalScope:     {"TTFT": same(1, 100), "TPOT": same(1, 0), "ITL": nothing},
				GuideLLM:      {"time_per_output_token_ms": same(1, 100), "inter_token_latency_ms": nothing},
				VLLM:          {"ttft": same(1, 100), "tpot": nothing},
				SGLang:        {"tpot": nothing},
				InferencePerf: {"time_to_first_token": nothing, "normalized_time_per_output_token": same(1, 110)},
			},
		},
		"reasoning only": {
			[]record.Record{stream(2, at(100, reasoning), at(120, reasoning), at(130, finish), at(130, usage), at(130, end))},
			map[Peer]map[string]figures{
				AIPerf:        {"Time to First Token": same(1, 100), "Time to First Output Token": nothing},
				GuideLLM:      {"time_to_first_output_token_ms": same(1, 0)},
				InferencePerf: {"time_to_first_token": nothing, "request_latency": same(1, 130), "inter_token_latency": nothing, "normalized_time_per_output_token": nothing},
			},
		},
		"in one piece": {
			[]record.Record{whole(5)},
			map[Peer]map[string]figures{
				EvalScope:     {"TTFT": same(1, 500), "Latency": same(1, 500), "TPOT": same(1, 0), "ITL": nothing},
				AIPerf:        {"Time to First Token": nothing, "Request Latency": same(1, 500), "Inter Chunk Latency": nothing},
				GuideLLM:      {"time_to_first_token_ms": same(1, 0), "time_per_output_token_ms": same(5, 100), "inter_token_latency_ms": same(4, 0)},
				VLLM:          {"ttft": nothing, "e2el": nothing, "itl": nothing},
				SGLang:        {"ttft": same(1, 500), "e2e_latency": same(1, 500), "tpot": same(1, 0), "itl": nothing},
				GenAIBench:    {"ttft": nothing, "e2e_latency": nothing},
				InferencePerf: {"time_to_first_token": nothing, "request_latency": same(1, 500), "normalized_time_per_output_token": same(1, 100)},
			},
		},
		"four tokens an event": {
			[]record.Record{carrying(stream(8, at(100, answered), at(142, answered), at(142, finish), at(142, usage), at(142, end)), 4)},
			map[Peer]map[string]figures{
				SGLang: {"itl": same(1, 42)},
				InferencePerf: {
					"time_per_output_token": same(1, 6),
					"inter_token_latency":   {7, 6, 0, 42, 39.48}, // 42 and six 0: rank 6*0.99 = 5.94
				},
			},
		},
		"faster than 1000 tokens a second": {
			[]record.Record{
				stream(101, at(100, answered), at(150, answered|record.KindFinish), at(150, usage), at(150, end)), // 0.5 ms a token
				stream(26, at(200, answered), at(250, answered|record.KindFinish), at(250, usage), at(250, end)),  // 2 ms
			},
			map[Peer]map[string]figures{
				VLLM:       {"tpot": {2, 1.25, 0.5, 2, 1.985}},
				GenAIBench: {"ttft": same(1, 200), "tpot": same(1, 2)},
			},
		},
		"text, then a call's arguments": {
			[]record.Record{stream(6, at(10, role), at(100, answered), at(110, answered), at(130, call), at(160, call), at(200, answered), at(210, finish), at(215, usage), at(220, end))},
			map[Peer]map[string]figures{
				AIPerf:        {"Time to First Token": same(1, 100), "Inter Chunk Latency": {4, 25, 10, 40, 39.7}}, // 10, 20, 30, 40
				SGLang:        {"ttft": same(1, 100), "tpot": same(1, 24), "itl": {2, 50, 10, 90, 89.2}},           // 120 / 5; 10 and 90
				GenAIBench:    {"ttft": same(1, 100), "tpot": same(1, 23)},                                         // 115 / 5
				InferencePerf: {"time_to_first_token": same(1, 100), "time_per_output_token": same(1, 50), "inter_token_latency": {2, 50, 10, 90, 89.2}},
			},
		},
		"a call's arguments first": {
			[]record.Record{stream(3, at(100, call), at(120, answered), at(140, answered), at(150, finish), at(160, usage), at(160, end))},
			map[Peer]map[string]figures{
				AIPerf:        {"Time to First Token": same(1, 100)},
				SGLang:        {"ttft": same(1, 120), "tpot": same(1, 20), "itl": same(1, 20)},
				GenAIBench:    {"ttft": same(1, 120), "tpot": same(1, 20)},
				InferencePerf: {"time_to_first_token": same(1, 120), "inter_token_latency": same(1, 20)},
			},
		},
		"nothing but a call's arguments": {
			[]record.Record{stream(2, at(100, call), at(120, call), at(130, finish), at(140, usage), at(140, end))},
			map[Peer]map[string]figures{
				AIPerf:        {"Time to First Token": same(1, 100), "Inter Chunk Latency": same(1, 20)},
				SGLang:        {"ttft": nothing, "e2e_latency": same(1, 140), "tpot": nothing, "itl": nothing},
				GenAIBench:    {"ttft": nothing, "e2e_latency": same(1, 140), "tpot": nothing},
				InferencePerf: {"time_to_first_token": nothing, "request_latency": same(1, 140), "inter_token_latency": nothing},
			},
		},
		"weights": {
			[]record.Record{
				stream(2, at(100, answered), at(110, answered), at(110, end)),  // 110/2 = 55, ITL 10
				stream(10, at(100, answered), at(280, answered), at(280, end)), // 280/10 = 28, ITL 20
			},
			map[Peer]map[string]figures{
				GuideLLM: {
					"time_per_output_token_ms": {12, 32.5, 28, 55, 55}, // (2*55 + 10*28) / 12
					"inter_token_latency_ms":   {10, 19, 10, 20, 20},   // (10 + 9*20) / 10
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			res := storeIn(t, t.TempDir(), c.records...)
			for p, figs := range c.want {
				reading, err := res.As(p)
				require.NoError(t, err)
				got := map[string]figures{}
				for _, f := range reading.Figures {
					if _, ok := figs[f.Name]; ok {
						got[f.Name] = figuresOf(f)
					}
				}
				if diff := cmp.Diff(figs, got, cmpopts.EquateNaNs()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", p, diff)
				}
			}
		})
	}
}

// Four requests with a first event at 100, 200, 300 and 400 ms; warm-up and
// failures do not count.
func TestPeersPercentileRules(t *testing.T) {
	var records []record.Record
	for i := range int64(4) {
		records = append(records, stream(1, at(400-100*i, answered), at(500, finish), at(500, end)))
	}
	warmup := stream(1, at(900, answered), at(900, finish), at(900, end))
	warmup.Part = record.Warmup
	failed := stream(1, at(900, answered))
	failed.Class = record.ClassTruncated
	res := storeIn(t, t.TempDir(), append(records, warmup, failed)...)
	for p, want := range map[Peer][4]float64{
		EvalScope: {300, 400, 400, 400}, // index 2, 3, 3, 3
		GuideLLM:  {200, 400, 400, 400}, // half of the weight has come at the second
		VLLM:      {250, 370, 385, 397}, // rank 1.5, 2.7, 2.85, 2.97
	} {
		reading, err := res.As(p)
		require.NoError(t, err)
		f := reading.Of(TTFT)
		require.Equal(t, 4, f.Count)
		require.Equal(t, Value(0.25), f.Mean)
		for i, q := range peerPercentiles {
			require.InDelta(t, want[i], 1000*float64(f.P(float64(q))), 1e-9, "%s p%d", p, q)
		}
	}
}
