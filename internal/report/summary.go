package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Percentiles are the rows of the percentile table.
func Percentiles() [10]float64 {
	return [10]float64{10, 25, 50, 66, 75, 80, 90, 95, 98, 99}
}

// Dist is one quantity over the successes of a run. Zero means that nothing
// was measured.
type Dist struct {
	Samples int
	Mean    float64
	At      [10]float64 // at [Percentiles], in their order
}

func (d Dist) mean(u Unit) string {
	if d.Samples == 0 {
		return absent
	}
	return u.Format(d.Mean)
}

// Rates are the throughputs of a run; NaN for what is not known.
type Rates struct {
	Requests float64 // successes a second
	Output   float64 // output tokens a second
	Total    float64 // input and output tokens a second
}

// SummaryView is what [Summary] shows.
type SummaryView struct {
	Scenario  string
	Model     string
	Server    string // its address, without secrets
	Simulated bool
	Partial   string // why the run is not whole; empty when it is

	Duration    float64 // seconds from the first sending to the last end
	Concurrency int     // requests in flight that were asked for; 0 in an open loop
	// RequestRate is the rate asked for, per second; 0 in a closed loop, which
	// asks for none, and where it varies.
	RequestRate float64

	Requests, Succeeded, Failed, Cancelled int

	Rates  Rates
	Steady *Rates // the part of the run at full concurrency; nil when unknown
	// Accelerators that serve the model; 0 when unknown, and no figures for
	// each of them.
	Accelerators int

	Latency, TTFT, TPOT, ITL  Dist // seconds; an ITL sample is a gap
	Ends                      Ends // what is kept out of all other figures
	InputTokens, OutputTokens Dist // a request
	Events                    Dist // data events a request
	CachedTokens              Dist // of the input, a request; shown when known

	// Of embeddings and rerank; shown when there are items.
	ItemRate, InputRate float64 // items and input tokens a second

	// Of conversations; shown when there are some.
	Conversations                int
	FirstTurnTTFT, LaterTurnTTFT Dist
	OutputSpeed, TotalSpeed      Dist // tokens a second of one request

	Failures []Failure
	Warnings []string
	Health   []string // how the client did, a line each
}

// Ends are the start burst and the padded end of a closed loop.
type Ends struct {
	Start, Padding int // requests
	// Distributions over the start burst and the measured requests together.
	TTFT, TPOT, Latency Dist
}

// Failure is one class of failures.
type Failure struct {
	Class   string
	Count   int
	Example string // the message of one of them
}

// maxLines bounds the failures and the warnings that a summary shows.
const maxLines = 12

