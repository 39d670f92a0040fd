package perftest

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// The identity of the file that a search writes.
const (
	capacitySchema  = "slogate/maxload"
	capacityVersion = 1
)

// Capacity is what [MaxLoad] found. It is written beside the folders of its
// probes as maxload-<time>.json. Loads are in Unit.
type Capacity struct {
	Schema    string    `json:"schema"`
	Version   int       `json:"version"`
	Name      string    `json:"name"`
	Test      string    `json:"test"`
	Started   time.Time `json:"started"`
	Simulated bool      `json:"simulated"`
	// Unit of loads: "concurrency", or "request_rate" in requests a second.
	Unit string `json:"unit"`
	SLOs []SLO  `json:"slos"`
	// Lo is the highest load that was confirmed to meet the SLOs; 0 when none
	// was.
	Lo Value `json:"lo"`
	// Hi is the lowest load above Lo that did not meet them; absent when all
	// that were tried did.
	Hi Value `json:"hi"`
	// Best is the highest load whose figures met them in a short probe, which
	// claims too much; 0 when none did.
	Best Value `json:"best"`
	// Goodput is the requests a second, at Lo, that kept each limit that the
	// SLOs have on a request; absent without a Lo.
	Goodput Value `json:"goodput_per_s"`
	// Binding is the objective that is nearest to its limit at Lo.
	Binding string `json:"binding"`
	// MaxNotReached says that the search ended at the highest load that it may
	// try, 1,024 times the first.
	MaxNotReached bool `json:"max_not_reached"`
	// NonMonotone says that a load was met above one that was not: the server
	// does not do worse with every load more, and there is more than one limit.
	NonMonotone bool `json:"non_monotone"`
	// Cliff says that the binding figure leaps at the limit by more than three
	// standard errors: a little more load is far too much.
	Cliff bool `json:"cliff"`
	// ClientLimit is the load at which the client was the bottleneck, which
	// ended the search; 0 when it never was.
	ClientLimit Value `json:"client_limit"`
	// CutShort says what ended the search early: "deadline", "interrupted" or, where
	// shards meet, "lost shard".
	CutShort string  `json:"cut_short,omitempty"`
	Probes   []Probe `json:"probes"` // in their order

	// Result is that of the run that confirmed Lo; nil without one.
	Result *Result `json:"-"`
	// File that the search was written to; empty when it could not be, and in a
	// shard other than the first.
	File string `json:"-"`

	elsewhere string
}

// Probe is one run of a search.
type Probe struct {
	Load    Value `json:"load"`
	Confirm bool  `json:"confirm"` // a long run that has to prove the SLOs; else its figures decide
	// Outcome is PASS where the load is met; INVALID where the client was the
	// bottleneck.
	Outcome     Outcome   `json:"outcome"`
	Reason      string    `json:"reason"` // why it is no PASS
	Saturated   bool      `json:"saturated"`
	Requests    int       `json:"requests"`
	Failed      int       `json:"failed"`
	RequestRate Value     `json:"requests_per_s"`
	OutputRate  Value     `json:"output_tokens_per_s"`
	TTFTp99     Value     `json:"ttft_p99_s"`
	TPOTMean    Value     `json:"tpot_mean_s"`
	Binding     string    `json:"binding"` // the objective nearest to its limit, or farthest beyond it
	Verdicts    []Verdict `json:"verdicts"`
	Dir         string    `json:"dir"` // of its result
}

// Elsewhere says where the verdict on c is, in a process that is a shard of a job
// other than its first (see package perftest/cluster): there c is what shard 0 has
// found, and every assertion on it passes. Everywhere else it is empty.
func (c *Capacity) Elsewhere() string { return c.elsewhere }

// confirming is the position of the probe that Lo stands on; -1 without one.
func (c *Capacity) confirming() int {
	last := -1
	for i, p := range c.Probes {
		if p.Confirm && p.Load == c.Lo && p.Outcome == Pass {
			last = i
		}
	}
	return last
}

// Confirmed reports whether a load was confirmed to meet the SLOs.
func (c *Capacity) Confirmed() bool { return c.Lo > 0 }

