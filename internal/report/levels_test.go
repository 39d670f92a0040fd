package report

import (
	"math"
	"testing"
)

func TestLevels(t *testing.T) {
	golden(t, "levels.txt", Levels(LevelsView{Name: "TestQwen3", Simulated: true, Levels: []Level{
		{"c=1", true, 64, 0, 1.2, 38.4, 0.151, 0.152, 0.022, 0.0221, 0.833, 0.834},
		{"c=64", false, 4096, 12, 51.25, 1640, 1.204, 2.31, 0.0487, 0.0612, 2.71, 4.02},
		{"rate=9", false, 90, 90, 0, 0, math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN(), math.NaN()},
	}}))
}
