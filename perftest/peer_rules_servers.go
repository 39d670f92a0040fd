package perftest

import "github.com/slogate/slogate/internal/record"

// vllm bench serve with the back end openai-chat; openai (completions) differs
// in that usage did not end a request.
var vllmRules = peerRules{
	peer: VLLM,
	source: "vllm-project/vllm, vllm/benchmarks: lib/endpoint_request_func.py at 3aee4a4 and, after pull request 55508 of September 2026, at 02cfb53 (stamps); " +
		"serve.py at 009e6d4 (formulas)",
	why: "first event with choices, be it a role without text; ends with the usage event, or since pull request 55508 with the finish reason; gaps of all events with choices",
	figures: []figureRule{
		{
			name: "ttft", metric: TTFT, of: func(r stamps) float64 { return r.firstOf(withChoices) },
			note: "first event with choices, also a role-only or empty one",
		},
		{
			name: "e2el", metric: Latency, of: func(r stamps) float64 { return r.lastOf(withJSON) },
			note: "last event with JSON, usage included",
		},
		{
			name: "tpot", metric: TPOT, of: func(r stamps) float64 { return vllmTPOT(r, withJSON) },
			note: "(e2el - ttft) / (tokens - 1): with the wait from the role to the first token, and that from the last token to usage; the tokens are those of its tokenizer unless usage has an event of its own",
		},
		{
			name: "itl", metric: ITL, gaps: stamps.choiceGaps,
			note: "events with choices after the first, pooled: with that from the role to the first token and that to the finish reason",
		},
		{
			name: "e2el (since pull request 55508)", metric: Latency, of: func(r stamps) float64 { return r.lastOf(withChoices) },
			note: "last event with choices",
		},
		{
			name: "tpot (since pull request 55508)", metric: TPOT, of: func(r stamps) float64 { return vllmTPOT(r, withChoices) },
			note: "the same with the later e2el",
		},
	},
}

func vllmTPOT(r stamps, end func(record.Event) bool) float64 {
	return perToken(r.lastOf(end)-r.firstOf(withChoices), r.tokens())
}

// sglang.bench_serving with the back end sglang-oai-chat.
var sglangRules = peerRules{
	peer: SGLang,
	source: "sgl-project/sglang, python/sglang/benchmark: serving.py at 00f9ec4 (stamps), metrics.py at 1291c7f (formulas); " +
		"reasoning counts since pull request 23954",
	why: "ends with the last line, end mark included; TPOT has the wait for it; takes the tokens asked for as the tokens sent where there is no usage; does not see a tool call's arguments or audio",
	figures: []figureRule{
		{
			name: "ttft", metric: TTFT, of: sglangTTFT,
			note: "first event with text, reasoning included, a tool call's arguments not; of an answer in one piece, its latency",
		},
		{
			name: "e2e_latency", metric: Latency, of: sglangLatency,
			note: "last line of the stream, be it the end mark",
		},
		{
			name: "tpot", metric: TPOT, of: func(r stamps) float64 {
				return perToken(sglangLatency(r)-sglangTTFT(r), r.usageOr(r.AskedTokens))
			},
			note: "(e2e_latency - ttft) / (tokens - 1): with the wait from the last token to the end; without usage the tokens are those asked for",
		},
		{
			name: "itl", metric: ITL, gaps: stamps.seenGaps,
			note: "gaps between events with text, pooled, over a tool call's arguments; under speculative decoding it divides them by the tokens of each event",
		},
	},
}

func sglangTTFT(r stamps) float64 {
	if !r.streamed() {
		return r.done()
	}
	return r.firstText()
}

func sglangLatency(r stamps) float64 {
	if !r.streamed() {
		return r.done()
	}
	return r.lastOf(func(record.Event) bool { return true })
}

// genai-bench reads streams only.
var genAIBenchRules = peerRules{
	peer: GenAIBench,
	source: "sgl-project/genai-bench, genai_bench: user/openai_user.py at 0aadae2 (stamps), metrics/request_metrics_collector.py at 007ac4d (formulas), " +
		"metrics/aggregated_metrics_collector.py at 00e863a",
	why:  "ends with the usage event; TPOT has the wait for it; no gaps between tokens; leaves out answers of more than 1000 tokens a second; does not see a tool call's arguments or audio",
	drop: func(r stamps) bool { return genAIBenchTPOT(r) < perSecond/1000 },
	figures: []figureRule{
		{
			name: "ttft", metric: TTFT, of: stamps.firstText,
			note: "first event with text, reasoning included, a tool call's arguments not",
		},
		{
			name: "e2e_latency", metric: Latency, of: stamps.usageEnd,
			note: "usage event after the finish reason, or the event that has both; else the end mark",
		},
		{
			name: "tpot", metric: TPOT, of: genAIBenchTPOT,
			note: "(e2e_latency - ttft) / (tokens - 1): with the wait from the last token to usage",
		},
	},
}

func genAIBenchTPOT(r stamps) float64 { return perToken(r.usageEnd()-r.firstText(), r.tokens()) }
