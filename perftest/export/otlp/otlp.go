// Package otlp sends a run's figures as OpenTelemetry metrics over OTLP
// (protobuf over HTTP), under the names of the GenAI semantic conventions 1.41:
//
//	gen_ai.client.operation.duration             s, of all requests; those that failed have an error.type
//	gen_ai.client.token.usage                    tokens, input and output, as the server counts
//	gen_ai.client.operation.time_to_first_chunk  s: TTFT, the first event with output
//	gen_ai.server.time_to_first_token            s: the same, under the name that dashboards know
//	gen_ai.server.time_per_output_token          s: TPOT
//
// They are histograms over the measured requests of a run, with the
// conventions' attributes and slogate.scenario, slogate.simulated.
//
//	exporter := otlp.Start(t, otlp.Config{URL: "http://collector:4318/v1/metrics"})
//	perftest.Run(t, perftest.Scenario{Observers: []perftest.Observer{exporter}, …})
//
// It is built on OpenTelemetry's own SDK and exporter.
package otlp

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"

	"github.com/slogate/slogate/internal/export"
	"github.com/slogate/slogate/perftest"
)

// Config says where the metrics go.
type Config struct {
	// URL takes OTLP over HTTP, such as "http://collector:4318/v1/metrics".
	// A name and password, a query and a fragment are refused.
	URL string
	// Headers are sent along, such as Authorization. Their values are secrets.
	Headers perftest.Headers
	// Interval between two sendings while the run goes on; 0 means 10 s. The
	// last one is at the end of the run.
	Interval time.Duration
	// Provider is the gen_ai.provider.name; empty means "anthropic" or "ollama"
	// with their APIs, else "openai", whose API most servers speak.
	Provider string
}

// Exporter is a [perftest.Observer] of one run, or of several.
type Exporter struct {
	cfg    Config
	client *http.Client
	to     *otlpmetrichttp.Exporter
	reader *sdk.ManualReader

	duration  genaiconv.ClientOperationDuration
	usage     genaiconv.ClientTokenUsage
	chunk     genaiconv.ClientOperationTimeToFirstChunk
	first     genaiconv.ServerTimeToFirstToken
	perOutput genaiconv.ServerTimePerOutputToken

	mu      sync.Mutex
	next    time.Time // of the next sending
	warning string
}

// Start makes an exporter, which ends with the test. A Config that cannot be is
// a fatal error of the test.
func Start(t testing.TB, cfg Config) *Exporter {
	t.Helper()
	e, err := open(cfg)
	if err != nil {
		t.Fatalf("otlp: %v", err)
	}
	t.Cleanup(e.close)
	return e
}

func open(cfg Config) (*Exporter, error) {
	if err := cmp.Or(export.CheckURL("Config.URL", cfg.URL), export.CheckNoUser("Config.URL", cfg.URL), export.CheckHeaders("Config.Headers", cfg.Headers)); err != nil {
		return nil, err
	}
	if cfg.Interval < 0 {
		return nil, fmt.Errorf("Config.Interval is %v: set it to 0 (10s) or more", cfg.Interval)
	}
	cfg.Interval = cmp.Or(cfg.Interval, 10*time.Second)
	e := &Exporter{cfg: cfg, client: export.Client(cfg.Headers), reader: sdk.NewManualReader(), next: time.Now().Add(cfg.Interval)}
	var err error
	// What is tried again would come from an exporter that the run has left.
	e.to, err = otlpmetrichttp.New(context.Background(), otlpmetrichttp.WithEndpointURL(cfg.URL), otlpmetrichttp.WithHTTPClient(e.client),
		otlpmetrichttp.WithRetry(otlpmetrichttp.RetryConfig{}), otlpmetrichttp.WithTimeout(export.Patience))
	if err != nil {
		return nil, fmt.Errorf("Config.URL is %q: it cannot be sent to: set another", export.Shown(cfg.URL))
	}
	provider := sdk.NewMeterProvider(sdk.WithReader(e.reader), sdk.WithResource(resource.NewSchemaless(attribute.String("service.name", "slogate"))))
	return e, e.instruments(provider.Meter("github.com/slogate/slogate"))
}

// tokenBounds are those that the conventions advise for token counts.
var tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}

func (e *Exporter) instruments(m metric.Meter) error {
	var errs [5]error
	e.duration, errs[0] = genaiconv.NewClientOperationDuration(m, metric.WithExplicitBucketBoundaries(export.LatencyBounds...))
	e.usage, errs[1] = genaiconv.NewClientTokenUsage(m, metric.WithExplicitBucketBoundaries(tokenBounds...))
	e.chunk, errs[2] = genaiconv.NewClientOperationTimeToFirstChunk(m, metric.WithExplicitBucketBoundaries(export.FirstTokenBounds...))
	e.first, errs[3] = genaiconv.NewServerTimeToFirstToken(m, metric.WithExplicitBucketBoundaries(export.FirstTokenBounds...))
	e.perOutput, errs[4] = genaiconv.NewServerTimePerOutputToken(m, metric.WithExplicitBucketBoundaries(export.TokenBounds...))
	return cmp.Or(errs[:]...)
}

