// Package mlflow logs a result to an MLflow tracking server, through its REST
// API 2.0, when the run has ended:
//
//	res := perftest.Run(t, …)
//	assert.SLOs(t, res, …)
//	mlflow.Log(t, res, mlflow.Config{URL: "http://mlflow:5000"})
//
// The run there has the figures of result.json as metrics (metrics/ttft_s/p99,
// rates/output_tokens_per_s, counts/failed, and server/… for the server's own),
// what was measured as parameters, and the verdict as a tag. It is FINISHED, or
// FAILED where the run was not whole or an objective was missed.
package mlflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/export"
	"github.com/slogate/slogate/perftest"
)

// Config says where a result goes.
type Config struct {
	// URL of the tracking server, such as "http://mlflow:5000". A query or
	// a fragment is refused.
	URL string
	// Experiment is its experiment's name, which is made where there is none;
	// empty means "slogate".
	Experiment string
	// Token is sent as a bearer token; empty sends none. A name and password
	// in the URL are sent as basic authorization.
	Token perftest.Secret
	// Headers are sent along. Their values are secrets.
	Headers perftest.Headers
	// Tags of the run, beside those that it has anyhow.
	Tags map[string]string
}

// TestingT is what Log needs of a test.
type TestingT interface {
	Helper()
	Logf(format string, args ...any)
	Errorf(format string, args ...any)
}

// patience bounds all requests of one result together.
const patience = 5 * time.Second

// The most that one request may log, by MLflow's REST API.
const (
	mostMetrics = 1000
	mostValue   = 500 // characters of a parameter, in the oldest servers
)

// Log logs res, and reports whether it is there. A server that does not take it
// within 5 s is no failure of the test: it is one logged line. A Config that
// cannot be is an error.
func Log(t TestingT, res *perftest.Result, cfg Config) bool {
	t.Helper()
	if res == nil {
		t.Errorf("mlflow: the result is nil: give it the result of perftest.Run")
		return false
	}
	headers := maps.Clone(cfg.Headers)
	if cfg.Token != "" {
		if headers == nil {
			headers = perftest.Headers{}
		}
		headers["Authorization"] = "Bearer " + string(cfg.Token)
	}
	if err := cmp.Or(export.CheckURL("Config.URL", cfg.URL), export.CheckHeaders("Config.Headers", headers)); err != nil {
		t.Errorf("mlflow: %v", err)
		return false
	}
	s := server{cfg: cfg, client: export.Client(headers)}
	defer s.client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.log(ctx, res); err != nil {
		t.Logf("WARNING: the result is not in MLflow at %s: %s", export.Shown(cfg.URL), export.Why(err))
		return false
	}
	return true
}

type server struct {
	cfg    Config
	client *http.Client
}

type pair struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

type number struct {
	Key       string  `json:"key"`
	Value     float64 `json:"value"`
	Timestamp int64   `json:"timestamp"` // milliseconds since 1970
	Step      int64   `json:"step"`
}

func (s *server) log(ctx context.Context, res *perftest.Result) (err error) {
	experiment, err := s.experiment(ctx)
	if err != nil {
		return err
	}
	ended := res.Started
	if res.Duration.Known() {
		ended = ended.Add(time.Duration(float64(res.Duration) * 1e9))
	}
	status, verdict := outcome(res)
	tags := []pair{{"slogate.verdict", verdict}, {"slogate.simulated", fmt.Sprint(res.Simulated)}, {"slogate.test", bounded(res.Test)}, {"slogate.package", bounded(res.Package)}}
	for _, k := range slices.Sorted(maps.Keys(s.cfg.Tags)) {
		tags = append(tags, pair{k, bounded(s.cfg.Tags[k])})
	}
	var made struct {
		Run struct {
			Info struct {
				ID string `json:"run_id"`
			} `json:"info"`
		} `json:"run"`
	}
	if err = s.post(ctx, "runs/create", map[string]any{"experiment_id": experiment, "run_name": bounded(res.Name), "start_time": res.Started.UnixMilli(), "tags": tags}, &made); err != nil {
		return err
	}
	id := made.Run.Info.ID
	defer func() {
		if err != nil && ctx.Err() == nil { // else it would be shown as running for ever
			_ = s.post(ctx, "runs/update", map[string]any{"run_id": id, "status": "FAILED", "end_time": ended.UnixMilli()}, nil)
		}
	}()
	if err = s.post(ctx, "runs/log-batch", map[string]any{"run_id": id, "params": parameters(res)}, nil); err != nil {
		return err
	}
	for some := range slices.Chunk(numbers(res, ended.UnixMilli()), mostMetrics) {
		if err = s.post(ctx, "runs/log-batch", map[string]any{"run_id": id, "metrics": some}, nil); err != nil {
			return err
		}
	}
	return s.post(ctx, "runs/update", map[string]any{"run_id": id, "status": status, "end_time": ended.UnixMilli()}, nil)
}

