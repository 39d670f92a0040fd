package report

import (
	"math"
	"testing"
)

func TestPeers(t *testing.T) {
	none := PeerCell{math.NaN(), math.NaN()}
	golden(t, "peers.txt", Peers(PeersView{
		Scenario: "TestX\x1b[31m", Simulated: true,
		Peers: []Peer{
			{Name: "slogate", Why: "first token", Cells: [4]PeerCell{{0.2, 0.2}, {1.015, 1.015}, {0.02, 0.02}, {0.02, 0.02}}},
			{Name: "other", Why: "first event", Cells: [4]PeerCell{{0.05, 0.0512}, {75, 75.5}, {0.024125, 0.0241}, none}},
		},
	})+"\n\n"+Reading(ReadingView{
		Peer: "other", Why: "first event", Source: "owner/other file.py at 0123abc",
		Figures: []PeerFigure{
			{Name: "ttft", Beside: "TTFT", Samples: 2, Mean: 0.05, Min: 0.04, P50: 0.05, P90: 0.06, P95: 0.06, P99: 0.06, Max: 0.06, Note: "counts the role event"},
			{Name: "itl", Beside: "ITL", Mean: math.NaN(), Min: math.NaN(), P50: math.NaN(), P90: math.NaN(), P95: math.NaN(), P99: math.NaN(), Max: math.NaN(), Note: "none"},
		},
	}))
}