func (e *Exporter) close() {
	ctx, cancel := context.WithTimeout(context.Background(), export.Patience)
	defer cancel()
	_ = e.reader.Shutdown(ctx)
	_ = e.to.Shutdown(ctx)
	e.client.CloseIdleConnections()
}

// Observe implements [perftest.Observer].
func (e *Exporter) Observe(s perftest.Snapshot) {
	attrs := attributes(&s.Run)
	operation := genaiconv.OperationNameAttr(operationOf(s.Run.Target.API))
	provider := genaiconv.ProviderNameAttr(cmp.Or(e.cfg.Provider, providerOf(s.Run.Target.API)))
	ctx := context.Background()
	for i := range s.Finished {
		f := &s.Finished[i]
		if f.Part != "measured" {
			continue
		}
		if took := float64(f.Done - f.Sent); took >= 0 && f.OK() {
			e.duration.Record(ctx, took, operation, provider, attrs...)
		} else if took >= 0 {
			e.duration.Record(ctx, took, operation, provider, append(attrs[:len(attrs):len(attrs)], attribute.String("error.type", f.Class))...)
		}
		if !f.OK() {
			continue
		}
		if f.TTFT.Known() {
			e.chunk.Record(ctx, float64(f.TTFT), operation, provider, attrs...)
			e.first.Record(ctx, float64(f.TTFT), operation, provider, attrs...)
		}
		if f.TPOT.Known() {
			e.perOutput.Record(ctx, float64(f.TPOT), operation, provider, attrs...)
		}
		if f.InputTokens.Known() {
			e.usage.Record(ctx, int64(f.InputTokens), operation, provider, genaiconv.TokenTypeInput, attrs...)
		}
		if f.OutputTokens.Known() {
			e.usage.Record(ctx, int64(f.OutputTokens), operation, provider, genaiconv.TokenTypeOutput, attrs...)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if now := time.Now(); s.Last || e.warning == "" && now.After(e.next) {
		e.next = now.Add(e.cfg.Interval)
		e.send()
	}
}

// send sends what there is so far. When it has failed once, only the end of
// the run tries again.
func (e *Exporter) send() {
	ctx, cancel := context.WithTimeout(context.Background(), export.Patience)
	defer cancel()
	var all metricdata.ResourceMetrics
	err := e.reader.Collect(ctx, &all)
	if err == nil {
		err = e.to.Export(ctx, &all)
	}
	switch e.warning = ""; {
	case err == nil:
	case strings.Contains(err.Error(), "OTLP partial success"): // the exporter's own error has no type
		e.warning = fmt.Sprintf("%s took the metrics in part", export.Shown(e.cfg.URL))
	default:
		e.warning = fmt.Sprintf("the metrics for %s were not taken: %s", export.Shown(e.cfg.URL), export.Why(err))
	}
}

// Warning implements [perftest.Warner].
func (e *Exporter) Warning() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.warning
	e.warning = ""
	return text
}

func attributes(r *perftest.ObservedRun) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.String("gen_ai.request.model", r.Target.Model),
		attribute.String("slogate.scenario", r.Name),
		attribute.Bool("slogate.simulated", r.Simulated),
	}
	if u, err := url.Parse(r.Target.URL); err == nil {
		attrs = append(attrs, attribute.String("server.address", u.Hostname()))
		if port, err := strconv.Atoi(u.Port()); err == nil {
			attrs = append(attrs, attribute.Int("server.port", port))
		}
	}
	return attrs
}

// operationOf is the conventions' name of what an API does.
func operationOf(api string) string {
	switch perftest.StandardAPI(api) {
	case perftest.Completions, perftest.OllamaGenerate, perftest.TGIGenerate:
		return string(genaiconv.OperationNameTextCompletion)
	case perftest.Embeddings:
		return string(genaiconv.OperationNameEmbeddings)
	case perftest.Rerank:
		return "rerank" // of which the conventions know nothing
	}
	return string(genaiconv.OperationNameChat)
}

func providerOf(api string) string {
	switch perftest.StandardAPI(api) {
	case perftest.AnthropicMessages:
		return string(genaiconv.ProviderNameAnthropic)
	case perftest.OllamaChat, perftest.OllamaGenerate:
		return "ollama"
	}
	return string(genaiconv.ProviderNameOpenAI)
}
