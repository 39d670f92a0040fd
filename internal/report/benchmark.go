package report

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// BenchmarkView is a run as benchmark lines show it.
type BenchmarkView struct {
	Config  [][2]string // keys in lower case, and their values; an empty one is not known
	Name    string      // such as "TestQwen3/c=8"
	N       int         // requests
	Figures []BenchmarkFigure
}

// BenchmarkFigure is one value of a benchmark's line. NaN is left out.
type BenchmarkFigure struct {
	Value  float64
	Unit   string // with the name: "p99-ttft-ns"
	Higher bool   // more is better; else less is
}

// Benchmark shows runs in the Go benchmark format, a line a run, with the
// configuration where it changes and the direction of each unit. What is not known
// of the first run is said, too: the text may follow that of other runs, whose
// configuration would else hold on.
// https://go.dev/design/14313-benchmark-format
func Benchmark(views []BenchmarkView) string {
	var b strings.Builder
	config, units := map[string]string{}, map[string]bool{}
	for _, v := range views {
		for _, c := range v.Config {
			value := oneLine(c[1])
			if old, set := config[c[0]]; set && old == value {
				continue
			}
			config[c[0]] = value
			b.WriteString(strings.TrimSpace(c[0]+": "+value) + "\n")
		}
		for _, f := range v.Figures {
			if finite(f.Value) && !units[f.Unit] {
				units[f.Unit] = true
				better := "lower"
				if f.Higher {
					better = "higher"
				}
				fmt.Fprintf(&b, "Unit %s better=%s\n", f.Unit, better)
			}
		}
		fmt.Fprintf(&b, "%s %d", benchmarkName(v.Name), max(1, v.N))
		for _, f := range v.Figures {
			if finite(f.Value) {
				fmt.Fprintf(&b, " %s %s", shortest(round(f.Value, 6)), f.Unit)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// benchmarkName makes a test's name a benchmark's, without blanks: a letter
// after "Benchmark" must not be a small one, and a line of 64 KiB would end the
// reading of the file.
func benchmarkName(s string) string {
	s = strings.TrimPrefix(s, "Test")
	s = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return '_'
		}
		return r
	}, s)
	switch first, n := utf8.DecodeRuneInString(s); {
	case unicode.IsLower(unicode.ToUpper(first)):
		s = "_" + s // it has no capital
	case n > 0:
		s = string(unicode.ToUpper(first)) + s[n:]
	}
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText-len(ellipsis)], "") + ellipsis
	}
	return "Benchmark" + s
}

func oneLine(s string) string { return strings.TrimSpace(Escape(s)) }
