package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
)

// The outcomes of a [Verdict].
const (
	Pass         = "PASS"
	Fail         = "FAIL"
	Inconclusive = "INCONCLUSIVE"
	Invalid      = "INVALID"
)

// VerdictsView is what [Verdicts] shows.
type VerdictsView struct {
	Scenario  string
	Simulated bool
	Partial   string // why the run is not whole; empty when it is
	Requests  int    // measured requests of the run, failures included
	Failed    int    // of them
	Verdicts  []Verdict
	Result    string // path of the result's file; empty when there is none
	Command   string // command that runs it again or shows more; empty for none
}

// Verdict is one objective and how it was kept.
type Verdict struct {
	Outcome string  // what decides: Pass, Fail, Inconclusive or Invalid
	Tag     string  // of the requests that it is about; empty for all
	Metric  string  // as the field writes it: "TTFT", "goodput"
	Limits  []Limit // what a good request keeps, for goodput
	Stat    string  // "p99", "mean"; empty for a metric that is one number
	Op      string  // "<", "<=", ">=", ">"
	Unit    Unit
	Limit   float64
	// Measured is NaN when nothing was measured.
	Measured float64
	// Samples is the number of requests judged, Failed of which failed. Where
	// it counts something else, SampleUnit names it ("gaps"), and Failed is
	// still a number of requests.
	Samples, Failed int
	SampleUnit      string
	// Over of Samples miss the limit and Allowed may; both are shown only
	// when Counted is set.
	Over, Allowed int
	Counted       bool
	Reason        string // one line; shown for what is not a pass
	// Gate says that only a proof passes. Proof is what the evidence says and
	// Evidence that in a line; both are empty where nothing was tested.
	Gate     bool
	Proof    string
	Evidence string
	Bound    float64 // of the figure, on its bad side; NaN for none
	Binding  bool    // nearest to its limit, of all
}

// Limit is one of the limits that a good request keeps.
type Limit struct {
	Metric  string
	Seconds float64
}

