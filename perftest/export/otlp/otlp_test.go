package otlp

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/export/internal/exporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What was sent is read with the protocol's own messages.
func TestSend(t *testing.T) {
	var mu sync.Mutex
	var got []*v1.ExportMetricsServiceRequest
	url := exporttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		var m v1.ExportMetricsServiceRequest
		if proto.Unmarshal(body, &m) == nil && r.URL.Path == "/v1/metrics" && r.Header.Get("X-Key") == "k" {
			got = append(got, &m)
		}
	})
	res := exporttest.Run(t, Start(t, Config{URL: url + "/v1/metrics", Headers: perftest.Headers{"X-Key": "k"}, Provider: "vllm"}))
	exporttest.WarnsNot(t, res)
	require.Len(t, got, 1)
	counts, sums := map[string]uint64{}, map[string]float64{}
	var attrs map[string]string
	for _, m := range got[0].ResourceMetrics[0].ScopeMetrics[0].Metrics {
		h, ok := m.Data.(*metrics.Metric_Histogram)
		require.True(t, ok)
		for _, p := range h.Histogram.DataPoints {
			name, all := m.Name+" "+m.Unit, map[string]string{}
			for _, a := range p.Attributes {
				all[a.Key] = a.Value.GetStringValue()
			}
			for _, k := range []string{"error.type", "gen_ai.token.type"} {
				if all[k] != "" {
					name += " " + all[k]
				}
			}
			counts[name], sums[name], attrs = p.Count, p.GetSum(), all
		}
	}
	require.Equal(t, map[string]uint64{
		"gen_ai.client.operation.duration s": 9, "gen_ai.client.operation.duration s status": 1,
		"gen_ai.client.token.usage {token} input": 9, "gen_ai.client.token.usage {token} output": 9,
		"gen_ai.client.operation.time_to_first_chunk s": 9, "gen_ai.server.time_to_first_token s": 9, "gen_ai.server.time_per_output_token s": 9,
	}, counts)
	require.Equal(t, 36., sums["gen_ai.client.token.usage {token} output"])
	require.InDelta(t, 9*float64(res.Metrics.TTFT.Mean), sums["gen_ai.server.time_to_first_token s"], 1e-6)
	require.InDelta(t, 9*float64(res.Metrics.TPOT.Mean), sums["gen_ai.server.time_per_output_token s"], 1e-6)
	require.Equal(t, "chat", attrs["gen_ai.operation.name"])
	require.Equal(t, "vllm", attrs["gen_ai.provider.name"])
	require.Equal(t, "simulated", attrs["gen_ai.request.model"])
	require.Equal(t, "127.0.0.1", attrs["server.address"])
	require.Equal(t, "export", attrs["slogate.scenario"])
}

func TestSendFails(t *testing.T) {
	hung := Start(t, Config{URL: strings.Replace(exporttest.Hung(t), "user:hidden-password@", "", 1)})
	exporttest.Hurry(t, hung.client)
	exporttest.WarnsOnce(t, hung, "were not taken: no answer in time")
	exporttest.WarnsOnce(t, Start(t, Config{URL: exporttest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "hidden", http.StatusServiceUnavailable)
	})}), "were not taken: status 503")
	exporttest.WarnsOnce(t, Start(t, Config{URL: exporttest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-protobuf")
		_, _ = w.Write([]byte("\x0a\x0f\x08\x05\x12\x0bhidden\x1b[31m")) // five points rejected, and why
	})}), "took the metrics in part")
}

func TestRefused(t *testing.T) {
	for want, cfg := range map[string]Config{
		`Config.URL is ""`: {},
		`Config.URL is "http://a/v1" with a query ([redacted])`: {URL: "http://a/v1?key=hidden"},
		`Config.URL is "http://a/v1" with a name or password ([redacted]), which would not be sent: remove what stands before the "@", and set Headers["Authorization"]`: {URL: "http://user:hidden@a/v1"},
		`Config.Headers[A] is [redacted]`:   {URL: "http://a", Headers: perftest.Headers{"A": "\n"}},
		"Config.Interval is -1s: set it to": {URL: "http://a", Interval: -time.Second},
	} {
		_, err := open(cfg)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
}

func TestNames(t *testing.T) {
	for api, want := range map[perftest.StandardAPI][2]string{
		perftest.Chat: {"chat", "openai"}, perftest.Completions: {"text_completion", "openai"}, perftest.AnthropicMessages: {"chat", "anthropic"},
		perftest.OllamaGenerate: {"text_completion", "ollama"}, perftest.Embeddings: {"embeddings", "openai"}, perftest.Rerank: {"rerank", "openai"},
	} {
		require.Equal(t, want, [2]string{operationOf(string(api)), providerOf(string(api))})
	}
}

func TestNotInCore(t *testing.T) {
	exporttest.NotInCore(t, "opentelemetry", "protobuf", "grpc")
}
