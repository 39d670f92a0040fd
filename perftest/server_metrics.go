package perftest

import (
	"fmt"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
)

// ServerMetrics asks the server, while the load goes on, for its own metrics
// in Prometheus' text format: queue, running requests, KV cache, prefix cache,
// speculative decoding, preemptions. They go into [Result.Server] and
// server.jsonl, and [SLO.Series] can be held against them. Set it in
// [Scenario.ServerMetrics]; its zero value asks the target's /metrics once a
// second.
//
// A server that does not have them is told of before any load is sent (SGLang
// wants --enable-metrics, llama-server --metrics). One that stops answering
// during the run costs the measurement nothing: it is a finding among
// [Result.Warnings]. The load is all of it, also the ends of a closed loop that
// are kept out of other figures.
type ServerMetrics struct {
	// URL of the metrics; empty means "/metrics" on the target's host.
	URL string
	// Interval between two scrapes; 0 means 1 s, and the shortest is 100 ms.
	Interval time.Duration
	// Names of metrics to keep beside the known ones of vLLM, SGLang and
	// llama.cpp. A * stands for any characters: "vllm:*_seconds_sum".
	Names []string
	// Headers of each scrape; their values are secrets. Where the metrics are
	// on the target's host, its key and Headers are sent, too.
	Headers Headers
}

// knownName is a metric that is kept unasked.
type knownName struct {
	name     string
	quantity string // what it is, for people; the same for the servers' different names
	largest  bool   // of several engines the largest counts, not the sum
}

// The quantities that servers name differently.
const (
	serverRunning     = "running requests"
	serverWaiting     = "waiting requests"
	serverKVCache     = "KV cache in use" // 0 to 1
	serverPreempted   = "preemptions"
	serverCacheAsked  = "prefix cache queries" // tokens
	serverCacheHits   = "prefix cache hits"    // tokens
	serverCacheRate   = "prefix cache hit rate"
	serverDrafts      = "drafts"
	serverDrafted     = "draft tokens"
	serverAccepted    = "accepted draft tokens"
	serverAcceptRate  = "draft acceptance rate"
	serverAcceptLen   = "draft acceptance length"
	serverInput       = "input tokens"
	serverOutput      = "output tokens"
	serverBusySlots   = "busy slots per decode"
	serverFinished    = "finished requests"
	serverQueueTimes  = "queue time" // seconds
	serverQueueCounts = "queued requests"
)

// knownMetrics are, by server: vLLM's v1/metrics/loggers.py and
// v1/spec_decode/metrics.py (its counters get the suffix _total from the
// client library; the gpu_ ones are those before 0.9), SGLang's
// srt/metrics/collector.py, and llama.cpp's tools/server/server.cpp.
var knownMetrics = []knownName{
	{"vllm:num_requests_running", serverRunning, false},
	{"vllm:num_requests_waiting", serverWaiting, false},
	{"vllm:kv_cache_usage_perc", serverKVCache, true},
	{"vllm:gpu_cache_usage_perc", serverKVCache, true},
	{"vllm:num_preemptions_total", serverPreempted, false},
	{"vllm:prefix_cache_queries_total", serverCacheAsked, false},
	{"vllm:prefix_cache_hits_total", serverCacheHits, false},
	{"vllm:gpu_prefix_cache_queries_total", serverCacheAsked, false},
	{"vllm:gpu_prefix_cache_hits_total", serverCacheHits, false},
	{"vllm:spec_decode_num_drafts_total", serverDrafts, false},
	{"vllm:spec_decode_num_draft_tokens_total", serverDrafted, false},
	{"vllm:spec_decode_num_accepted_tokens_total", serverAccepted, false},
	{"vllm:prompt_tokens_total", serverInput, false},
	{"vllm:generation_tokens_total", serverOutput, false},
	{"vllm:request_success_total", serverFinished, false},
	{"vllm:request_queue_time_seconds_sum", serverQueueTimes, false},
	{"vllm:request_queue_time_seconds_count", serverQueueCounts, false},

	{"sglang:num_running_reqs", serverRunning, false},
	{"sglang:num_queue_reqs", serverWaiting, false},
	{"sglang:token_usage", serverKVCache, true},
	{"sglang:num_retracted_reqs", "retracted requests of the last batch", false},
	{"sglang:num_retracted_requests_total", serverPreempted, false},
	{"sglang:cache_hit_rate", serverCacheRate, true},
	{"sglang:cached_tokens_total", serverCacheHits, false},
	{"sglang:spec_accept_length", serverAcceptLen, true},
	{"sglang:spec_accept_rate", serverAcceptRate, true},
	{"sglang:prompt_tokens_total", serverInput, false},
	{"sglang:generation_tokens_total", serverOutput, false},
	{"sglang:num_requests_total", serverFinished, false},

	{"llamacpp:requests_processing", serverRunning, false},
	{"llamacpp:requests_deferred", serverWaiting, false},
	{"llamacpp:kv_cache_usage_ratio", serverKVCache, true},
	{"llamacpp:n_busy_slots_per_decode", serverBusySlots, true},
	{"llamacpp:prompt_tokens_total", serverInput, false},
	{"llamacpp:tokens_predicted_total", serverOutput, false},
}

