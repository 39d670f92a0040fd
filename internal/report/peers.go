package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// peerDigits are one more than elsewhere: tools differ in the fourth.
const peerDigits = 4

// PeersView is a run as several tools would have printed it.
type PeersView struct {
	Scenario  string
	Simulated bool
	Partial   string
	Peers     []Peer // this project first
}

// Peer is one tool's row, and a line on what sets it apart.
type Peer struct {
	Name  string
	Cells [4]PeerCell // TTFT, latency, TPOT, ITL
	Why   string
}

// PeerCell is a figure in seconds.
type PeerCell struct{ Mean, P99 float64 }

// Peers is the table of v, with the reasons below.
func Peers(v PeersView) string {
	head := "What other tools would have printed"
	if v.Scenario != "" {
		head += " for " + Escape(v.Scenario)
	}
	if m := marks(v.Simulated, v.Partial); m != "" {
		head += " " + m
	}
	header := table.Row{"tool"}
	right := []int{}
	for _, name := range [...]string{"TTFT", "latency", "TPOT", "ITL"} {
		header = append(header, name, "p99")
		right = append(right, len(header)-1, len(header))
	}
	var rows []table.Row
	var why strings.Builder
	for _, p := range v.Peers {
		row := table.Row{Escape(p.Name)}
		for _, c := range p.Cells {
			row = append(row, duration(c.Mean, peerDigits), duration(c.P99, peerDigits))
		}
		rows = append(rows, row)
		fmt.Fprintf(&why, "\n- %s: %s", Escape(p.Name), Escape(p.Why))
	}
	return head + "\n" + grid(header, rows, right...) + "\nMeans, and p99 by each tool's own rule. Why they differ:" + why.String()
}

// ReadingView is a run as one other tool would have printed it.
type ReadingView struct {
	Peer, Why, Source string
	Figures           []PeerFigure
}

// PeerFigure is one of its figures, in seconds.
type PeerFigure struct {
	Name, Beside                       string
	Samples                            int
	Mean, Min, Max, P50, P90, P95, P99 float64
	Note                               string
}

// Reading is the table of v, with its notes below.
func Reading(v ReadingView) string {
	header := table.Row{Escape(v.Peer), "here", "samples", "mean", "min", "p50", "p90", "p95", "p99", "max"}
	var rows []table.Row
	var notes strings.Builder
	for _, f := range v.Figures {
		row := table.Row{Escape(f.Name), Escape(f.Beside), f.Samples}
		for _, s := range [...]float64{f.Mean, f.Min, f.P50, f.P90, f.P95, f.P99, f.Max} {
			row = append(row, duration(s, peerDigits))
		}
		rows = append(rows, row)
		fmt.Fprintf(&notes, "\n- %s: %s", Escape(f.Name), Escape(f.Note))
	}
	return grid(header, rows, 3, 4, 5, 6, 7, 8, 9, 10) + "\n" + Escape(v.Why) + notes.String() + "\nread from " + Escape(v.Source)
}
