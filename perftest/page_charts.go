package perftest

import (
	"fmt"
	"math"
	"slices"

	"github.com/slogate/slogate/internal/report"
	fig "github.com/slogate/slogate/internal/report/figure"
	"github.com/slogate/slogate/internal/report/gather"
	"github.com/slogate/slogate/internal/report/page"
)

// of is a series' name: what it is, and of which run where there are several.
func (v *view) of(r *viewed, what string) string {
	switch {
	case len(v.runs) == 1:
		return what
	case what == "":
		return r.label
	}
	return r.label + " " + what
}

// limits are the lines of the objectives on a metric, each once.
func (v *view) limits(m Metric) (limits []fig.Limit) {
	seen := map[string]bool{}
	for _, r := range v.runs {
		for _, d := range r.Verdicts {
			if name := d.SLO.String(); d.SLO.Metric == m && !seen[name] {
				seen[name] = true
				limits = append(limits, fig.Limit{Y: d.SLO.Limit, Name: name})
			}
		}
	}
	return limits
}

// judged are the percentiles of a metric that objectives are about, so that
// their lines can be held against the right curve.
func (v *view) judged(m Metric) (percentiles []float64) {
	for _, r := range v.runs {
		for _, d := range r.Verdicts {
			if p, ok := d.SLO.Stat.percentile(); ok && d.SLO.Metric == m && !slices.Contains(percentiles, p) {
				percentiles = append(percentiles, p)
			}
		}
	}
	return percentiles
}

// curves are the percentile curves of the four times.
func (v *view) curves() []fig.Figure {
	at := fig.Axis{Label: "percentile", Unit: fig.Percentile, Tail: true}
	figures := []fig.Figure{
		{ID: "curve-ttft", Title: "TTFT", Limits: v.limits(TTFT)},
		{ID: "curve-tpot", Title: "TPOT", Limits: v.limits(TPOT)},
		{ID: "curve-itl", Title: "ITL", Limits: v.limits(ITL)},
		{ID: "curve-latency", Title: "Latency", Limits: v.limits(Latency)},
	}
	for i := range figures {
		f := &figures[i]
		f.X, f.Y = at, fig.Axis{Label: f.Title, Unit: fig.Seconds}
	}
	for k := range v.runs {
		r := &v.runs[k]
		var ys [4]fig.Values
		ys[0], ys[1], ys[2], ys[3] = r.gathered.Curves()
		for i := range figures {
			f := &figures[i]
			name := v.of(r, "")
			if name == "" {
				name = f.Title
			}
			f.Series = append(f.Series, fig.Series{Name: name, X: fig.Tails(), Y: ys[i], Color: k})
		}
	}
	return figures
}

