package report

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// dist has a value of its own in each cell: from, from+step, ...
func dist(samples int, mean, from, step float64) Dist {
	d := Dist{Samples: samples, Mean: mean}
	for i := range d.At {
		d.At[i] = from + step*float64(i)
	}
	return d
}

func full() SummaryView {
	return SummaryView{
		Scenario: "TestQwen3/c=8", Model: "Qwen3-32B", Server: "http://127.0.0.1:8000/v1", Simulated: true,
		Duration: 83.4, Concurrency: 8,
		Requests: 100, Succeeded: 90, Failed: 9, Cancelled: 1,
		Rates:        Rates{Requests: 1.0792, Output: 276.26, Total: 1381.3},
		Steady:       &Rates{Requests: 1.1, Output: 281.6, Total: math.NaN()},
		Accelerators: 2,
		Latency:      dist(90, 6.2, 5, 0.31),
		TTFT:         dist(90, 0.312, 0.2, 0.0415),
		TPOT:         dist(89, 0.021, 0.019, 0.0007),
		ITL:          dist(23000, 0.0209, 0.0189, 0.0008),
		Ends:         Ends{Start: 8, Padding: 13, TTFT: dist(98, 0.35, 0.2, 0.1), TPOT: dist(97, 0.021, 0.019, 0.0007), Latency: dist(98, 6.3, 5, 0.35)},
		InputTokens:  dist(90, 1024, 1024, 0),
		OutputTokens: dist(90, 255.4, 240, 1.75),
		Events:       dist(90, 258.25, 0, 0),
		OutputSpeed:  dist(90, 41.3, 33.3, 1.7),
		TotalSpeed:   dist(90, 206, 160, 11.1),
		Failures: []Failure{
			{"status", 5, "503 Service Unavailable: {\"error\":\n\"overloaded\"}"},
			{"truncated", 3, "stream ended after 17 tokens without [DONE]"},
			{"stream-error", 1, "\x1b[31mout of memory\x1b[0m"},
		},
		Warnings: []string{"3 answers are shorter than asked although the end token is ignored"},
	}
}

func TestSummary(t *testing.T) { golden(t, "summary.txt", Summary(full())) }

// A run of which nothing came back shows dashes, not zeros.
func TestSummaryNothing(t *testing.T) {
	nan := math.NaN()
	golden(t, "nothing.txt", Summary(SummaryView{
		Scenario: "TestDown", Partial: "interrupted", Duration: 1.5, Concurrency: 4, RequestRate: 2.5,
		Requests: 7, Failed: 7,
		Rates:    Rates{nan, nan, nan},
		Failures: []Failure{{"connect", 7, "connection refused"}},
	}))
}

func TestSummaryBounds(t *testing.T) {
	v := full()
	for range 30 {
		v.Failures = append(v.Failures, Failure{"status", 1, strings.Repeat("x", 10_000)})
		v.Warnings = append(v.Warnings, strings.Repeat("y", 10_000))
	}
	got := Summary(v)
	require.Contains(t, got, "and 21 more")
	require.Contains(t, got, "and 19 more")
	require.Less(t, len(got), 20_000)
}

// A percentile needs a value above it to be more than the maximum.
func TestCarries(t *testing.T) {
	for _, c := range []struct {
		p    float64
		need int
	}{{10, 2}, {50, 2}, {66, 3}, {75, 4}, {80, 5}, {90, 10}, {95, 20}, {98, 50}, {99, 100}} {
		require.False(t, carries(c.need-1, c.p), "p%v of %d", c.p, c.need-1)
		require.True(t, carries(c.need, c.p), "p%v of %d", c.p, c.need)
	}
}
