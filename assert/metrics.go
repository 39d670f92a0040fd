package assert

import "github.com/slogate/slogate/perftest"

// TTFT is the time to first token: from sending the request to the first event
// that carries output of any sort, reasoning included.
func TTFT(stat perftest.Stat) Time { return Time{perftest.TTFT, stat} }

// TTFA is the time to first answer: from sending the request to the first
// output that is not reasoning.
func TTFA(stat perftest.Stat) Time { return Time{perftest.TTFA, stat} }

// TTST is the time from the first to the second token event.
func TTST(stat perftest.Stat) Time { return Time{perftest.TTST, stat} }

// TPOT is the time per output token after the first, one value a request. An
// answer of one token has none and is left out.
func TPOT(stat perftest.Stat) Time { return Time{perftest.TPOT, stat} }

// ITL is the gap between successive token events, of all requests together.
func ITL(stat perftest.Stat) Time { return Time{perftest.ITL, stat} }

// ITLPerToken is the gap between successive token events divided by the tokens
// that the later one carries, one value a token: under speculative decoding an
// event carries several. It is known where the server says how many (logprobs,
// token ids, or usage in each event).
func ITLPerToken(stat perftest.Stat) Time { return Time{perftest.ITLPerToken, stat} }

// Latency is the time from sending the request to the end of its answer.
func Latency(stat perftest.Stat) Time { return Time{perftest.Latency, stat} }

// Response is the time from the moment at which the load wanted the request to
// start to the end of its answer: what a user feels.
func Response(stat perftest.Stat) Time { return Time{perftest.Response, stat} }

// InputTokens are the tokens of a request's prompt, as the server counts them.
func InputTokens(stat perftest.Stat) Number {
	return Number{metric: perftest.InputTokens, stat: stat}
}

// OutputTokens are the tokens of a request's answer, as the server counts them.
func OutputTokens(stat perftest.Stat) Number {
	return Number{metric: perftest.OutputTokens, stat: stat}
}

// ErrorRate is the share of requests that failed, from 0 to 1.
func ErrorRate() Number { return Number{metric: perftest.ErrorRate} }

// OutputRate is the output tokens of the successes a second, over the run.
func OutputRate() Number { return Number{metric: perftest.OutputRate} }

// TotalRate is the input and output tokens of the successes a second.
func TotalRate() Number { return Number{metric: perftest.TotalRate} }

// RequestRate is the number of successes a second.
func RequestRate() Number { return Number{metric: perftest.RequestRate} }

// Goodput is the share of all requests, from 0 to 1, that succeed within every
// given limit. A request that the load's Cancel or Drain has given up is not
// good when it was over a limit by then; see [perftest.Drain].
func Goodput(limits perftest.Limits) Number {
	return Number{metric: perftest.Goodput, limits: limits}
}

// GoodputRate is the number of requests a second that succeed within every
// given limit. As of every rate, cancelled ones are no part of it.
func GoodputRate(limits perftest.Limits) Number {
	return Number{metric: perftest.GoodputRate, limits: limits}
}