// take sets what the search found.
func (c *Capacity) take(f stats.Found, runs []*Result, slos []SLO) {
	c.Lo, c.Best, c.ClientLimit = Value(f.Lo), Value(f.Best), Value(f.ClientLimit)
	c.Hi, c.Goodput = Absent, Absent
	if !math.IsInf(f.Hi, 0) {
		c.Hi = Value(f.Hi)
	}
	c.MaxNotReached, c.NonMonotone, c.Cliff = f.MaxNotReached, f.NonMonotone, f.Cliff
	if i := c.confirming(); i >= 0 {
		c.Result, c.Binding = runs[i], c.Probes[i].Binding
		c.Goodput = runs[i].perWindow(runs[i].good(requestLimits(slos)).good)
	}
	if n := len(runs); n > 0 {
		c.Simulated = runs[n-1].Simulated
		c.save(runs[0])
	}
}

// requestLimits are what a request has to keep, by the objectives on times.
func requestLimits(slos []SLO) (l Limits) {
	for _, s := range slos {
		if s.Metric == Goodput || s.Metric == GoodputRate {
			return s.Limits
		}
		if s.lower() {
			continue
		}
		limit := time.Duration(math.Round(s.Limit * 1e9))
		switch s.Metric {
		case TTFT:
			l.TTFT = limit
		case TTFA:
			l.TTFA = limit
		case TPOT:
			l.TPOT = limit
		case Latency:
			l.Latency = limit
		case Response:
			l.Response = limit
		}
	}
	return l
}

// save writes the search beside the folders of its probes.
func (c *Capacity) save(first *Result) {
	if first.Dir == "" {
		return
	}
	data, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return
	}
	// <results>/<name>/<load>/<time>
	name := filepath.Join(filepath.Dir(filepath.Dir(first.Dir)), "maxload-"+filepath.Base(first.Dir)+".json")
	if os.WriteFile(name, append(data, '\n'), 0o644) == nil {
		c.File = name
	}
}

// line is the probe in a line.
func (p *Probe) line(unit string) string {
	kind := "probe"
	if p.Confirm {
		kind = "confirming run"
	}
	text := fmt.Sprintf("%s at %s %.4g: %s, TTFT p99 %s, TPOT mean %s", kind, unit, float64(p.Load), p.Outcome, report.Seconds.Format(float64(p.TTFTp99)), report.Seconds.Format(float64(p.TPOTMean)))
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return report.Escape(text)
}

// show logs the search, and shows it on a terminal.
func (c *Capacity) show(t testing.TB) {
	t.Helper()
	text := c.Table()
	if c.File != "" {
		text += "\nresult: " + c.File
	}
	t.Log(text)
	notesOf(t).text(text)
	if !testing.Verbose() {
		report.ToTerminal(text + "\n\n")
	}
	t.Attr("perftest.max_load", fmt.Sprintf("%g", float64(c.Lo)))
	if c.CutShort != "" {
		t.Errorf("%s: the search was cut short (%s) after %d probes", report.Escape(c.Name), c.CutShort, len(c.Probes))
	}
}

// Table shows the search: what was found, and each probe.
func (c *Capacity) Table() string {
	v := report.CapacityView{
		Name: c.Name, Simulated: c.Simulated, Rate: c.Unit == string(RequestRate), CutShort: c.CutShort,
		Lo: float64(c.Lo), Hi: float64(c.Hi), Best: float64(c.Best), Goodput: float64(c.Goodput), Binding: c.Binding, ClientLimit: float64(c.ClientLimit),
		MaxNotReached: c.MaxNotReached, NonMonotone: c.NonMonotone, Cliff: c.Cliff,
	}
	for _, p := range c.Probes {
		v.Probes = append(v.Probes, report.Probe{
			Load: float64(p.Load), Confirm: p.Confirm, Outcome: string(p.Outcome), Saturated: p.Saturated, Requests: p.Requests, Failed: p.Failed,
			RequestRate: float64(p.RequestRate), OutputRate: float64(p.OutputRate), TTFTp99: float64(p.TTFTp99), TPOT: float64(p.TPOTMean), Binding: p.Binding,
		})
	}
	return report.Capacity(v)
}
