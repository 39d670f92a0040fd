package report

import (
	"math"
	"testing"
)

func TestChanges(t *testing.T) {
	nan := math.NaN()
	golden(t, "changes_regressed.txt", Changes(ChangesView{
		Scenario: "TestChat/c=4", Simulated: true, Outcome: "REGRESSED", Reason: "1 of 3 figures proved more than 5% worse", Baseline: 5, Candidate: 3,
		Changes: []Change{
			{"REGRESSED", "TTFT", "p50", Seconds, true, 0.1, 0.1336, 1.336, 1.25, 1.43, ""},
			{"INCONCLUSIVE", "TPOT", "mean", Seconds, true, 0.02, 0.0212, 1.06, 0.97, 1.15, "too few runs: an exact permutation of 2 + 2 gives p = 0.17, and at best 0.17"},
			{"OK", "output rate", "", TokenRate, true, 1000, 1000, 1, 0.99, 1.01, ""},
			{"INVALID", "TTFT", "p99", Seconds, false, nan, 0.4, nan, nan, nan, "no request has a TTFT"},
		},
		Source: "testdata/perftest/TestChat/c=4.jsonl, last run 2026-05-01 at 0123456789ab",
		Remedies: []string{
			"if the change is wanted, PERFTEST_UPDATE=1 go test example.org/gate appends them to testdata/perftest/TestChat/c=4.jsonl",
		},
	}))
	golden(t, "changes_incomparable.txt", Changes(ChangesView{
		Scenario: "TestChat", Outcome: "INCOMPARABLE", Reason: "no run of the baseline has the fingerprint of these", Candidate: 3,
		Differs: "  map[string]any{\n-\u00a0\t\"gpu\": string(\"A100\"),\n+\u00a0\t\"gpu\": string(\"H\x1b200\"),\n  }\n",
	}))
	golden(t, "changes_advisory.txt", Changes(ChangesView{
		Outcome: "OK", Reason: "no figure is more than 10% worse", Advisory: true, Baseline: 1, Candidate: 1,
	}))
}