// overTime are the charts over the run's time.
func (v *view) overTime() []fig.Figure {
	over := make([]gather.OverTime, len(v.runs))
	for i, r := range v.runs {
		over[i] = r.gathered.OverTime()
	}
	chart := func(id, title, caption string, unit fig.Unit, add func(f *fig.Figure, r *viewed, o *gather.OverTime, color int)) fig.Figure {
		f := fig.Figure{ID: "time-" + id, Title: title, Caption: caption, X: fig.Axis{Label: "time since the start of the run", Unit: fig.Seconds}, Y: fig.Axis{Label: title, Unit: unit}}
		if len(v.runs) == 1 {
			f.Caption += fmt.Sprintf(" Slices of %s.", report.Duration(over[0].Width))
			if w := over[0].Warmup; w > 0 {
				f.Shades = []fig.Shade{{From: 0, To: w, Name: "warm-up"}}
			}
		}
		for i := range v.runs {
			add(&f, &v.runs[i], &over[i], i)
		}
		return f
	}
	line := func(name string, o *gather.OverTime, y fig.Values, color int, dash bool) fig.Series {
		return fig.Series{Name: name, X: o.Mid, Y: y, Color: color, Dash: dash}
	}
	// failures stand at the foot of a chart, at their moments.
	failures := func(f *fig.Figure, r *viewed, o *gather.OverTime) {
		if len(o.Failure) > 0 {
			f.Series = append(f.Series, fig.Series{Name: v.of(r, "failures"), X: o.Failure, Y: make(fig.Values, len(o.Failure)), Color: fig.Bad, Points: true})
		}
	}
	quantiles := func(of func(*gather.OverTime) [2]fig.Values) func(*fig.Figure, *viewed, *gather.OverTime, int) {
		return func(f *fig.Figure, r *viewed, o *gather.OverTime, color int) {
			q := of(o)
			f.Series = append(f.Series, line(v.of(r, "p50"), o, q[0], color, false), line(v.of(r, "p99"), o, q[1], color, true))
			failures(f, r, o)
		}
	}
	named := func(r *viewed, alone string) string {
		if len(v.runs) == 1 {
			return alone
		}
		return r.label
	}
	return []fig.Figure{
		chart("requests", "Request rate", "Requests sent, and answers that ended well, a second.", fig.Requests, func(f *fig.Figure, r *viewed, o *gather.OverTime, color int) {
			f.Series = append(f.Series, line(v.of(r, "sent"), o, o.Sent, color, true), line(v.of(r, "succeeded"), o, o.Done, color, false))
			failures(f, r, o)
		}),
		chart("output", "Output rate", "Output tokens a second, at the moments when they arrived.", fig.Tokens, func(f *fig.Figure, r *viewed, o *gather.OverTime, color int) {
			f.Series = append(f.Series, line(named(r, "output"), o, o.Output, color, false))
		}),
		chart("flight", "Requests in flight", "Mean number of requests between their sending and their end.", fig.Count, func(f *fig.Figure, r *viewed, o *gather.OverTime, color int) {
			f.Series = append(f.Series, line(named(r, "in flight"), o, o.Flight, color, false))
		}),
		chart("ttft", "TTFT over time", "Of the successes, by their sending.", fig.Seconds, quantiles(func(o *gather.OverTime) [2]fig.Values { return o.TTFT })),
		chart("tpot", "TPOT over time", "Of the successes, by their sending.", fig.Seconds, quantiles(func(o *gather.OverTime) [2]fig.Values { return o.TPOT })),
	}
}

func (v *view) timelines() (all []fig.Timeline) {
	for i := range v.runs {
		t, leftOut := v.runs[i].gathered.Timeline()
		if len(t.Bars) == 0 {
			continue
		}
		t.ID, t.Title = fmt.Sprintf("timeline-%d", i), "Timeline"
		if len(v.runs) > 1 {
			t.Title += " of " + v.runs[i].label
		}
		t.Caption = "A bar a request: its wait in the client, the time to its first token, and the time from there to its end. Those that are in no figure, as of a warm-up, are pale. Drag to zoom, click for a request's figures."
		if leftOut > 0 {
			t.Caption += fmt.Sprintf(" It shows %d of %d requests, evenly chosen, with failures added.", len(t.Bars), len(t.Bars)+leftOut)
		}
		all = append(all, t)
	}
	return all
}

func (v *view) heats() (all []fig.Heat) {
	for i := range v.runs {
		h, ok := v.runs[i].gathered.Heat()
		if !ok {
			continue
		}
		h.ID, h.Title = fmt.Sprintf("heat-%d", i), "ITL"
		if len(v.runs) > 1 {
			h.Title += " of " + v.runs[i].label
		}
		h.Caption = "Gaps between token events of the successes, by the time at which they ended and by their length. The stronger the colour, the more gaps, on a logarithmic scale."
		all = append(all, h)
	}
	return all
}

// best is the level with the highest output (else request) rate of those that
// kept all objectives; -1 for none.
func (v *view) best() int {
	best := -1
	for i, r := range v.runs {
		passed := !r.missed && len(r.Verdicts) > 0
		for _, d := range r.Verdicts {
			passed = passed && d.Decided() == Pass
		}
		if passed && (best < 0 || v.throughput(i) > v.throughput(best)) {
			best = i
		}
	}
	return best
}

