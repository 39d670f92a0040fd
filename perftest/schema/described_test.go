package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/slogate/slogate/perftest/schema"
	"github.com/stretchr/testify/require"
)

// Every member of every schema says what it is.
func TestEveryMemberIsDescribed(t *testing.T) {
	for name, data := range map[string][]byte{"result": schema.Result, "requests": schema.Requests, "server": schema.Server} {
		var all any
		require.NoError(t, json.Unmarshal(data, &all), name)
		var look func(at string, v any)
		look = func(at string, v any) {
			m, _ := v.(map[string]any)
			for k, one := range m {
				if k != "properties" {
					look(at+"/"+k, one)
					continue
				}
				for p, one := range one.(map[string]any) {
					if text, _ := one.(map[string]any)["description"].(string); text == "" {
						t.Errorf("%s of %s is not described: give its Go field a comment", p, at)
					}
					look(at+"/"+p, one)
				}
			}
		}
		look(name, all)
	}
}

// uncommented describes the fields that stand in the Go source under another's
// comment, or need none there.
var uncommented = map[string]string{
	"ClientLimits.JitterShare":                 "The largest share of the run that overshoots of a sleeping goroutine take together; 0.01.",
	"ClientLimits.SendLagShare":                "The largest p99 delay between a request's moment and its sending, as a part of the smallest limit on latency.",
	"ClientLimits.SlotGapShare":                "The largest share of the slots' time that they wait between an answer and the next request.",
	"Counts.cancelled":                         "Measured requests given up by the scenario.",
	"Counts.failed":                            "Measured requests that failed.",
	"Counts.padding":                           "Requests sent to keep the slots of a closed loop busy to the end of the last measured one; part of no figure.",
	"Counts.planned_input_tokens":              "Input tokens that the workload planned, over planned_served successes.",
	"Counts.resent":                            "Requests sent again on a fresh connection, because the server had closed the old one.",
	"Counts.sent":                              "Measured requests that were sent: succeeded + failed + cancelled.",
	"Counts.served_input_tokens":               "Input tokens that the server counted, over planned_served successes.",
	"Counts.start_failed":                      "Requests of the start burst that failed.",
	"Counts.succeeded":                         "Measured requests that succeeded.",
	"Counts.token_events":                      "Data events that carried output.",
	"Counts.token_events_coalesced":            "Token events that shared a socket read with the token event before.",
	"Counts.warmup_failed":                     "Requests of the warm-up that failed.",
	"Distribution.count":                       "The number of values.",
	"Distribution.max":                         "The largest value, in the metric's unit.",
	"Distribution.mean":                        "The mean, in the metric's unit.",
	"Distribution.min":                         "The smallest value, in the metric's unit.",
	"Distribution.percentiles":                 "Percentiles by the linear rule (type 7), in the metric's unit, under names such as p50 and p99.9.",
	"Environment.arch":                         "The client's processor architecture, as GOARCH.",
	"Environment.commit":                       "The commit of the module under test, where the build knows it.",
	"Environment.cpu":                          "The client's processor.",
	"Environment.go":                           "The Go version of the client.",
	"Environment.os":                           "The client's operating system, as GOOS.",
	"Environment.slogate":                      "The version of slogate.",
	"Failure.class":                            "The failure class: connect, status, timeout, reset, truncated, stream-error, malformed, empty, short or cancelled.",
	"Failure.count":                            "The number of requests.",
	"Failure.phase":                            "The phase in which they failed.",
	"Failure.status":                           "The HTTP status.",
	"Health.asked_concurrency":                 "Requests in flight that the load asked for.",
	"Health.asked_requests_per_s":              "The rate that the load asked for.",
	"Health.concurrency":                       "Mean requests in flight.",
	"Health.sent_requests_per_s":               "The rate at which requests were sent.",
	"Lag.max":                                  "The largest delay. Unit: seconds.",
	"Lag.p50":                                  "The median delay, by the nearest rank. Unit: seconds.",
	"Lag.p99":                                  "The 99th percentile of the delays, by the nearest rank. Unit: seconds.",
	"LoadInfo.duration_s":                      "The time after which no request starts; null when there is none.",
	"LoadInfo.requests":                        "The requests to send in all; 0 when time bounds the load.",
	"LoadInfo.requests_per_s":                  "The rate of an open loop; null for any other.",
	"LoadInfo.shard_count":                     "The number of shards that the load is split into.",
	"LoadInfo.type":                            "The load's Go type.",
	"Metrics.events":                           "Data events of a request.",
	"Rates.input_tokens_per_s":                 "Input tokens of successes.",
	"Rates.mean_in_flight":                     "Mean number of requests in flight.",
	"Rates.output_tokens_per_s":                "Output tokens of successes.",
	"Rates.requests_per_s":                     "Successes.",
	"Rates.total_tokens_per_s":                 "Input and output tokens of successes.",
	"Rates.total_tokens_per_s_per_accelerator": "Input and output tokens of successes, per accelerator and second.",
	"Result.counts":                            "Numbers of requests.",
	"Result.duration_s":                        "The whole run, with warm-up.",
	"Result.ended":                             "How the run ended.",
	"Result.environment":                       "The client's machine and build.",
	"Result.failures":                          "Failed and cancelled requests, by class, phase and status.",
	"Result.metrics":                           "Distributions over the successful measured requests.",
	"Result.package":                           "Import path of the test's package.",
	"Result.rates":                             "Rates over the measured requests.",
	"Result.scenario":                          "The scenario as it ran.",
	"Result.schema":                            "What the file is.",
	"Result.steady":                            "The rates while all slots were busy.",
	"Result.target":                            "The server, without secrets.",
	"Result.test":                              "The name of the test that ran the scenario.",
	"Result.verdicts":                          "The judgements of the test's objectives.",
	"Result.version":                           "The version of the format: members are only added within one.",
	"SLO.metric":                               "The metric that the objective is about.",
	"SLO.op":                                   "The comparison: <, <=, >= or >.",
	"SLO.stat":                                 "The figure of the distribution: mean, max, a percentile such as p99; min and last for the server's own metrics.",
	"ScenarioInfo.load":                        "The load as it was asked.",
	"ScenarioInfo.seed":                        "The seed of what is random.",
	"ScenarioInfo.short_is_failure":            "Whether an answer with fewer tokens than asked is a failure.",
	"ScenarioInfo.timeouts":                    "The time-outs, with their defaults filled in.",
	"ScenarioInfo.warmup_concurrency":          "Requests in flight during the warm-up; 0 without one.",
	"ScenarioInfo.warmup_duration_s":           "The time after which no request of the warm-up starts; null without such a limit.",
	"ScenarioInfo.warmup_requests":             "Requests of the warm-up; 0 when there is none, or time bounds it.",
	"ScenarioInfo.workload":                    "The workload's fields; null where they are too large.",
	"ScenarioInfo.workload_type":               "The workload's Go type.",
	"ServerFigures.counter":                    "Whether the numbers only grow.",
	"ServerFigures.last":                       "The last value; of a counter, its increase over the whole load.",
	"ServerFigures.max":                        "The largest value.",
	"ServerFigures.mean":                       "The mean value.",
	"ServerFigures.min":                        "The smallest value.",
	"ServerFigures.name":                       "The metric's name at the server.",
	"ServerFigures.scrapes":                    "The scrapes during the load that had it.",
	"ServerInfo.failed_scrapes":                "Scrapes without a usable answer.",
	"ServerInfo.interval_s":                    "Time between scrapes.",
	"Steady.output_tokens_per_s":               "Output tokens of successes.",
	"Steady.requests_per_s":                    "Successes.",
	"Steady.total_tokens_per_s":                "Input and output tokens of successes.",
	"Steady.window_s":                          "Length of the part in which all slots were busy.",
	"TargetInfo.accelerators":                  "Accelerators that serve the model; 0 means unknown.",
	"TargetInfo.api":                           "How the server was spoken to, such as chat.",
	"TargetInfo.headers":                       "Names of the headers that were sent.",
	"TargetInfo.model":                         "The model asked for.",
	"TargetInfo.no_stream":                     "Whether answers came in one piece.",
	"TimeoutsInfo.between_tokens_s":            "The longest gap between token events.",
	"TimeoutsInfo.connect_s":                   "The longest time to connect.",
	"TimeoutsInfo.first_token_s":               "The longest wait for the first token.",
	"TimeoutsInfo.total_s":                     "The longest time of a whole request.",
	"TokenCheck.differ":                        "Requests of which the two count differently.",
	"TokenCheck.tokenizer_tokens":              "What the scenario's tokenizer counted.",
	"TokenizerInfo.input":                      "Of the input.",
	"TokenizerInfo.output":                     "Of the output.",
	"Verdict.allowed":                          "How many of samples may miss the limit.",
	"Verdict.outcome":                          "PASS, FAIL or INVALID. Only PASS is green.",
	"Verdict.slo":                              "The objective.",
}
