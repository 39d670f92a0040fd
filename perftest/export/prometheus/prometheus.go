// Package prometheus shows a run's figures to Prometheus: at an endpoint to
// scrape while the run goes on, and by a push to a Pushgateway at its end.
//
//	exporter := prometheus.Start(t, prometheus.Config{Addr: "127.0.0.1:9464"})
//	perftest.Run(t, perftest.Scenario{Observers: []perftest.Observer{exporter}, …})
//
// The metrics, over the measured requests, with the labels scenario, model and
// simulated:
//
//	slogate_requests_total             by class: "ok", or the failure class
//	slogate_requests_in_flight         at the last look, once a second
//	slogate_time_to_first_token_seconds, slogate_time_per_output_token_seconds,
//	slogate_request_latency_seconds    histograms, of successes
//	slogate_input_tokens_total, slogate_output_tokens_total  of successes, as the server counts
//	slogate_missed_requests_total      that ended while the exporter was too slow
//
// It is built on prometheus/client_golang, the format's own library.
package prometheus

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/push"

	"github.com/slogate/slogate/internal/export"
	"github.com/slogate/slogate/perftest"
)

// Config says where the figures go.
type Config struct {
	// Addr is the address at which /metrics is served, such as
	// "127.0.0.1:9464"; port 0 is a free one. Empty serves none.
	Addr string
	// PushURL is a Pushgateway's address, to which the figures are pushed at
	// the end of a run, in place of those before in the same group: the labels
	// job and test, which is the name of the test that started the exporter.
	// A name and password in it are sent as basic authorization; a query or a
	// fragment is refused. Empty pushes nothing.
	PushURL string
	// Job of the group; empty means "slogate".
	Job string
	// Headers of a push, such as Authorization, which wins over a name and
	// password in PushURL. Their values are secrets.
	Headers perftest.Headers
}

// Exporter is a [perftest.Observer] of one run, or of several.
type Exporter struct {
	registry *prometheus.Registry
	server   *http.Server
	addr     string // that it listens on
	pusher   *push.Pusher
	client   *http.Client
	shown    string // where it pushes to

	requests, inputs, outputs, missed *prometheus.CounterVec
	inFlight                          *prometheus.GaugeVec
	ttft, tpot, latency               *prometheus.HistogramVec

	mu       sync.Mutex
	missedOf map[string]int // by run, those that are counted
	warning  string
}

// Start makes an exporter, which serves until the test ends. A Config that
// cannot be is a fatal error of the test.
func Start(t testing.TB, cfg Config) *Exporter {
	t.Helper()
	e, err := open(cfg, t.Name())
	if err != nil {
		t.Fatalf("prometheus: %v", err)
	}
	t.Cleanup(e.close)
	return e
}

func open(cfg Config, test string) (*Exporter, error) {
	e := &Exporter{registry: prometheus.NewRegistry(), missedOf: map[string]int{}}
	labels := []string{"scenario", "model", "simulated"}
	e.requests = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "slogate_requests_total", Help: "Measured requests that have ended, by failure class."}, append(labels[:3:3], "class"))
	e.inputs = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "slogate_input_tokens_total", Help: "Input tokens of successes."}, labels)
	e.outputs = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "slogate_output_tokens_total", Help: "Output tokens of successes."}, labels)
	e.missed = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "slogate_missed_requests_total", Help: "Requests that are in no other figure here."}, labels)
	e.inFlight = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "slogate_requests_in_flight", Help: "Requests in flight."}, labels)
	histogram := func(name, help string, buckets []float64) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
		e.registry.MustRegister(h)
		return h
	}
	e.ttft = histogram("slogate_time_to_first_token_seconds", "Time to first token.", export.FirstTokenBounds)
	e.tpot = histogram("slogate_time_per_output_token_seconds", "Time per output token after the first.", export.TokenBounds)
	e.latency = histogram("slogate_request_latency_seconds", "Time from sending to the end of the answer.", export.LatencyBounds)
	e.registry.MustRegister(e.requests, e.inputs, e.outputs, e.missed, e.inFlight)
	if cfg.PushURL != "" {
		if err := cmp.Or(export.CheckURL("Config.PushURL", cfg.PushURL), export.CheckHeaders("Config.Headers", cfg.Headers)); err != nil {
			return nil, err
		}
		e.shown, e.client = export.Shown(cfg.PushURL), export.Client(cfg.Headers)
		e.pusher = push.New(cfg.PushURL, cmp.Or(cfg.Job, "slogate")).Grouping("test", strings.ToValidUTF8(test, "\ufffd")).Gatherer(e.registry).Client(e.client)
	}
	if cfg.Addr == "" {
		return e, nil
	}
	l, err := net.Listen("tcp", cfg.Addr)
	if err != nil {
		return nil, fmt.Errorf("Config.Addr is %q: it cannot be listened on (%w): set it to a free address such as 127.0.0.1:9464", cfg.Addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(e.registry, promhttp.HandlerOpts{}))
	e.server = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, WriteTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10}
	e.addr = l.Addr().String()
	go func() { _ = e.server.Serve(l) }()
	return e, nil
}

func (e *Exporter) close() {
	if e.server != nil {
		_ = e.server.Close()
	}
	if e.client != nil {
		e.client.CloseIdleConnections()
	}
}

// URL is that of the endpoint to scrape; empty when there is none.
func (e *Exporter) URL() string {
	if e.addr == "" {
		return ""
	}
	return "http://" + e.addr + "/metrics"
}

// Observe implements [perftest.Observer].
func (e *Exporter) Observe(s perftest.Snapshot) {
	labels := []string{s.Run.Name, s.Run.Target.Model, strconv.FormatBool(s.Run.Simulated)}
	for i := range s.Finished {
		e.request(labels, &s.Finished[i])
	}
	e.inFlight.WithLabelValues(labels...).Set(float64(s.Live.InFlight))
	e.count(labels, &s)
	if s.Last && e.pusher != nil {
		e.push()
	}
}

func (e *Exporter) request(labels []string, f *perftest.FinishedRequest) {
	if f.Part != "measured" {
		return
	}
	e.requests.WithLabelValues(append(labels[:3:3], cmp.Or(f.Class, "ok"))...).Inc()
	if !f.OK() {
		return
	}
	for _, m := range []struct {
		to    *prometheus.HistogramVec
		value perftest.Value
	}{{e.ttft, f.TTFT}, {e.tpot, f.TPOT}, {e.latency, f.Latency}} {
		if m.value.Known() {
			m.to.WithLabelValues(labels...).Observe(float64(m.value))
		}
	}
	for _, m := range []struct {
		to    *prometheus.CounterVec
		value perftest.Value
	}{{e.inputs, f.InputTokens}, {e.outputs, f.OutputTokens}} {
		if m.value.Known() {
			m.to.WithLabelValues(labels...).Add(float64(m.value))
		}
	}
}

// count adds what the run's exporter has missed since the last look.
func (e *Exporter) count(labels []string, s *perftest.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	run := s.Run.Name + s.Run.Started.String()
	e.missed.WithLabelValues(labels...).Add(float64(s.Missed - e.missedOf[run]))
	if e.missedOf[run] = s.Missed; s.Last {
		delete(e.missedOf, run)
	}
}

func (e *Exporter) push() {
	ctx, cancel := context.WithTimeout(context.Background(), export.Patience)
	defer cancel()
	if err := e.pusher.PushContext(ctx); err != nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.warning = fmt.Sprintf("the push to %s failed: %s", e.shown, export.Why(err))
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