// throughput is what the levels are held against: tokens where all runs have
// some, else requests, a second.
func (v *view) throughput(i int) float64 {
	if v.tokens() {
		return float64(v.runs[i].Rates.Output)
	}
	return float64(v.runs[i].Rates.Requests)
}

func (v *view) tokens() bool {
	for _, r := range v.runs {
		if !r.Rates.Output.Known() || r.Rates.Output == 0 {
			return false
		}
	}
	return true
}

// levelFigures hold the runs' throughput against their latency.
func (v *view) levelFigures() []fig.Figure {
	if len(v.runs) < 2 {
		return nil
	}
	x := fig.Axis{Label: "output tokens a second", Unit: fig.Tokens}
	if !v.tokens() {
		x = fig.Axis{Label: "requests a second", Unit: fig.Requests}
	}
	best := v.best()
	level := func(id, title string, m Metric, of func(*Metrics) *Distribution) fig.Figure {
		f := fig.Figure{ID: "level-" + id, Title: title + " against throughput", X: x, Y: fig.Axis{Label: title, Unit: fig.Seconds}, Curve: true, Limits: v.limits(m),
			Caption: "A point a run, joined in their order. Red lines are the objectives'."}
		series := []fig.Series{{Name: "mean", Color: 0}, {Name: "p99", Color: 1, Dash: true}}
		percentiles := []float64{99}
		for _, p := range v.judged(m) {
			if p != 99 {
				percentiles = append(percentiles, p)
				series = append(series, fig.Series{Name: fig.Percentile.Format(p), Color: len(series) + 1, Dash: true})
			}
		}
		for i, r := range v.runs {
			ys := []Value{of(&r.Metrics).Mean}
			for _, p := range percentiles {
				ys = append(ys, of(&r.Metrics).P(p))
			}
			for k, y := range ys {
				series[k].X = append(series[k].X, v.throughput(i))
				series[k].Y = append(series[k].Y, float64(y))
				series[k].Labels = append(series[k].Labels, r.label)
			}
		}
		f.Series = series
		if best >= 0 && !math.IsNaN(series[0].Y[best]) {
			f.Series = append(f.Series, fig.Series{Name: "best that passes", Color: 2, Points: true, X: fig.Values{series[0].X[best]}, Y: fig.Values{series[0].Y[best]}})
		}
		return f
	}
	return []fig.Figure{
		level("ttft", "TTFT", TTFT, func(m *Metrics) *Distribution { return &m.TTFT }),
		level("tpot", "TPOT", TPOT, func(m *Metrics) *Distribution { return &m.TPOT }),
		level("latency", "Latency", Latency, func(m *Metrics) *Distribution { return &m.Latency }),
	}
}

func (v *view) levelNote() string {
	if len(v.runs) < 2 {
		return ""
	}
	if best := v.best(); best >= 0 {
		return "The run with the highest throughput of those that kept all their objectives: " + v.runs[best].label + "."
	}
	return "No run has kept all its objectives."
}

// peerTables are the other tools' readings, a table a run.
func (v *view) peerTables() (all []page.Table) {
	for i := range v.runs {
		p := v.runs[i].gathered.peers
		if len(p.Readings) == 0 {
			continue
		}
		t := page.Table{Caption: "Means, and p99 by each tool's own rule", Head: []string{"tool", "TTFT", "p99", "latency", "p99", "TPOT", "p99", "ITL", "p99", "why it differs"}}
		if len(v.runs) > 1 {
			t.Caption += ", of " + v.runs[i].label
		}
		for _, row := range p.rows() {
			cells := []page.Cell{text(row.Name)}
			for _, c := range row.Cells {
				cells = append(cells, number(report.Duration(c.Mean)), number(report.Duration(c.P99)))
			}
			t.Rows = append(t.Rows, append(cells, text(row.Why)))
		}
		all = append(all, t)
	}
	return all
}

func (v *view) peerNote() string {
	for _, r := range v.runs {
		if len(r.gathered.peers.Readings) == 0 {
			return fmt.Sprintf("Left out for runs of more than %d successes: Result.Peers gives them.", mostForPeers)
		}
	}
	return ""
}
