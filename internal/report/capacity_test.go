package report

import (
	"math"
	"testing"
)

func TestCapacity(t *testing.T) {
	probe := Probe{Load: 10, Outcome: "PASS", Requests: 1000, RequestRate: 9.9, OutputRate: 1980, TTFTp99: 0.4, TPOT: 0.03, Binding: "TTFT p99 < 1s"}
	missed, confirm := probe, probe
	missed.Load, missed.Outcome, missed.Saturated, missed.Requests, missed.TTFTp99 = 20, "FAIL", true, 120, 4
	confirm.Confirm, confirm.Requests = true, 4000
	golden(t, "capacity_found.txt", Capacity(CapacityView{
		Name: "TestCapacity", Simulated: true, Rate: true, Lo: 10, Hi: 20, Best: 10, Goodput: 9.85, Binding: "TTFT p99 < 1s",
		Probes: []Probe{probe, missed, confirm}, NonMonotone: true, Cliff: true, MaxNotReached: true,
	}))
	golden(t, "capacity_none.txt", Capacity(CapacityView{
		Name: "TestCapacity", Best: 8, Hi: math.NaN(), Goodput: math.NaN(), ClientLimit: 16, CutShort: "deadline", Probes: []Probe{{Load: 8, Outcome: "PASS", TTFTp99: math.NaN(), TPOT: math.NaN()}},
	}))
}