// Verdicts shows the verdicts: one line when all of them pass, else a table
// with the reasons and where to look closer under it.
func Verdicts(v VerdictsView) string {
	n := map[string]int{}
	for _, d := range v.Verdicts {
		n[d.Outcome]++
	}
	if n[Pass] == len(v.Verdicts) && len(v.Verdicts) > 0 {
		return passLine(v)
	}

	var b strings.Builder
	title(&b, v, n)
	b.WriteByte('\n')
	rows := make([]table.Row, len(v.Verdicts))
	for i, d := range v.Verdicts {
		rows[i] = table.Row{Escape(d.Outcome), d.objective(), d.measured(), d.offBy(), d.bound(), d.samples(), d.over(), d.proof()}
	}
	if len(rows) > 0 {
		b.WriteString(grid(table.Row{"verdict", "objective", "measured", "off by", "bound", "samples", "over", "evidence"}, rows, 3, 4, 5))
		b.WriteByte('\n')
	}
	for _, d := range v.Verdicts {
		if word, reason := d.why(); reason != "" {
			fmt.Fprintf(&b, "%s %s: %s\n", Escape(word), d.objective(), Escape(reason))
		}
	}
	for _, d := range v.Verdicts {
		if d.Binding && len(v.Verdicts) > 1 {
			fmt.Fprintf(&b, "binding: %s\n", d.objective())
		}
	}
	var closer []string
	if v.Result != "" {
		closer = append(closer, "result "+Escape(v.Result))
	}
	if v.Command != "" {
		closer = append(closer, "run "+Escape(v.Command))
	}
	if len(closer) > 0 {
		b.WriteString("look closer: " + strings.Join(closer, "; ") + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// why is what a reader has to know of d beside its figures: under which word, and
// nothing of a proven pass.
func (d Verdict) why() (word, reason string) {
	word, reason = d.Outcome, d.Reason
	switch {
	case d.Outcome == Inconclusive:
		reason = d.Evidence
	case d.unproven() && d.Outcome != Invalid:
		word, reason = word+" (unproven)", strings.TrimPrefix(reason+"; "+d.Evidence, "; ")
		if d.Outcome == Pass {
			reason = d.Evidence
		}
	case d.Outcome == Pass:
		reason = ""
	}
	return word, reason
}

// Line is the verdict in one line: "FAIL TTFT p99 < 1s: measured 1.42s, bound
// 1.5s, 23 (10 allowed) of 1000 over, proven".
func (d Verdict) Line() string {
	parts := []string{"measured " + d.measured()}
	if b := d.bound(); b != absent {
		parts = append(parts, "bound "+b)
	}
	if d.Counted {
		parts = append(parts, fmt.Sprintf("%d of %d over, %d allowed", d.Over, d.Samples, d.Allowed))
	}
	if p := d.proof(); p != absent {
		parts = append(parts, p)
	}
	line := Escape(d.Outcome) + " " + d.objective() + ": " + strings.Join(parts, ", ")
	if d.Outcome == Invalid || d.Outcome == Inconclusive {
		_, reason := d.why()
		line = Escape(d.Outcome) + " " + d.objective() + ": " + Escape(reason)
	}
	return line
}

// title names the worst outcome, and how many objectives have which.
func title(b *strings.Builder, v VerdictsView, n map[string]int) {
	word := Invalid
	var parts []string
	of := " of " + slos(len(v.Verdicts))
	for _, o := range []struct{ outcome, says string }{{Fail, "missed"}, {Inconclusive, "not proven"}, {Invalid, "not judged"}} {
		if n[o.outcome] == 0 {
			continue
		}
		if len(parts) == 0 {
			word = o.outcome
		}
		parts = append(parts, fmt.Sprintf("%d%s %s", n[o.outcome], of, o.says))
		of = ""
	}
	if len(parts) == 0 {
		parts = append(parts, "no SLO was judged")
	}
	b.WriteString(word)
	if v.Scenario != "" {
		b.WriteString(" " + Escape(v.Scenario))
	}
	b.WriteString(": " + strings.Join(parts, ", ") + " " + requests(v))
	if m := marks(v.Simulated, v.Partial); m != "" {
		b.WriteString(" " + m)
	}
}

func passLine(v VerdictsView) string {
	parts, proven := make([]string, len(v.Verdicts)), " proven"
	for i, d := range v.Verdicts {
		parts[i] = d.name() + " " + d.measured() + " " + Escape(d.Op) + " " + d.Unit.Limit(d.Limit)
		switch {
		case d.unproven():
			parts[i] += " (unproven: " + Escape(d.Evidence) + ")"
		case d.Gate && d.bound() != absent:
			parts[i] += " (bound " + d.bound() + ")"
		}
		if !d.Gate {
			proven = ""
		}
	}
	s := fmt.Sprintf("PASS %s%s: %s %s", slos(len(parts)), proven, strings.Join(parts, ", "), requests(v))
	if m := marks(v.Simulated, v.Partial); m != "" {
		s += " " + m
	}
	return s
}

func requests(v VerdictsView) string {
	return fmt.Sprintf("(%s, %d failed)", count(v.Requests, "request"), v.Failed)
}

func slos(n int) string { return count(n, "SLO") }

// count is a number with its noun: "1 SLO", "4 SLOs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// name is the figure that the objective is about: "TTFT p99",
// "goodput(TTFT < 1s, TPOT < 50ms)".
func (d Verdict) name() string {
	s := Escape(d.Metric)
	if d.Tag != "" {
		s = Escape(d.Tag) + ": " + s
	}
	if len(d.Limits) > 0 {
		parts := make([]string, len(d.Limits))
		for i, l := range d.Limits {
			parts[i] = Escape(l.Metric) + " < " + Seconds.Limit(l.Seconds)
		}
		s += "(" + strings.Join(parts, ", ") + ")"
	}
	if d.Stat != "" {
		s += " " + Escape(d.Stat)
	}
	return s
}

func (d Verdict) objective() string {
	return d.name() + " " + Escape(d.Op) + " " + d.Unit.Limit(d.Limit)
}

func (d Verdict) measured() string { return d.Unit.Beside(d.Measured, d.Limit) }

// unproven reports whether the evidence was looked at and is not enough.
func (d Verdict) unproven() bool { return d.Proof == Inconclusive }

// bound is up to (or from) where the figure may lie, by the evidence.
func (d Verdict) bound() string {
	if d.Proof == "" || !finite(d.Bound) {
		return absent
	}
	return d.Unit.Format(d.Bound)
}

// proof says what the evidence is worth.
func (d Verdict) proof() string {
	switch d.Proof {
	case Pass, Fail:
		return "proven"
	case Inconclusive:
		return "unproven"
	}
	return absent
}

// offBy is how far the measured figure lies on the wrong side of the limit,
// and "-" when it does not: an SLO may be missed by failures alone.
func (d Verdict) offBy() string {
	diff := d.Measured - d.Limit
	wrong := false
	switch d.Op {
	case "<":
		wrong = diff >= 0
	case "<=":
		wrong = diff > 0
	case ">=":
		wrong = diff < 0
	case ">":
		wrong = diff <= 0
	}
	if d.Outcome == Pass || !wrong || !finite(diff) {
		return absent
	}
	sign := "+"
	if diff < 0 {
		sign = "-"
	}
	diff = math.Abs(diff)
	s := sign + d.Unit.Format(diff)
	if d.Unit == Share {
		// A difference of shares is in percentage points, and no percent of it
		// is given: the two would be mixed up.
		return sign + strings.TrimSuffix(Percent(diff), "%") + " points"
	}
	if d.Limit > 0 {
		if ratio := diff / d.Limit; ratio < 10 {
			s += " (" + sign + Percent(ratio) + ")"
		} else { // a percentage of that size says nothing
			s += " (" + Number(d.Measured/d.Limit) + " times)"
		}
	}
	return s
}

func (d Verdict) samples() string {
	switch {
	case d.SampleUnit != "" && d.Failed > 0:
		return fmt.Sprintf("%d %s, %s failed", d.Samples, Escape(d.SampleUnit), count(d.Failed, "request"))
	case d.SampleUnit != "":
		return fmt.Sprintf("%d %s", d.Samples, Escape(d.SampleUnit))
	case d.Failed == 0:
		return fmt.Sprint(d.Samples)
	}
	return fmt.Sprintf("%d of %d, %d failed", d.Samples-d.Failed, d.Samples, d.Failed)
}

func (d Verdict) over() string {
	if !d.Counted {
		return absent
	}
	return fmt.Sprintf("%d (%d allowed)", d.Over, d.Allowed)
}
