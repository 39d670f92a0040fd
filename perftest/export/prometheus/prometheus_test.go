package prometheus

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/export/internal/exporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// check holds the figures of an exporttest.Run against families.
func check(t *testing.T, families map[string]*dto.MetricFamily) {
	t.Helper()
	class := map[string]float64{}
	for _, m := range families["slogate_requests_total"].Metric {
		for _, l := range m.Label {
			if l.GetName() == "class" {
				class[l.GetValue()] = m.Counter.GetValue()
			}
		}
	}
	require.Equal(t, map[string]float64{"ok": 9, "status": 1}, class)
	require.Equal(t, 36., families["slogate_output_tokens_total"].Metric[0].Counter.GetValue())
	require.Equal(t, 0., families["slogate_missed_requests_total"].Metric[0].Counter.GetValue())
	require.Equal(t, 0., families["slogate_requests_in_flight"].Metric[0].Gauge.GetValue())
	ttft := families["slogate_time_to_first_token_seconds"].Metric[0].Histogram
	require.Equal(t, uint64(9), ttft.GetSampleCount())
	require.GreaterOrEqual(t, ttft.GetSampleSum(), 9*0.005)
	require.Equal(t, uint64(9), families["slogate_time_per_output_token_seconds"].Metric[0].Histogram.GetSampleCount())
	require.Equal(t, uint64(9), families["slogate_request_latency_seconds"].Metric[0].Histogram.GetSampleCount())
}

func parse(t *testing.T, text io.Reader) map[string]*dto.MetricFamily {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(text)
	require.NoError(t, err)
	return families
}

func TestScrape(t *testing.T) {
	e := Start(t, Config{Addr: "127.0.0.1:0"})
	res := exporttest.Run(t, e)
	exporttest.WarnsNot(t, res)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Get(e.URL())
	require.NoError(t, err)
	defer resp.Body.Close()
	families := parse(t, resp.Body)
	check(t, families)
	labels := map[string]string{}
	for _, l := range families["slogate_requests_in_flight"].Metric[0].Label {
		labels[l.GetName()] = l.GetValue()
	}
	require.Equal(t, map[string]string{"scenario": "export", "model": "simulated", "simulated": "true"}, labels)
}

func TestPush(t *testing.T) {
	var mu sync.Mutex
	var got []map[string]*dto.MetricFamily
	var path, key string
	url := exporttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		all := map[string]*dto.MetricFamily{}
		d := expfmt.NewDecoder(r.Body, expfmt.ResponseFormat(r.Header))
		for {
			var f dto.MetricFamily
			if d.Decode(&f) != nil {
				break
			}
			all[f.GetName()] = &f
		}
		got, path, key = append(got, all), r.URL.Path, r.Header.Get("Authorization")
	})
	res := exporttest.Run(t, Start(t, Config{PushURL: url, Job: "nightly", Headers: perftest.Headers{"Authorization": "Bearer k"}}))
	exporttest.WarnsNot(t, res)
	require.Len(t, got, 1)
	check(t, got[0])
	require.Equal(t, "/metrics/job/nightly/test/TestPush", path, "each test has a group of its own, that the next one leaves")
	require.Equal(t, "Bearer k", key)
}

// A name and password in the address are sent, and give way to the header.
func TestPushWithPassword(t *testing.T) {
	var mu sync.Mutex
	var got []string
	url := exporttest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.URL.Path+" "+r.Header.Get("Authorization"))
	})
	url = strings.Replace(url, "http://", "http://user:pass@", 1) + "/behind/"
	exporttest.Run(t, Start(t, Config{PushURL: url}))
	exporttest.Run(t, Start(t, Config{PushURL: url, Headers: perftest.Headers{"Authorization": "Bearer k"}}))
	require.Equal(t, []string{
		"/behind/metrics/job/slogate/test/TestPushWithPassword Basic dXNlcjpwYXNz", // base64 of user:pass
		"/behind/metrics/job/slogate/test/TestPushWithPassword Bearer k",
	}, got)
}

func TestPushFails(t *testing.T) {
	hung := Start(t, Config{PushURL: exporttest.Hung(t)})
	exporttest.Hurry(t, hung.client)
	exporttest.WarnsOnce(t, hung, "failed: no answer in time")
	exporttest.WarnsOnce(t, Start(t, Config{PushURL: exporttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "hidden "+strings.Repeat("\x1b[31m", 1000), http.StatusForbidden)
	})}), "failed: status 403")
	exporttest.WarnsOnce(t, Start(t, Config{PushURL: "http://user:hidden@127.0.0.1:1/x"}), "the push to http://127.0.0.1:1/x failed: dial: connect: connection refused")
}

func TestRefused(t *testing.T) {
	for want, cfg := range map[string]Config{
		`Config.PushURL is "gateway:9091"`: {PushURL: "gateway:9091"},
		`Config.PushURL is "[redacted]"`:   {PushURL: "user:hidden@gateway:9091"},
		`Config.PushURL is "http://gateway/x" with a query ([redacted]), which would not be sent: remove what follows the "?"`: {PushURL: "http://user:hidden@gateway/x?token=hidden"},
		`Config.PushURL is "http://gateway/x" with a fragment, which would not be sent`:                                        {PushURL: "http://gateway/x#hidden"},
		`Config.Headers[A] is [redacted]`:    {PushURL: "http://a", Headers: perftest.Headers{"A": "\n"}},
		`Config.Addr is "127.0.0.1:notport"`: {Addr: "127.0.0.1:notport"},
	} {
		_, err := open(cfg, "T")
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
}

func TestNotInCore(t *testing.T) {
	exporttest.NotInCore(t, "prometheus", "protobuf", "export")
}
