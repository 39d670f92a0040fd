package assert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/perftest"
)

// Preset is a set of objectives that others have published.
type Preset struct {
	Name       string // as [MLPerf] takes it
	Constraint Constraint
	Source     string // where the limits are from
	// TTFT and TPOT are limits at p99; 0 means none.
	TTFT, TPOT time.Duration
	// Latency is a limit of the whole request at p99; 0 means none.
	Latency time.Duration
}

// SLOs are the preset's objectives.
func (p Preset) SLOs() (slos []perftest.SLO) {
	if p.TTFT > 0 {
		slos = append(slos, TTFT(P99).AtMost(p.TTFT))
	}
	if p.TPOT > 0 {
		slos = append(slos, TPOT(P99).AtMost(p.TPOT))
	}
	if p.Latency > 0 {
		slos = append(slos, Response(P99).AtMost(p.Latency))
	}
	return slos
}

// Constraint is a scenario of MLPerf Inference: how patient its users are.
type Constraint string

// The constraints.
const (
	MLPerfServer      Constraint = "server"
	MLPerfInteractive Constraint = "interactive" // server with tighter limits
)

// mlperf says where the limits of MLPerf Inference are from.
const mlperf = "MLPerf Inference: mlperf.conf and LLM_LATENCY_LIMITS of the submission checker (mlcommons/inference b66003e, 2026-08-20), p99"

const ms = time.Millisecond

// mlperfPresets are its limits at p99, for models that answer with tokens.
var mlperfPresets = []Preset{
	{"llama2-70b", MLPerfServer, mlperf, 2000 * ms, 200 * ms, 0},
	{"llama2-70b", MLPerfInteractive, mlperf, 450 * ms, 40 * ms, 0},
	{"llama3.1-405b", MLPerfServer, mlperf, 6000 * ms, 175 * ms, 0},
	{"llama3.1-405b", MLPerfInteractive, mlperf, 4500 * ms, 80 * ms, 0},
	{"llama3.1-8b", MLPerfServer, mlperf, 2000 * ms, 100 * ms, 0},
	{"llama3.1-8b", MLPerfInteractive, mlperf, 500 * ms, 30 * ms, 0},
	{"mixtral-8x7b", MLPerfServer, mlperf, 2000 * ms, 200 * ms, 0},
	{"deepseek-r1", MLPerfServer, mlperf, 2000 * ms, 80 * ms, 0},
	{"deepseek-r1", MLPerfInteractive, mlperf, 1500 * ms, 15 * ms, 0},
	{"gpt-oss-120b", MLPerfServer, mlperf, 3000 * ms, 80 * ms, 0},
	{"gpt-oss-120b", MLPerfInteractive, mlperf + "; the rules' text says 20 ms a token", 2000 * ms, 15 * ms, 0},
	{"qwen3-vl-235b", MLPerfServer, mlperf + ", of the whole request", 0, 0, 12 * time.Second},
}

// MLPerfPresets are the limits of MLPerf Inference that [MLPerf] knows.
func MLPerfPresets() []Preset { return slices.Clone(mlperfPresets) }

// MLPerf gives the latency objectives of MLPerf Inference for one of its
// models, at p99: of the time to first token and per output token, or, for
// qwen3-vl-235b, of the whole request from its scheduled start.
//
// A name that it does not know panics with those that it knows, so that a test
// cannot go on without its objectives; [MLPerfPresets] lists them.
//
// MLPerf counts from the scheduled start, which [TTFT] does not: in an open loop
// that is the same but for the client's own delay, which makes a run INVALID
// before it matters. Its rule to certify is another one than this module's:
// assert.Sure(0.99, …) with assert.Gate comes nearest, and is stricter, since it
// does not suppose that requests are independent.
func MLPerf(model string, constraint Constraint) []perftest.SLO {
	p, err := findPreset(model, constraint)
	if err != nil {
		panic("assert.MLPerf: " + err.Error())
	}
	return p.SLOs()
}

// findPreset looks a preset up, in any case of its name.
func findPreset(model string, constraint Constraint) (Preset, error) {
	var names []string
	for _, p := range mlperfPresets {
		if strings.EqualFold(p.Name, model) && p.Constraint == constraint {
			return p, nil
		}
		names = append(names, p.Name+" "+string(p.Constraint))
	}
	slices.SortFunc(names, cmp.Compare)
	return Preset{}, fmt.Errorf("there are no limits for model %q, constraint %q: use one of %s", model, constraint, strings.Join(names, ", "))
}

// Interactivity are the objectives that this module's examples gate on, for a
// user who reads along: the first token within a second at p99, and 20 tokens a
// second on average, several times the pace of reading.
func Interactivity() []perftest.SLO {
	return []perftest.SLO{TTFT(P99).Below(time.Second), TPOT(Mean).Below(50 * ms)}
}