// knownMetric is what is known of a name; nothing but its name of others.
// Shares and averages go by their endings there: they cannot be added up.
func knownMetric(name string) knownName {
	for _, k := range knownMetrics {
		if k.name == name {
			return k
		}
	}
	k := knownName{name: name}
	for _, end := range []string{"_perc", "_percent", "_ratio", "_rate", "_usage", "_length"} {
		k.largest = k.largest || strings.HasSuffix(name, end)
	}
	return k
}

// wanted reports whether a metric is kept.
func (m *ServerMetrics) wanted(name string) bool {
	for _, pattern := range m.Names {
		if ok, _ := path.Match(pattern, name); ok {
			return true
		}
	}
	return knownMetric(name).quantity != ""
}

// The bounds of an interval, and its default.
const (
	shortestScrape = 100 * time.Millisecond
	usualScrape    = time.Second
)

// check refuses what cannot be scraped, and fills in what is zero.
func (m ServerMetrics) check(target endpoint) (ServerMetrics, error) {
	switch {
	case m.Interval == 0:
		m.Interval = usualScrape
	case m.Interval < shortestScrape:
		return m, badField("ServerMetrics.Interval", m.Interval, "set it to 0 (1s) or to 100ms or more")
	}
	for i, pattern := range m.Names {
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" || strings.ContainsAny(pattern, "/[\\") {
			return m, badField(fmt.Sprintf("ServerMetrics.Names[%d]", i), fmt.Sprintf("%q", pattern), "set it to a metric's name, in which * stands for any characters")
		}
	}
	for k, v := range m.Headers {
		if !validHeaderName(k) {
			return m, badField("ServerMetrics.Headers", fmt.Sprintf("%q", k), "use a name of letters, digits and hyphens")
		}
		if strings.ContainsFunc(v, unicode.IsControl) {
			return m, badField("ServerMetrics.Headers["+k+"]", redacted, "it holds a control character or line break: remove it")
		}
	}
	if m.URL == "" {
		u, err := url.Parse(target.post)
		if err != nil {
			return m, badField("ServerMetrics.URL", `""`, "set it to the address of the metrics")
		}
		m.URL = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/metrics"}).String()
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return m, badField("ServerMetrics.URL", quoteURL(m.URL), `set it to an address with its scheme, such as "http://host:8000/metrics"`)
	}
	return m, nil
}

// secrets are the texts that no message or file may hold.
func (m ServerMetrics) secrets() []string {
	return Target{URL: m.URL, Headers: m.Headers}.secrets()
}

// sameHost reports whether the metrics are where the target is, so that its
// key may be shown there.
func (m ServerMetrics) sameHost(target endpoint) bool {
	a, errA := url.Parse(m.URL)
	b, errB := url.Parse(target.post)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}