// experiment finds the experiment, or makes it.
func (s *server) experiment(ctx context.Context) (string, error) {
	name := cmp.Or(s.cfg.Experiment, "slogate")
	var found struct {
		Experiment struct {
			ID string `json:"experiment_id"`
		} `json:"experiment"`
	}
	err := s.do(ctx, http.MethodGet, "experiments/get-by-name?experiment_name="+url.QueryEscape(name), nil, &found)
	var status export.StatusError
	if err == nil || !errors.As(err, &status) || status != http.StatusNotFound {
		return found.Experiment.ID, err
	}
	var made struct {
		ID string `json:"experiment_id"`
	}
	err = s.post(ctx, "experiments/create", map[string]any{"name": name}, &made)
	return made.ID, err
}

func (s *server) post(ctx context.Context, path string, body, answer any) error {
	return s.do(ctx, http.MethodPost, path, body, answer)
}

func (s *server) do(ctx context.Context, method, path string, body, answer any) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(s.cfg.URL, "/")+"/api/2.0/mlflow/"+path, bytes.NewReader(data))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if data, err = io.ReadAll(resp.Body); err == nil && answer != nil {
		err = json.Unmarshal(data, answer)
	}
	return err
}

// outcome is the run's status, and the worst of the verdicts that decide.
func outcome(res *perftest.Result) (status, verdict string) {
	verdict = "none"
	worst := -1
	for _, v := range res.Verdicts {
		if rank := slices.Index([]perftest.Outcome{perftest.Pass, perftest.Inconclusive, perftest.Invalid, perftest.Fail}, v.Decided()); rank > worst {
			worst, verdict = rank, string(v.Decided())
		}
	}
	if res.Partial || worst > 0 {
		return "FAILED", verdict
	}
	return "FINISHED", verdict
}

func parameters(res *perftest.Result) []pair {
	l := res.Scenario.Load
	all := []pair{
		{"scenario", res.Name}, {"model", res.Target.Model}, {"url", res.Target.URL}, {"api", res.Target.API},
		{"load", l.Type}, {"load_config", string(l.Config)}, {"concurrency", fmt.Sprint(l.Concurrency)},
		{"workload", res.Scenario.WorkloadType}, {"workload_config", string(res.Scenario.Workload)},
		{"seed", fmt.Sprint(res.Scenario.Seed)}, {"slogate", res.Environment.Version}, {"commit", res.Environment.Commit}, {"cpu", res.Environment.CPU},
	}
	for i := range all {
		all[i].Value = bounded(all[i].Value)
	}
	return all
}

func bounded(s string) string {
	if len(s) <= mostValue {
		return s
	}
	return strings.ToValidUTF8(s[:mostValue-3], "") + "…"
}

// numbers are the figures of a result by the names that they have in its file.
func numbers(res *perftest.Result, at int64) (all []number) {
	add := func(key string, v float64) {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			all = append(all, number{Key: keyOf(key), Value: v, Timestamp: at})
		}
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case float64:
			add(key, v)
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				if k == "percentiles" {
					walk(key, v[k])
				} else {
					walk(key+"/"+k, v[k])
				}
			}
		}
	}
	for _, part := range []struct {
		name string
		of   any
	}{{"metrics", res.Metrics}, {"rates", res.Rates}, {"steady", res.Steady}, {"counts", res.Counts}} {
		data, err := json.Marshal(part.of)
		var plain any
		if err == nil && json.Unmarshal(data, &plain) == nil {
			walk(part.name, plain)
		}
	}
	add("window_s", float64(res.Window))
	for _, f := range res.Server.Metrics {
		add("server/"+f.Name+"/mean", float64(f.Mean))
		add("server/"+f.Name+"/max", float64(f.Max))
		add("server/"+f.Name+"/last", float64(f.Last))
	}
	return all
}

// keyOf is a name as MLflow takes one.
func keyOf(name string) string {
	name = strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_-./ ", c) {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), 250)]
}
