package schema_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/slogate/slogate/perftest/schema"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

// A run with all there is leaves the members of the schemas, no other ones, and
// they are of the schemas.
func TestFilesOfARun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PERFTEST_RESULTS", dir)
	t.Setenv("PERFTEST_REQUIRED", "")
	s := simserver.Start(t, simserver.Profile{Faults: []simserver.Fault{{Kind: simserver.Status503, Requests: []int{3}}}})
	target := s.Target()
	target.Params = map[string]any{"n": 2}
	res := perftest.Run(t, perftest.Scenario{
		Target: target, Workload: fixtures.Prompts{Prompts: []string{"Hello"}, Output: 3}, ServerMetrics: &perftest.ServerMetrics{},
		Load: perftest.Closed{Concurrency: 2, Requests: 10}, Warmup: perftest.Warmup{Requests: 1},
	})
	require.NoError(t, res.SaveVerdicts(res.Judge(
		perftest.SLO{Metric: perftest.Goodput, Op: perftest.AtLeast, Limit: 0.5, Limits: perftest.Limits{TTFT: 1, TTFA: 1, TPOT: 1, ITL: 1, Latency: 1, Response: 1}},
		perftest.SLO{Metric: perftest.ServerMetric, Series: "vllm:num_requests_waiting", Stat: perftest.Max, Op: perftest.Below, Limit: 10},
	)))
	require.NoError(t, schematest.Folder(dir))
	for name, data := range map[string][]byte{"requests.jsonl": schema.Requests, "server.jsonl": schema.Server} {
		file, err := os.ReadFile(filepath.Join(res.Dir, name))
		require.NoError(t, err)
		var line map[string]any
		require.NoError(t, json.Unmarshal([]byte(strings.Split(string(file), "\n")[0]), &line))
		var s struct{ Properties map[string]any }
		require.NoError(t, json.Unmarshal(data, &s))
		delete(s.Properties, "event_tokens") // which this server does not tell
		delete(s.Properties, "error")
		require.Equal(t, slices.Sorted(maps.Keys(s.Properties)), slices.Sorted(maps.Keys(line)), name)
	}
}

// Results of earlier versions are of the schema, and are read.
func TestStoredResult(t *testing.T) {
	require.NoError(t, schematest.Folder("../testdata/stored"))
	_, err := perftest.ReadResult("../testdata/stored")
	require.NoError(t, err)
}

// The schema sees what is wrong.
func TestSchemaRefuses(t *testing.T) {
	for from, to := range map[string]string{
		`"version": 1`:          `"version": 99`,
		`"partial": false`:      `"partial": 0`,
		`"ended": "complete"`:   `"ended": "done"`,
		`"requests_per_s": `:    `"requests_per_s": "x", "was": `,
		`"failures": `:          `"were": `,
		`"schema": "slogate/re`: `"schema": "x/re`,
		`"sent": 10`:            `"sent": -10`,
		`"error_rate": 0`:       `"error_rate": 1.5`,
		`"verdicts": []`:        `"verdicts": [{"slo": {"metric": "ttft", "op": "<", "limit": 1}, "outcome": "GREEN"}]`,
	} {
		data, err := os.ReadFile("../testdata/stored/result.json")
		require.NoError(t, err)
		require.Contains(t, string(data), from)
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "result.json"), []byte(strings.Replace(string(data), from, to, 1)), 0o644))
		require.Error(t, schematest.Folder(dir), to)
	}
}

// What the scenarios and the examples leave in their folders is held against
// the schemas when they have run: SLOGATE_RESULTS is a folder above them.
func TestResultsOfTheSuite(t *testing.T) {
	root := os.Getenv("SLOGATE_RESULTS")
	if root == "" {
		t.Skip("SLOGATE_RESULTS is not set: .ci/run sets it when all tests have run")
	}
	results, err := filepath.Glob(filepath.Join(root, "scenarios", ".perftest", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, results, "the scenarios have left nothing")
	require.NoError(t, schematest.Folder(root))
}