// Summary shows a run: totals and means in the rows of EvalScope's summary,
// the failures by class, the warnings, and the percentiles.
func Summary(v SummaryView) string {
	var b strings.Builder
	b.WriteString(summaryTitle(v) + "\n" + grid(nil, totals(v), 2) + "\n")
	if len(v.Failures) > 0 {
		b.WriteString("\nFailures, with one example of each class\n")
		rows := make([]table.Row, 0, maxLines)
		for _, f := range v.Failures[:min(len(v.Failures), maxLines)] {
			rows = append(rows, table.Row{f.Count, Escape(f.Class), Escape(f.Example)})
		}
		b.WriteString(grid(nil, rows, 1) + "\n")
		more(&b, len(v.Failures)-maxLines)
	}
	if len(v.Warnings) > 0 {
		b.WriteString("\nWarnings\n")
		for _, w := range v.Warnings[:min(len(v.Warnings), maxLines)] {
			b.WriteString("- " + Escape(w) + "\n")
		}
		more(&b, len(v.Warnings)-maxLines)
	}
	b.WriteString("\n" + percentiles(v) + v.Ends.table())
	if len(v.Health) > 0 {
		b.WriteString("\n\nThe client's health\n")
		for _, l := range v.Health {
			b.WriteString("- " + Escape(l) + "\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func more(b *strings.Builder, n int) {
	if n > 0 {
		fmt.Fprintf(b, "and %d more\n", n)
	}
}

func summaryTitle(v SummaryView) string {
	s := "Summary"
	if v.Scenario != "" {
		s += " of " + Escape(v.Scenario)
	}
	var on []string
	if v.Model != "" {
		on = append(on, Escape(v.Model))
	}
	if v.Server != "" {
		on = append(on, "at "+Escape(v.Server))
	}
	if len(on) > 0 {
		s += ": " + strings.Join(on, " ")
	}
	if m := marks(v.Simulated, v.Partial); m != "" {
		s += " " + m
	}
	return s
}

// totals are the rows above the percentiles.
func totals(v SummaryView) []table.Row {
	concurrency, rate := fmt.Sprint(v.Concurrency), "none (closed loop)"
	if v.Concurrency == 0 {
		concurrency, rate = "open loop", "by its schedule"
	}
	if v.RequestRate > 0 {
		rate = RequestRate.Format(v.RequestRate)
	}
	rows := []table.Row{
		{"Test duration", Duration(v.Duration)},
		{"Asked concurrency", concurrency},
		{"Asked request rate", rate},
		{"Requests", v.Requests},
		{"Succeeded", v.Succeeded},
		{"Failed", v.Failed},
		{"Cancelled", v.Cancelled},
		{"Output token throughput", TokenRate.Format(v.Rates.Output)},
		{"Total token throughput", TokenRate.Format(v.Rates.Total)},
		{"Request throughput", RequestRate.Format(v.Rates.Requests)},
	}
	if s := v.Steady; s != nil {
		rows = append(rows,
			table.Row{"Output token throughput, steady", TokenRate.Format(s.Output)},
			table.Row{"Total token throughput, steady", TokenRate.Format(s.Total)},
			table.Row{"Request throughput, steady", RequestRate.Format(s.Requests)},
		)
	}
	if n := v.Accelerators; n > 0 {
		rows = append(rows,
			table.Row{"Accelerators", n},
			table.Row{"Output throughput per accelerator", TokenRate.Format(v.Rates.Output / float64(n))},
			table.Row{"Total throughput per accelerator", TokenRate.Format(v.Rates.Total / float64(n))},
		)
	}
	if v.ItemRate > 0 {
		rows = append(rows,
			table.Row{"Item throughput", Number(v.ItemRate) + " items/s"},
			table.Row{"Input token throughput", TokenRate.Format(v.InputRate)},
		)
	}
	if v.Conversations > 0 {
		rows = append(rows,
			table.Row{"Conversations", v.Conversations},
			table.Row{"Mean TTFT of first turns", v.FirstTurnTTFT.mean(Seconds)},
			table.Row{"Mean TTFT of later turns", v.LaterTurnTTFT.mean(Seconds)},
		)
	}
	if v.CachedTokens.Samples > 0 {
		rows = append(rows, table.Row{"Cached input tokens per request", v.CachedTokens.mean(Tokens)})
	}
	return append(rows,
		table.Row{"Mean latency", v.Latency.mean(Seconds)},
		table.Row{"Mean TTFT", v.TTFT.mean(Seconds)},
		table.Row{"Mean TPOT", v.TPOT.mean(Seconds)},
		table.Row{"Mean ITL", v.ITL.mean(Seconds)},
		table.Row{"Input tokens per request", v.InputTokens.mean(Tokens)},
		table.Row{"Output tokens per request", v.OutputTokens.mean(Tokens)},
		table.Row{"Events per request", v.Events.mean(Tokens)},
	)
}

// percentiles is the table below the totals, with its footnote.
func percentiles(v SummaryView) string {
	columns := []struct {
		name string
		dist Dist
		unit Unit
	}{
		{"TTFT", v.TTFT, Seconds},
		{"ITL", v.ITL, Seconds},
		{"TPOT", v.TPOT, Seconds},
		{"latency", v.Latency, Seconds},
		{"input tokens", v.InputTokens, Tokens},
		{"output tokens", v.OutputTokens, Tokens},
		{"output tok/s", v.OutputSpeed, TokenRate},
		{"total tok/s", v.TotalSpeed, TokenRate},
	}
	header := table.Row{"percentile"}
	right := []int{1}
	for i, c := range columns {
		header = append(header, c.name)
		right = append(right, i+2)
	}
	var rows []table.Row
	marked := false
	for i, p := range Percentiles() {
		row := table.Row{Number(p) + "%"}
		for _, c := range columns {
			cell := absent
			if c.dist.Samples > 0 {
				// The header says what a rate is counted in.
				cell = strings.TrimSuffix(c.unit.Format(c.dist.At[i]), c.unit.suffix())
			}
			// A blank holds the place of the mark, so that figures line up.
			mark := " "
			if cell != absent && !carries(c.dist.Samples, p) {
				mark, marked = "*", true
			}
			row = append(row, cell+mark)
		}
		rows = append(rows, row)
	}
	for i := 1; i < len(header); i++ {
		header[i] = header[i].(string) + " "
	}
	s := grid(header, rows, right...)
	if marked {
		s += "\n* too few samples for this percentile: it is little more than the largest value"
	}
	return s
}

// table shows the figures with the start burst in them.
func (e Ends) table() string {
	if e.Start == 0 {
		return ""
	}
	shown := []float64{50, 90, 95, 99}
	header := table.Row{"with the start", "mean"}
	at := Percentiles()
	for _, p := range shown {
		header = append(header, Number(p)+"%")
	}
	var rows []table.Row
	for _, d := range []struct {
		name string
		dist Dist
	}{{"TTFT", e.TTFT}, {"TPOT", e.TPOT}, {"latency", e.Latency}} {
		row := table.Row{d.name, d.dist.mean(Seconds)}
		for _, p := range shown {
			cell := absent
			if d.dist.Samples > 0 {
				cell = Seconds.Format(d.dist.At[slices.Index(at[:], p)])
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	s := fmt.Sprintf("\n\nKept out of all other figures: %s that the loop started with", count(e.Start, "request"))
	if e.Padding > 0 {
		s += fmt.Sprintf(", and %d that kept its slots busy to the end", e.Padding)
	}
	return s + "\n" + grid(header, rows, 2, 3, 4, 5, 6)
}

// carries reports whether n samples can carry percentile p: at least one of
// them has to be expected above it.
func carries(n int, p float64) bool {
	return float64(n) >= math.Ceil(100/(100-p))
}
