package perftest

import "math"

// allPeers are the rules of each peer, in the order of the constants.
var allPeers = [...]peerRules{
	evalScopeRules, aiPerfRules, guideLLMRules, vllmRules, sglangRules, genAIBenchRules, inferencePerfRules,
}

// rulesOf are p's rules, nil for a peer that is not known.
func rulesOf(p Peer) *peerRules {
	for i := range allPeers {
		if allPeers[i].peer == p {
			return &allPeers[i]
		}
	}
	return nil
}

// EvalScope, up to version 1.11.0; later ones take the nearest rank.
var evalScopeRules = peerRules{
	peer: EvalScope,
	source: "modelscope/evalscope, up to 1.11.0: evalscope/perf/plugin/api/default_api.py at 3f081eb (stamps), " +
		"perf/utils/benchmark_util.py at 07dc32f (formulas), perf/utils/db_util.py (percentiles)",
	why:        "first event with choices, be it a role without text; ends with the usage event; gaps of all events with choices; p99 is sorted[n*99/100]",
	percentile: ruleFloorIndex,
	figures: []figureRule{
		{
			name: "TTFT", metric: TTFT, of: evalScopeTTFT,
			note: "first event with choices, also a role-only or empty one; of an answer in one piece, its latency",
		},
		{
			name: "Latency", metric: Latency, of: evalScopeLatency,
			note: "last event with JSON, usage included",
		},
		{
			name: "TPOT", metric: TPOT, of: evalScopeTPOT,
			note: "(latency - TTFT) / (tokens - 1): with the wait from the role to the first token, and that from the last token to usage; 0 for answers of one token",
		},
		{
			name: "ITL", metric: ITL, gaps: stamps.choiceGaps,
			note: "events with choices after the first, pooled: with that from the role to the first token and that to the finish reason",
		},
	},
}

func evalScopeTTFT(r stamps) float64 {
	if !r.streamed() {
		return r.done()
	}
	return r.firstOf(withChoices)
}

func evalScopeLatency(r stamps) float64 {
	if !r.streamed() {
		return r.done()
	}
	return r.lastOf(withJSON)
}

func evalScopeTPOT(r stamps) float64 {
	if r.tokens() <= 1 {
		return 0
	}
	return perToken(evalScopeLatency(r)-evalScopeTTFT(r), r.tokens())
}

// AIPerf.
var aiPerfRules = peerRules{
	peer: AIPerf,
	source: "ai-dynamo/aiperf, src/aiperf/metrics/types: ttft_metric.py and inter_chunk_latency_metric.py at 58028d5, " +
		"request_latency_metric.py at 4f7ccff, inter_token_latency_metric.py at 58dd5de, time_to_first_output_token_metric.py at 0b75810",
	why: "as here, but the answer ends with its last token; what is TPOT here is called ITL, and ITL here ICL",
	figures: []figureRule{
		{
			name: "Time to First Token", metric: TTFT, of: stamps.firstToken,
			note: "first event with output, reasoning included",
		},
		{
			name: "Request Latency", metric: Latency, of: stamps.lastToken,
			note: "last event with output: without finish reason, usage and end mark",
		},
		{
			name: "Inter Token Latency", metric: TPOT, of: aiPerfITL,
			note: "(latency - TTFT) / (tokens - 1), a value a request; the tokens are those of its own tokenizer unless told to take the server's",
		},
		{
			name: "Inter Chunk Latency", metric: ITL, gaps: stamps.tokenGaps,
			note: "gaps between events with output, pooled",
		},
		{
			name: "Time to Second Token", metric: TTST, of: func(r stamps) float64 { return r.after(r.SecondToken) - r.firstToken() },
			note: "second event with output - first",
		},
		{
			name: "Time to First Output Token", metric: TTFA, of: stamps.firstAnswer,
			note: "first event with output that is not reasoning",
		},
	},
}

func aiPerfITL(r stamps) float64 { return perToken(r.lastToken()-r.firstToken(), r.tokens()) }

