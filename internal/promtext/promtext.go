// Package promtext reads the text in which servers show their metrics: the
// Prometheus exposition format 0.0.4, and what OpenMetrics adds to a line.
//
// It is own code since the library that reads it, prometheus/common/expfmt,
// brings protobuf and half a dozen modules into every test that imports
// perftest; the tests here hold it against that library. What is wanted of a
// scrape is a dozen of thousands of lines, so names are looked at before
// anything else of a line is.
package promtext

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Sample is one line's number.
type Sample struct {
	Name   string
	Labels []Label // in order of their names
	// Counter says that the number only grows: that of a counter, or a count
	// or sum of a histogram or summary.
	Counter bool
	Value   float64 // NaN and infinities where the server says so
}

// Label is a name and its value, which may be any valid UTF-8.
type Label struct{ Name, Value string }

// Series is the sample's name with its labels, as PromQL writes it:
// vllm:num_requests_waiting{engine="0"}.
func (s *Sample) Series() string {
	if len(s.Labels) == 0 {
		return s.Name
	}
	b := append([]byte(s.Name), '{')
	for i, l := range s.Labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, l.Name...), '=', '"')
		b = append(append(b, escaper.Replace(l.Value)...), '"')
	}
	return string(append(b, '}'))
}

var escaper = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// Parse hands out the samples of text whose name is wanted. It stops at the
// first line that is none, with its number; lines of other names are not read
// further than their name.
func Parse(text []byte, wanted func(name string) bool, add func(Sample)) error {
	p := parser{wanted: wanted, add: add, kinds: map[string]string{}}
	for n := 1; len(text) > 0; n++ {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		text = rest
		if err := p.line(string(bytes.TrimSpace(line))); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

type parser struct {
	wanted func(string) bool
	add    func(Sample)
	kinds  map[string]string // of the families, by name
}

// maxKinds bounds the families that are remembered.
const maxKinds = 20_000

func (p *parser) line(s string) error {
	if s == "" {
		return nil
	}
	if s[0] == '#' {
		if f := strings.Fields(s); len(f) == 4 && f[0] == "#" && f[1] == "TYPE" && len(p.kinds) < maxKinds {
			p.kinds[unquoted(f[2])] = f[3]
		}
		return nil
	}
	var m Sample
	n := nameEnd(s)
	m.Name, s = s[:n], s[n:]
	if m.Name != "" && !p.wanted(m.Name) {
		return nil
	}
	var err error
	if s = skip(s); strings.HasPrefix(s, "{") {
		if s, err = m.labels(s[1:]); err != nil {
			return err
		}
	}
	if m.Name == "" {
		return errors.New("no name of a metric")
	}
	if !p.wanted(m.Name) {
		return nil
	}
	fields := strings.Fields(s) // value, perhaps a time and an exemplar
	if len(fields) == 0 {
		return errors.New("no value")
	}
	if m.Value, err = strconv.ParseFloat(fields[0], 64); err != nil && !errors.Is(err, strconv.ErrRange) {
		return fmt.Errorf("value %.50q is no number", fields[0])
	}
	m.Counter = p.counter(m.Name)
	p.add(m)
	return nil
}

// counter reports whether the numbers under a name only grow.
func (p *parser) counter(name string) bool {
	if p.kinds[name] == "counter" {
		return true
	}
	for _, suffix := range []string{"_total", "_sum", "_count", "_bucket"} {
		family, ok := strings.CutSuffix(name, suffix)
		if !ok {
			continue
		}
		switch p.kinds[family] { // OpenMetrics names a counter without its suffix
		case "counter":
			return suffix == "_total"
		case "histogram":
			return suffix != "_total"
		case "summary":
			return suffix == "_sum" || suffix == "_count"
		}
		// Untyped: the suffix that only counters are given has to do.
		return suffix == "_total" && (p.kinds[name] == "" || p.kinds[name] == "untyped" || p.kinds[name] == "unknown")
	}
	return false
}

// labels reads what is between the braces, and gives what follows them.
func (m *Sample) labels(s string) (string, error) {
	for {
		if s = skip(s); strings.HasPrefix(s, "}") {
			break
		}
		name, rest, err := labelName(s)
		if err != nil {
			return "", err
		}
		quoted := strings.HasPrefix(s, `"`)
		if s = skip(rest); strings.HasPrefix(s, "=") {
			value, rest, err := quotedText(skip(s[1:]))
			if err != nil {
				return "", fmt.Errorf("label %.50q: %w", name, err)
			}
			m.Labels = append(m.Labels, Label{name, value})
			s = skip(rest)
		} else if quoted && m.Name == "" && len(m.Labels) == 0 {
			m.Name = name // a name that is not of the usual letters stands in quotes
		} else {
			return "", fmt.Errorf("label %.50q has no value", name)
		}
		if strings.HasPrefix(s, ",") {
			s = s[1:]
		} else if !strings.HasPrefix(s, "}") {
			return "", errors.New("labels without an end")
		}
	}
	m.Sort()
	return s[1:], nil
}

func labelName(s string) (name, rest string, err error) {
	if strings.HasPrefix(s, `"`) {
		return quotedText(s)
	}
	n := nameEnd(s)
	if n == 0 {
		return "", "", errors.New("no name of a label")
	}
	return s[:n], s[n:], nil
}

// quotedText reads a text in quotes, of which \\, \" and \n are escaped.
func quotedText(s string) (text, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		return "", "", errors.New("no text in quotes")
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			if !utf8.ValidString(b.String()) {
				return "", "", errors.New("text that is no UTF-8")
			}
			return b.String(), s[i+1:], nil
		case c != '\\':
			b.WriteByte(c)
		case i+1 < len(s) && (s[i+1] == '\\' || s[i+1] == '"'):
			i++
			b.WriteByte(s[i])
		case i+1 < len(s) && s[i+1] == 'n':
			i++
			b.WriteByte('\n')
		default:
			return "", "", errors.New("a backslash before what needs none")
		}
	}
	return "", "", errors.New("text without its end")
}

