package report

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func ttft(outcome string, measured float64) Verdict {
	return Verdict{
		Outcome: outcome, Metric: "TTFT", Stat: "p99", Op: "<", Unit: Seconds, Limit: 1, Measured: measured,
		Samples: 512, Allowed: 5, Counted: true,
	}
}

func tpot(outcome string, measured float64) Verdict {
	return Verdict{
		Outcome: outcome, Metric: "TPOT", Stat: "mean", Op: "<", Unit: Seconds, Limit: 0.05, Measured: measured,
		Samples: 512,
	}
}

func TestVerdictsAllPass(t *testing.T) {
	v := VerdictsView{
		Scenario: "TestQwen3/c=8", Simulated: true, Requests: 512,
		Verdicts: []Verdict{
			ttft(Pass, 0.312),
			tpot(Pass, 0.021),
			{Outcome: Pass, Metric: "error rate", Op: "<=", Unit: Share, Samples: 512},
			{
				Outcome: Pass, Metric: "goodput", Limits: []Limit{{"TTFT", 1}, {"TPOT", 0.05}}, Op: ">=",
				Unit: Share, Limit: 0.99, Measured: 0.998, Samples: 512,
			},
		},
		Result: ".perftest/x/result.json", Command: "go test -run X",
	}
	golden(t, "pass.txt", Verdicts(v))
}

// Eight of a hundred requests failed and two were slow.
func TestVerdictsTable(t *testing.T) {
	slow := ttft(Fail, 1.24)
	slow.Samples, slow.Failed, slow.Over, slow.Allowed = 100, 10, 12, 1
	slow.Reason = "12 of 100 are over 1s (10 of them failed), 1 may be"
	kept := ttft(Fail, 0.4) // missed by the failed ones alone
	kept.Stat, kept.Samples, kept.Failed, kept.Over, kept.Allowed = "p95", 100, 10, 10, 5
	kept.Reason = "10 of 100 are over 1s (10 of them failed), 5 may be"
	p90 := kept
	p90.Outcome, p90.Stat, p90.Allowed, p90.Reason = Pass, "p90", 10, "not shown"
	none := tpot(Invalid, math.NaN())
	none.Samples, none.Reason = 0, "no answer had two tokens"
	golden(t, "fail.txt", Verdicts(VerdictsView{
		Scenario: "TestQwen3/c=8", Simulated: true, Partial: "interrupted after 12.3s", Requests: 100, Failed: 10,
		Verdicts: []Verdict{
			slow, kept, p90, none,
			{
				Outcome: Fail, Metric: "error rate", Op: "<=", Unit: Share, Limit: 0, Measured: 0.1, Samples: 100, Failed: 10,
				Reason: "10 of 100 failed",
			},
			{
				Outcome: Fail, Metric: "goodput", Limits: []Limit{{"TTFT", 1}, {"TPOT", 0.05}}, Op: ">=",
				Unit: Share, Limit: 0.99, Measured: 0.88, Samples: 100, Failed: 10,
				Reason: "88 of 100 are good, 99 have to be",
			},
			{
				Outcome: Fail, Metric: "output rate", Op: ">=", Unit: TokenRate, Limit: 1000, Measured: 751.5, Samples: 100, Failed: 10,
				Reason: "below the limit",
			},
		},
		Result:  ".perftest/TestQwen3_c=8/result.json",
		Command: "go test ./scenarios -run 'TestQwen3/c=8' -v",
	}))
}

func TestVerdictsOffBy(t *testing.T) {
	for _, c := range []struct {
		name string
		v    Verdict
		want string
	}{
		{"over", ttft(Fail, 1.24), "+240ms (+24%)"},
		{"at the limit, which is not below it", ttft(Fail, 1), "+0s (+0%)"},
		{"on the right side", ttft(Fail, 0.4), "-"},
		{"a pass", ttft(Pass, 0.4), "-"},
		{"nothing measured", ttft(Invalid, math.NaN()), "-"},
		{"under", Verdict{Outcome: Fail, Op: ">=", Unit: RequestRate, Limit: 10, Measured: 7.5}, "-2.500 req/s (-25%)"},
		{"share", Verdict{Outcome: Fail, Op: ">=", Unit: Share, Limit: 0.99, Measured: 0.93}, "-6 points"},
		{"over nothing at all", Verdict{Outcome: Fail, Op: "<=", Unit: Share, Limit: 0, Measured: 0.05}, "+5 points"},
	} {
		require.Equal(t, c.want, c.v.offBy(), c.name)
	}
}

func TestVerdictsSamples(t *testing.T) {
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{Samples: 100}, "100"},
		{Verdict{Samples: 100, Failed: 10}, "90 of 100, 10 failed"},
		{Verdict{Samples: 23000, SampleUnit: "gaps"}, "23000 gaps"},
		{Verdict{Samples: 23000, SampleUnit: "gaps", Failed: 1}, "23000 gaps, 1 request failed"},
	} {
		require.Equal(t, c.want, c.v.samples())
	}
}

func TestVerdictsNone(t *testing.T) {
	require.Equal(t, "INVALID x: no SLO was judged (0 requests, 0 failed)", Verdicts(VerdictsView{Scenario: "x"}))
}

func TestVerdictsOnlyInvalid(t *testing.T) {
	v := tpot(Invalid, math.NaN())
	v.Samples = 0
	golden(t, "invalid.txt", Verdicts(VerdictsView{Scenario: "empty", Verdicts: []Verdict{v}}))
}

// Text from outside cannot break out of its place.
func TestVerdictsEscape(t *testing.T) {
	v := ttft(Fail, 1.24)
	v.Reason = "\x1b[2J\n::error::forged"
	got := Verdicts(VerdictsView{Scenario: "a\nb", Verdicts: []Verdict{v}, Result: "r\x1b", Command: "c\r"})
	require.NotContains(t, got, "\x1b")
	require.NotContains(t, got, "\r")
	require.NotContains(t, got, "\n::error")
	require.Contains(t, got, `a\nb`)
}

// What is not proven says so: in the line and in the table of the everyday
// check, where the figure decides, and in that of a gate, where it is red.
func TestVerdictsUnproven(t *testing.T) {
	few := ttft(Pass, 0.312)
	few.Samples, few.Allowed, few.Bound = 200, 2, math.NaN()
	few.Proof, few.Evidence, few.Binding = Inconclusive, "0 of 200 over, p99 at 95% needs 299", true
	mean := tpot(Pass, 0.021)
	mean.Proof, mean.Evidence, mean.Bound = Pass, "with 95% to 22ms", 0.022
	slow := tpot(Fail, 5.1)
	slow.Proof, slow.Evidence, slow.Bound = Fail, "with 95% to 5.2s", 5.2
	view := func(of ...Verdict) string { return Verdicts(VerdictsView{Scenario: "T", Requests: 200, Verdicts: of}) }
	late := ttft(Fail, 1.1)
	late.Samples, late.Over, late.Allowed, late.Bound = 200, 3, 2, math.NaN()
	late.Proof, late.Evidence = Inconclusive, "3 of 200 over, p99 at 95% needs 2549"
	gated := few
	gated.Gate, gated.Outcome = true, Inconclusive
	proven := mean
	proven.Gate = true
	golden(t, "unproven.txt", view(few, mean)+"\n\n"+view(proven)+"\n\n"+view(few, slow)+"\n\n"+view(late)+"\n\n"+view(gated, mean))
}
