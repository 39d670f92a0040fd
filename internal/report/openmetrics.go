package report

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Metric is one gauge of an OpenMetrics text.
type Metric struct {
	Name   string // of the family; it ends in its unit
	Unit   string // empty for none
	Help   string
	Labels string // of the sample, as [Labels] writes them
	Value  float64
}

// Labels writes names and values in turn as OpenMetrics has them, without the
// braces.
func Labels(pairs ...string) string {
	var b strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `%s="%s"`, pairs[i], labelValue.Replace(Escape(pairs[i+1])))
	}
	return b.String()
}

var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// family is the metrics of one name.
type family struct {
	unit, help string
	samples    map[string]string // by their labels
}

var (
	metaLine   = regexp.MustCompile(`^# (TYPE|UNIT|HELP) ([a-z_]+) (.*)$`)
	sampleLine = regexp.MustCompile(`^([a-z_]+)\{(.*)\} (\S+)$`)
)

// OpenMetrics adds metrics to a text that this function has written, or to none.
// The samples of the text whose labels begin with own are left out: the metrics
// stand in their place. Values have three significant digits, since what reads
// the text compares them as strings. Families and samples are in the order of
// their names. The error says which line is none of this function's.
//
// https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
func OpenMetrics(text []byte, own string, metrics []Metric) ([]byte, error) {
	all := map[string]*family{}
	of := func(name string) *family {
		if all[name] == nil {
			all[name] = &family{samples: map[string]string{}}
		}
		return all[name]
	}
	if err := readOpenMetrics(text, own, of); err != nil {
		return nil, err
	}
	for _, m := range metrics {
		if !finite(m.Value) {
			continue
		}
		f := of(m.Name)
		f.unit, f.help = m.Unit, m.Help
		f.samples[m.Labels] = shortest(round(m.Value, 3))
	}
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		if len(f.samples) == 0 {
			continue
		}
		fmt.Fprintf(&b, "# TYPE %s gauge\n", name)
		if f.unit != "" {
			fmt.Fprintf(&b, "# UNIT %s %s\n", name, f.unit)
		}
		fmt.Fprintf(&b, "# HELP %s %s\n", name, f.help)
		for _, labels := range slices.Sorted(maps.Keys(f.samples)) {
			fmt.Fprintf(&b, "%s{%s} %s\n", name, labels, f.samples[labels])
		}
	}
	b.WriteString("# EOF\n")
	return b.Bytes(), nil
}

// readOpenMetrics takes a text in.
func readOpenMetrics(text []byte, own string, of func(string) *family) error {
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "# EOF" {
			continue
		}
		if m := metaLine.FindStringSubmatch(line); m != nil {
			switch f := of(m[2]); m[1] {
			case "UNIT":
				f.unit = m[3]
			case "HELP":
				f.help = m[3]
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			return fmt.Errorf("line %d is none of ours: %s", n, Escape(line))
		}
		if m[2] != own && !strings.HasPrefix(m[2], own+",") {
			of(m[1]).samples[m[2]] = m[3]
		}
	}
	return nil
}
