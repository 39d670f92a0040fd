package report

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// CapacityView is what [Capacity] shows: a search for the highest load. NaN is
// absent.
type CapacityView struct {
	Name          string
	Simulated     bool
	Rate          bool // loads are requests a second; else concurrencies
	Lo, Hi, Best  float64
	Goodput       float64
	Binding       string
	ClientLimit   float64 // 0 for none
	CutShort      string  // what ended the search early; empty for nothing
	MaxNotReached bool
	NonMonotone   bool
	Cliff         bool
	Probes        []Probe
}

// Probe is one run of a search.
type Probe struct {
	Load                    float64
	Confirm                 bool
	Outcome                 string
	Saturated               bool
	Requests, Failed        int
	RequestRate, OutputRate float64
	TTFTp99, TPOT           float64
	Binding                 string
}

// Capacity shows a search: what it found in a line, a probe in each row, and
// what makes the answer an irregular one.
func Capacity(v CapacityView) string {
	load := func(x float64) string {
		if v.Rate {
			return RequestRate.Format(x)
		}
		return "concurrency " + Number(x)
	}
	var b strings.Builder
	b.WriteString("Max load of " + Escape(v.Name) + ": ")
	switch {
	case v.Lo > 0:
		b.WriteString(load(v.Lo) + " is confirmed")
		if finite(v.Hi) {
			b.WriteString(", " + load(v.Hi) + " is too much")
		}
		fmt.Fprintf(&b, "; goodput %s, bound by %s", RequestRate.Format(v.Goodput), Escape(v.Binding))
	case v.Best > 0:
		b.WriteString("none is confirmed; short probes were met up to " + load(v.Best))
	default:
		b.WriteString("none is met")
	}
	if m := marks(v.Simulated, ""); m != "" {
		b.WriteString(" " + m)
	}
	b.WriteString("\n\n")
	rows := make([]table.Row, len(v.Probes))
	for i, p := range v.Probes {
		kind, outcome := "probe", Escape(p.Outcome)
		if p.Confirm {
			kind = "confirm"
		}
		if p.Saturated {
			outcome += ", falls behind"
		}
		rows[i] = table.Row{
			kind, Number(p.Load), outcome, p.Requests, p.Failed, RequestRate.Format(p.RequestRate), TokenRate.Format(p.OutputRate),
			Seconds.Format(p.TTFTp99), Seconds.Format(p.TPOT), Escape(p.Binding),
		}
	}
	b.WriteString(grid(table.Row{"run", "load", "outcome", "requests", "failed", "request rate", "output rate", "TTFT p99", "TPOT mean", "binding"}, rows, 2, 4, 5, 6, 7, 8, 9))
	b.WriteByte('\n')
	say := func(yes bool, format string, args ...any) {
		if yes {
			fmt.Fprintf(&b, format+"\n", args...)
		}
	}
	say(v.ClientLimit > 0, "client limit: at %s the client was the bottleneck, so that nothing is known of the server from there on", load(v.ClientLimit))
	say(v.CutShort != "", "cut short (%s): the search has not ended", Escape(v.CutShort))
	say(v.MaxNotReached, "max not reached: the highest load that was tried is met too; start from a higher one")
	say(v.NonMonotone, "non-monotone: a load was met above one that was not, so that there is more than one limit")
	say(v.Cliff, "cliff: beyond the limit the figures leap; leave some distance to it")
	return strings.TrimSuffix(b.String(), "\n")
}
