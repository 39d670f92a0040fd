package perftest

import "github.com/slogate/slogate/internal/report"

// PeerTable holds the readings of all peers beside the figures of a result. It
// answers "why does my other tool say 50 ms?" in one call.
type PeerTable struct {
	Result   *Result
	Readings []Reading // in the order of the constants
}

// Peers reads r as every peer does. It fails where [Result.As] does.
func (r *Result) Peers() (PeerTable, error) {
	rules := make([]*peerRules, len(allPeers))
	for i := range allPeers {
		rules[i] = &allPeers[i]
	}
	readings, err := r.readings(rules...)
	if err != nil {
		return PeerTable{}, err
	}
	return PeerTable{Result: r, Readings: readings}, nil
}

// String is a table of mean and p99 of what each tool calls TTFT, latency and
// the like, and a line each on why they differ.
func (t PeerTable) String() string {
	if t.Result == nil {
		return ""
	}
	return report.Peers(report.PeersView{Scenario: t.Result.Name, Simulated: t.Result.Simulated, Partial: t.Result.partialText(), Peers: t.rows()})
}

// rows are this project's figures and then each tool's.
func (t PeerTable) rows() []report.Peer {
	m := &t.Result.Metrics
	ours := report.Peer{Name: "slogate", Why: "first token of any kind, end mark of the answer, gaps between token events; percentiles linear"}
	for i, d := range [...]Distribution{m.TTFT, m.Latency, m.TPOT, m.ITL} {
		ours.Cells[i] = report.PeerCell{Mean: float64(d.Mean), P99: float64(d.P(99))}
	}
	rows := []report.Peer{ours}
	for _, r := range t.Readings {
		row := report.Peer{Name: string(r.Peer), Why: r.Why}
		for i, m := range [...]Metric{TTFT, Latency, TPOT, ITL} {
			f := r.Of(m)
			row.Cells[i] = report.PeerCell{Mean: float64(f.Mean), P99: float64(f.P(99))}
		}
		rows = append(rows, row)
	}
	return rows
}

// String is a table of the reading's figures, and a note on each.
func (r Reading) String() string {
	v := report.ReadingView{Peer: string(r.Peer), Why: r.Why, Source: r.Source}
	for _, f := range r.Figures {
		v.Figures = append(v.Figures, report.PeerFigure{
			Name: f.Name, Beside: f.Metric.label(), Samples: f.Count, Mean: float64(f.Mean), Min: float64(f.Min), Max: float64(f.Max),
			P50: float64(f.P(50)), P90: float64(f.P(90)), P95: float64(f.P(95)), P99: float64(f.P(99)), Note: f.Note,
		})
	}
	return report.Reading(v)
}
