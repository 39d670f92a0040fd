package schema_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/invopop/jsonschema"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write result.schema.json from the Go types")

const resultFile = "result.schema.json"

// The schema of result.json is what the types say: a field that is new, gone or
// of another type shows here, and -update writes it.
func TestResultSchemaIsOfTheTypes(t *testing.T) {
	want := generate(t)
	if *update {
		require.NoError(t, os.WriteFile(resultFile, want, 0o644))
	}
	got, err := os.ReadFile(resultFile)
	require.NoError(t, err)
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not of the Go types: run go test ./perftest/schema -update, and look at what changed (-types +file):\n%s", resultFile, d)
	}
}

// A verdict's limits write themselves: durations, in seconds.
type limits struct {
	TTFT     float64 `json:"ttft_s" jsonschema:"description=A good request has its first token before this."`
	TTFA     float64 `json:"ttfa_s" jsonschema:"description=A good request has its first token that is not reasoning before this."`
	TPOT     float64 `json:"tpot_s" jsonschema:"description=A good request takes less than this per output token after the first."`
	ITL      float64 `json:"itl_s" jsonschema:"description=A good request has no gap between token events of this or more."`
	Latency  float64 `json:"latency_s" jsonschema:"description=A good request has ended before this after its sending."`
	Response float64 `json:"response_s" jsonschema:"description=A good request has ended before this after its scheduled start."`
}

func generate(t *testing.T) []byte {
	r := &jsonschema.Reflector{
		RequiredFromJSONSchemaTags: true, AllowAdditionalProperties: true, Anonymous: true,
		Mapper: func(of reflect.Type) *jsonschema.Schema {
			switch of {
			case reflect.TypeFor[perftest.Value]():
				return &jsonschema.Schema{Extras: map[string]any{"type": []string{"number", "null"}}}
			case reflect.TypeFor[json.RawMessage]():
				return &jsonschema.Schema{Extras: map[string]any{"type": []string{"object", "array", "string", "number", "boolean", "null"}}}
			case reflect.TypeFor[perftest.Percentiles]():
				return &jsonschema.Schema{
					Type:              "object",
					PatternProperties: map[string]*jsonschema.Schema{`^p[0-9]+(\.[0-9]+)?$`: {Extras: map[string]any{"type": []string{"number", "null"}}}},
				}
			case reflect.TypeFor[perftest.Limits]():
				return (&jsonschema.Reflector{RequiredFromJSONSchemaTags: true, DoNotReference: true, Anonymous: true, AllowAdditionalProperties: true}).Reflect(limits{})
			}
			return nil
		},
	}
	require.NoError(t, r.AddGoComments("github.com/slogate/slogate", "../../perftest", jsonschema.WithFullComment()))
	// The tests of a package are no part of its comments' folder: made relative.
	fixed := map[string]string{}
	for k, v := range r.CommentMap {
		if i := strings.Index(k, "perftest."); i >= 0 {
			fixed["github.com/slogate/slogate/"+k[i:]] = v
		}
	}
	r.CommentMap = fixed
	data, err := json.Marshal(r.Reflect(perftest.Result{}))
	require.NoError(t, err)
	var all map[string]any
	require.NoError(t, json.Unmarshal(data, &all))
	all["$id"] = "https://github.com/slogate/slogate/perftest/schema/" + resultFile
	all["title"] = "slogate: result.json"
	polish(all, "Result")
	root := all["$defs"].(map[string]any)["Result"].(map[string]any)
	root["required"] = []string{"schema", "version", "name", "simulated", "partial", "ended", "started", "scenario", "target", "environment", "counts", "window_s", "duration_s", "metrics", "rates", "failures", "warnings", "verdicts"}
	properties := root["properties"].(map[string]any)
	properties["schema"].(map[string]any)["const"] = perftest.ResultSchema
	version := properties["version"].(map[string]any)
	version["minimum"], version["maximum"] = 1, perftest.ResultVersion
	properties["ended"].(map[string]any)["enum"] = []string{"complete", "deadline", "interrupted", "must fail", "missing shards", "shards apart", "lost shard", "error"}
	narrow(all["$defs"].(map[string]any))
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	require.NoError(t, enc.Encode(all))
	return out.Bytes()
}

// narrow says what the types do not: the values that a text may have, and that
// nothing is counted below 0.
func narrow(defs map[string]any) {
	member := func(def, name string) map[string]any {
		return defs[def].(map[string]any)["properties"].(map[string]any)[name].(map[string]any)
	}
	outcomes := []perftest.Outcome{perftest.Pass, perftest.Fail, perftest.Inconclusive, perftest.Invalid}
	member("Verdict", "outcome")["enum"], member("Verdict", "point")["enum"] = outcomes, outcomes
	defs["Verdict"].(map[string]any)["required"] = []string{"slo", "outcome"}
	member("SLO", "op")["enum"] = []perftest.Op{perftest.Below, perftest.AtMost, perftest.AtLeast, perftest.Above}
	defs["SLO"].(map[string]any)["required"] = []string{"metric", "op", "limit"}
	for _, def := range []string{"Counts", "Distribution", "Failure"} {
		for _, one := range defs[def].(map[string]any)["properties"].(map[string]any) {
			if p := one.(map[string]any); p["type"] == "integer" {
				p["minimum"] = 0
			}
		}
	}
	delete(member("Counts", "largest_input_deviation"), "minimum")
	rate := member("Rates", "error_rate")
	rate["minimum"], rate["maximum"] = 0, 1
}

// polish lets lists be null, as Go writes one without elements, joins the lines
// of comments, and describes what has no comment of its own.
func polish(v any, at string) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			polish(one, at)
		}
	case map[string]any:
		if v["type"] == "array" {
			v["type"] = []string{"array", "null"}
		}
		if text, ok := v["description"].(string); ok {
			v["description"] = strings.Join(strings.Fields(text), " ")
		}
		if properties, ok := v["properties"].(map[string]any); ok {
			for name, p := range properties {
				one := p.(map[string]any)
				text, _ := one["description"].(string)
				if strings.TrimSpace(text) == "" {
					text = uncommented[at+"."+name]
				}
				if text == "" && one["$ref"] == nil {
					continue // which TestEveryMemberIsDescribed finds
				}
				one["description"] = strings.TrimSpace(text + unit(name))
			}
		}
		for k, one := range v {
			if k == "$defs" {
				for name, def := range one.(map[string]any) {
					polish(def, name)
				}
			} else {
				polish(one, at)
			}
		}
	}
}

// unit is what a name's ending says.
func unit(name string) string {
	switch {
	case strings.HasSuffix(name, "tokens_per_s"):
		return " Unit: tokens per second."
	case strings.HasSuffix(name, "_per_s"):
		return " Unit: per second."
	case strings.HasSuffix(name, "_s"):
		return " Unit: seconds."
	case strings.HasSuffix(name, "tokens"):
		return " Unit: tokens."
	case strings.HasSuffix(name, "_share"), strings.HasSuffix(name, "_rate"):
		return " A share, from 0 to 1."
	}
	return ""
}