func unquoted(s string) string {
	if text, _, err := quotedText(s); err == nil {
		return text
	}
	return s
}

// nameEnd is the length of the name that s begins with.
func nameEnd(s string) int {
	i := 0
	for i < len(s) && (s[i] == '_' || s[i] == ':' || 'a' <= s[i] && s[i] <= 'z' || 'A' <= s[i] && s[i] <= 'Z' || i > 0 && '0' <= s[i] && s[i] <= '9') {
		i++
	}
	return i
}

func skip(s string) string { return strings.TrimLeft(s, " \t") }

// ParseSeries reads a name, or a name with labels as [Sample.Series] writes it.
func ParseSeries(s string) (Sample, error) {
	n := nameEnd(s)
	m := Sample{Name: s[:n]}
	rest := skip(s[n:])
	if strings.HasPrefix(rest, "{") {
		var err error
		if rest, err = m.labels(rest[1:]); err != nil {
			return Sample{}, err
		}
	}
	switch {
	case m.Name == "":
		return Sample{}, errors.New("no name of a metric")
	case skip(rest) != "":
		return Sample{}, fmt.Errorf("%.50q follows its end", rest)
	}
	return m, nil
}

// Has reports whether s has the name and all the labels of pattern.
func (s *Sample) Has(pattern *Sample) bool {
	if s.Name != pattern.Name {
		return false
	}
	for _, l := range pattern.Labels {
		if !slices.Contains(s.Labels, l) {
			return false
		}
	}
	return true
}

// Sort puts the labels in the order of their names.
func (s *Sample) Sort() {
	slices.SortFunc(s.Labels, func(a, b Label) int { return strings.Compare(a.Name, b.Name) })
}
