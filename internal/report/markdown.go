package report

import (
	"fmt"
	"strings"
	"unicode"
)

// StepView is a test's part of a CI step's summary.
type StepView struct {
	Test     string
	Failed   bool
	Verdicts []VerdictsView // of its runs
	Changes  []ChangesView  // its comparisons with a baseline
	// Notes are lines of their own, such as why a run could not be made.
	Notes []string
	// Details are texts of fixed width, such as the summary of a run; they are
	// folded.
	Details []string
}

// Markdown shows v as a section of GitHub's Markdown: the verdict tables, the
// changes against the baseline, and the details folded. Without the details it
// is short; so is left out what does not fit into most bytes: first the
// details, then all but the heading. It is empty when not even that fits.
func Markdown(v StepView, most int) string {
	word := "PASS"
	if v.Failed {
		word = "FAIL"
	}
	head := fmt.Sprintf("### %s %s%s\n\n", word, inMarkdown(Escape(v.Test)), inMarkdown(v.marks()))
	var b strings.Builder
	for _, n := range v.Notes {
		fmt.Fprintf(&b, "%s\n\n", inMarkdown(Escape(n)))
	}
	for _, one := range v.Verdicts {
		markdownVerdicts(&b, v.Test, one)
	}
	for _, one := range v.Changes {
		markdownChanges(&b, one)
	}
	short := head + b.String()
	for _, d := range v.Details {
		fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n<pre>\n%s\n</pre>\n\n</details>\n\n", inMarkdown(Escape(firstLine(d))), preformatted(d))
	}
	for _, s := range []string{head + b.String(), short, head} {
		if len(s) <= most {
			return s
		}
	}
	return ""
}

// marks are those of its runs.
func (v StepView) marks() string {
	for _, one := range v.Verdicts {
		if m := marks(one.Simulated, one.Partial); m != "" {
			return " " + m
		}
	}
	return ""
}

func markdownVerdicts(b *strings.Builder, test string, v VerdictsView) {
	if len(v.Verdicts) == 0 {
		return
	}
	if v.Scenario != test {
		b.WriteString(inMarkdown(Escape(v.Scenario)) + ", ")
	}
	b.WriteString(strings.Trim(requests(v), "()") + "\n\n")
	b.WriteString("| verdict | objective | measured | off by | bound | samples | over | evidence |\n|---|---|--:|--:|--:|---|---|---|\n")
	for _, d := range v.Verdicts {
		word := inMarkdown(d.Outcome)
		if d.Outcome != Pass {
			word = "**" + word + "**"
		}
		markdownRow(b, word, inMarkdown(d.objective()), inMarkdown(d.measured()), inMarkdown(d.offBy()), inMarkdown(d.bound()), inMarkdown(d.samples()), inMarkdown(d.over()), inMarkdown(d.proof()))
	}
	b.WriteByte('\n')
	lines := false
	for _, d := range v.Verdicts {
		word, reason := d.why()
		if reason != "" {
			fmt.Fprintf(b, "- %s %s: %s\n", inMarkdown(word), inMarkdown(d.objective()), inMarkdown(Escape(reason)))
			lines = true
		}
	}
	if lines {
		b.WriteByte('\n')
	}
}

func markdownChanges(b *strings.Builder, v ChangesView) {
	fmt.Fprintf(b, "%s\n\n", inMarkdown(v.headline()))
	if len(v.Changes) > 0 {
		b.WriteString("| outcome | figure | baseline | now | change | bounds |\n|---|---|--:|--:|--:|---|\n")
		for _, c := range v.Changes {
			cells := c.cells()
			for i := range cells {
				cells[i] = inMarkdown(cells[i])
			}
			markdownRow(b, cells[:]...)
		}
		b.WriteByte('\n')
	}
}

func markdownRow(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// inMarkdown makes one line of text stand in Markdown as it is: what means something
// in Markdown or in HTML is written as an entity, and so is what makes a link of a
// bare address: a server's text links to nothing.
func inMarkdown(s string) string { return markdownText.Replace(s) }

var markdownText = strings.NewReplacer(
	"&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "|", "&#124;", "`", "&#96;", "*", "&#42;", "[", "&#91;", "]", "&#93;",
	"~", "&#126;", `\`, "&#92;", "!", "&#33;", "#", "&#35;", "@", "&#64;", "$", "&#36;", "_", "&#95;",
	"://", "&#58;//", "www.", "www&#46;",
)

// preformatted makes text stand within <pre> as it is; its lines stay.
func preformatted(s string) string {
	return htmlText.Replace(strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s))
}

var htmlText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")
