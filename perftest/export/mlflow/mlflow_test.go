package mlflow

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/export/internal/exporttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type recorder struct{ logs, errors []string }

func (r *recorder) Helper()                   {}
func (r *recorder) Logf(f string, a ...any)   { r.logs = append(r.logs, fmt.Sprintf(f, a...)) }
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }

// fake is a tracking server of one experiment that has to be made.
type fake struct {
	mu     sync.Mutex
	calls  []string
	bodies map[string]map[string]any
	got    map[string]float64
	params map[string]string
	auth   string
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := strings.TrimPrefix(r.URL.Path, "/api/2.0/mlflow/")
	f.calls, f.auth = append(f.calls, call), r.Header.Get("Authorization")
	var body map[string]any
	_ = json.NewDecoder(r.Body).Decode(&body)
	f.bodies[call] = body
	switch call {
	case "experiments/get-by-name":
		http.Error(w, `{"error_code":"RESOURCE_DOES_NOT_EXIST"}`, http.StatusNotFound)
	case "experiments/create":
		fmt.Fprint(w, `{"experiment_id":"7"}`)
	case "runs/create":
		fmt.Fprint(w, `{"run":{"info":{"run_id":"r1"}}}`)
	case "runs/log-batch":
		for _, m := range asList(body["metrics"]) {
			f.got[m["key"].(string)] = m["value"].(float64)
		}
		for _, m := range asList(body["params"]) {
			f.params[m["key"].(string)] = m["value"].(string)
		}
		fmt.Fprint(w, `{}`)
	default:
		fmt.Fprint(w, `{}`)
	}
}

func asList(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, one := range list {
		all = append(all, one.(map[string]any))
	}
	return all
}

func TestLog(t *testing.T) {
	f := &fake{bodies: map[string]map[string]any{}, got: map[string]float64{}, params: map[string]string{}}
	url := exporttest.Serve(t, f.serve)
	res := exporttest.Run(t)
	require.NoError(t, res.SaveVerdicts([]perftest.Verdict{{Point: perftest.Pass}, {Point: perftest.Invalid}, {Point: perftest.Fail}, {Point: perftest.Pass}}))
	var r recorder
	require.True(t, Log(&r, res, Config{URL: url + "/", Token: "hidden", Tags: map[string]string{"team": "serving"}}))
	require.Empty(t, r)
	require.Equal(t, []string{"experiments/get-by-name", "experiments/create", "runs/create", "runs/log-batch", "runs/log-batch", "runs/update"}, f.calls)
	require.Equal(t, "Bearer hidden", f.auth)
	require.Equal(t, "slogate", f.bodies["experiments/create"]["name"])
	require.Equal(t, "7", f.bodies["runs/create"]["experiment_id"])
	require.Contains(t, f.bodies["runs/create"]["tags"], map[string]any{"key": "slogate.verdict", "value": "FAIL"})
	require.Contains(t, f.bodies["runs/create"]["tags"], map[string]any{"key": "team", "value": "serving"})
	require.Equal(t, float64(res.Metrics.TTFT.P(99)), f.got["metrics/ttft_s/p99"])
	require.Equal(t, float64(res.Metrics.TPOT.Mean), f.got["metrics/tpot_s/mean"])
	require.Equal(t, 1., f.got["counts/failed"])
	require.Equal(t, float64(res.Rates.Output), f.got["rates/output_tokens_per_s"])
	require.NotContains(t, f.got, "rates/total_tokens_per_s_per_accelerator", "what is not known is not logged")
	require.Equal(t, "simulated", f.params["model"])
	require.Equal(t, "FAILED", f.bodies["runs/update"]["status"])
	require.InDelta(t, float64(res.Started.UnixMilli())+1000*float64(res.Duration), f.bodies["runs/update"]["end_time"], 1)
}

func TestLogFails(t *testing.T) {
	res := exporttest.Run(t)
	for want, url := range map[string]string{
		"no answer in time": exporttest.Hung(t),
		"status 403": exporttest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "hidden", http.StatusForbidden)
		}),
		"its answer is not understood": exporttest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, "<html>hidden")
		}),
	} {
		begun := time.Now()
		var r recorder
		require.False(t, Log(&r, res, Config{URL: url, Token: "hidden-token"}))
		require.Empty(t, r.errors)
		require.Len(t, r.logs, 1)
		require.Regexp(t, "WARNING: the result is not in MLflow at http://127.0.0.1:.*"+want, r.logs[0])
		require.NotContains(t, r.logs[0], "hidden")
		require.Less(t, time.Since(begun), 30*time.Second)
	}
	var r recorder
	require.False(t, Log(&r, nil, Config{}))
	require.False(t, Log(&r, res, Config{URL: "mlflow:5000"}))
	require.False(t, Log(&r, res, Config{URL: "http://m", Token: "a\nb"}))
	require.False(t, Log(&r, res, Config{URL: "http://m/?key=hidden"}))
	require.Len(t, r.errors, 4)
	require.Contains(t, r.errors[3], `Config.URL is "http://m/" with a query ([redacted])`)
	require.Contains(t, r.errors[1], `Config.URL is "mlflow:5000"`)
	require.Contains(t, r.errors[2], "Config.Headers[Authorization] is [redacted]")
}

// The verdict is the one that decided the test: a kept objective that is not
// proven has not failed.
func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		verdicts        []perftest.Verdict
		status, verdict string
	}{
		{nil, "FINISHED", "none"},
		{[]perftest.Verdict{{Point: perftest.Pass, Outcome: perftest.Inconclusive}}, "FINISHED", "PASS"},
		{[]perftest.Verdict{{Point: perftest.Pass, Outcome: perftest.Inconclusive, Gate: true}, {Point: perftest.Fail, Outcome: perftest.Fail}}, "FAILED", "FAIL"},
		{[]perftest.Verdict{{Point: perftest.Pass, Outcome: perftest.Inconclusive, Gate: true}}, "FAILED", "INCONCLUSIVE"},
	} {
		status, verdict := outcome(&perftest.Result{Verdicts: c.verdicts})
		require.Equal(t, [2]string{c.status, c.verdict}, [2]string{status, verdict})
	}
}

// A run that could not be logged to its end does not go on for ever.
func TestLogEndsTheRun(t *testing.T) {
	f := &fake{bodies: map[string]map[string]any{}, got: map[string]float64{}, params: map[string]string{}}
	url := exporttest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "log-batch") {
			http.Error(w, "no", http.StatusBadRequest)
			return
		}
		f.serve(w, r)
	})
	var r recorder
	require.False(t, Log(&r, exporttest.Run(t), Config{URL: url}))
	require.Len(t, r.logs, 1)
	require.Equal(t, "FAILED", f.bodies["runs/update"]["status"])
}

func TestKeyOf(t *testing.T) {
	require.Equal(t, "server/vllm_num_requests_waiting/max", keyOf("server/vllm:num_requests_waiting/max"))
	require.Len(t, keyOf(strings.Repeat("é", 400)), 250)
}
