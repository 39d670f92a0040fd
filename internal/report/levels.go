package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// LevelsView is what [Levels] shows: the levels of a sweep.
type LevelsView struct {
	Name      string
	Simulated bool
	Levels    []Level
}

// Level is one of them. Times are in seconds, rates a second; NaN is absent.
type Level struct {
	Name   string
	Passed bool // the level's test

	Requests, Failed        int
	RequestRate, OutputRate float64
	TTFT, TTFTp99           float64
	TPOT, TPOTp99           float64
	Latency, LatencyP99     float64
}

// Levels shows the levels of a sweep, one a row.
func Levels(v LevelsView) string {
	rows := make([]table.Row, len(v.Levels))
	for i, l := range v.Levels {
		outcome := Pass
		if !l.Passed {
			outcome = Fail
		}
		rows[i] = table.Row{
			Escape(l.Name), outcome, l.Requests, l.Failed, RequestRate.Format(l.RequestRate), TokenRate.Format(l.OutputRate),
			Seconds.Format(l.TTFT), Seconds.Format(l.TTFTp99), Seconds.Format(l.TPOT), Seconds.Format(l.TPOTp99),
			Seconds.Format(l.Latency), Seconds.Format(l.LatencyP99),
		}
	}
	title := "Levels of " + Escape(v.Name)
	if m := marks(v.Simulated, ""); m != "" {
		title += " " + m
	}
	header := table.Row{"level", "test", "requests", "failed", "request rate", "output rate", "TTFT mean", "p99", "TPOT mean", "p99", "latency mean", "p99"}
	return strings.TrimSuffix(title+"\n\n"+grid(header, rows, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), "\n")
}