// GuideLLM. Where it has no value it counts a 0.
var guideLLMRules = peerRules{
	peer: GuideLLM,
	source: "vllm-project/guidellm, src/guidellm: schemas/request_stats.py and benchmark/schemas/generative/metrics.py at 06cef29 (formulas, weights), " +
		"schemas/statistics.py at 03820eb (percentiles), backends/openai/http.py at 03358ed (stamps); reasoning counts since pull request 742",
	why:        "TPOT is the time to the last token over all tokens, TTFT inside; ITL is a mean a request, weighted by tokens - 1; percentiles are samples, never between two",
	percentile: ruleInverseCDF,
	figures: []figureRule{
		{
			name: "time_to_first_token_ms", metric: TTFT, of: func(r stamps) float64 { return zeroIfNone(r.firstToken()) },
			note: "first event with output, reasoning included; 0 for an answer in one piece",
		},
		{
			name: "request_latency", metric: Latency, of: stamps.done,
			note: "end mark of the answer, as here",
		},
		{
			name: "time_per_output_token_ms", metric: TPOT, of: guideLLMTPOT, weight: guideLLMTokens,
			note: "(last token - sent) / tokens: TTFT is in it; weighted by tokens",
		},
		{
			name: "inter_token_latency_ms", metric: ITL, of: guideLLMITL, weight: func(r stamps) float64 { return guideLLMTokens(r) - 1 },
			note: "(last token - first) / (tokens - 1), the formula of TPOT here: a mean a request, weighted by tokens - 1, so that a stall shows only in part",
		},
		{
			name: "time_to_first_output_token_ms", metric: TTFA, of: func(r stamps) float64 { return zeroIfNone(r.firstAnswer()) },
			note: "first event with output that is not reasoning; 0 without one",
		},
	},
}

// guideLLMTokens takes each event with output for a token where the server
// does not count.
func guideLLMTokens(r stamps) float64 {
	if !r.streamed() {
		return r.usageOr(0)
	}
	return r.usageOr(r.TokenEvents)
}

func guideLLMTPOT(r stamps) float64 { return r.lastToken() / guideLLMTokens(r) }

func guideLLMITL(r stamps) float64 {
	return zeroIfNone(perToken(r.lastToken()-r.firstToken(), guideLLMTokens(r)))
}

func zeroIfNone(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}

// inference-perf counts the tokens of an answer's text with its own tokenizer.
// No text is stored, so that the server's count of each event stands in where
// there is one, else a token an event.
var inferencePerfRules = peerRules{
	peer: InferencePerf,
	source: "kubernetes-sigs/inference-perf: inference_perf/reportgen/base.py at 010d12f (formulas), " +
		"inference_perf/apis/streaming_parser.py at 35d21d6 (stamps); issue 559 (reasoning is not seen)",
	why: "reasoning, a tool call's arguments and audio do not exist for it: first and last text, tokens of the text counted anew; ends with the body, after the end mark",
	figures: []figureRule{
		{
			name: "time_to_first_token", metric: TTFT, of: func(r stamps) float64 { return r.textSpan().first },
			note: "first event with text that is not reasoning, nor a tool call's arguments; none for an answer of one token",
		},
		{
			name: "request_latency", metric: Latency, of: stamps.bodyEnd,
			note: "end of the body, which may come after the end mark",
		},
		{
			name: "time_per_output_token", metric: TPOT, of: func(r stamps) float64 { s := r.textSpan(); return perToken(s.last-s.first, s.tokens) },
			note: "(last text - first) / (tokens of the text - 1)",
		},
		{
			name: "inter_token_latency", metric: ITL, gaps: stamps.textGaps,
			note: "gaps between tokens of the text, pooled; tokens of one event are 0 apart",
		},
		{
			name: "time_per_output_token (use_server_output_tokens)", metric: TPOT,
			of:   func(r stamps) float64 { s := r.textSpan(); return perToken(s.last-s.first, r.usageOr(int(s.tokens))) },
			note: "(last text - first) / (tokens by usage - 1): the tokens include reasoning, the time does not",
		},
		{
			name: "normalized_time_per_output_token", metric: TPOT, of: func(r stamps) float64 { return r.bodyEnd() / r.textSpan().tokens },
			note: "latency / tokens of the text: TTFT and reasoning are in the time",
		},
	},
}
