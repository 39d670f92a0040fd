package report

import (
	"bytes"
	"html"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
	"golang.org/x/perf/benchfmt"
)

const hostile = "</pre></details><script>alert(1)</script> | [x](http://evil) `c` *b* @all\n\n# h\r\x1b[31m%0A::stop-commands::x"

func stepView() StepView {
	slow := ttft(Fail, 1.24)
	slow.Over, slow.Reason, slow.Proof, slow.Bound, slow.Evidence = 12, "12 of 512 over, 5 allowed", Fail, 1.31, "12 of 512 over"
	unsure := tpot(Pass, 0.021)
	unsure.Proof, unsure.Bound, unsure.Evidence = Inconclusive, math.NaN(), "12 samples are too few"
	return StepView{
		Test: "TestQwen3/c=8", Failed: true,
		Verdicts: []VerdictsView{{Scenario: "TestQwen3/c=8", Simulated: true, Requests: 512, Failed: 3, Verdicts: []Verdict{slow, unsure}}},
		Changes: []ChangesView{{
			Scenario: "TestQwen3/c=8", Outcome: "REGRESSED", Reason: "1 of 2 figures proved more than 5% worse", Baseline: 5, Candidate: 3,
			Changes: []Change{
				{Outcome: "REGRESSED", Metric: "TPOT", Stat: "mean", Unit: Seconds, Gates: true, Baseline: 0.01, Candidate: 0.013, Ratio: 1.3, Lower: 1.28, Upper: 1.32},
				{Outcome: "OK", Metric: "TTFT", Stat: "p99", Unit: Seconds, Baseline: 0.2, Candidate: 0.21, Ratio: 1.05, Lower: math.NaN(), Upper: math.NaN()},
			},
		}},
		Details: []string{"TestQwen3/c=8: Qwen3\n\nfirst table\n\n<second> & table"},
	}
}

func TestMarkdown(t *testing.T) {
	golden(t, "step.md", strings.TrimSuffix(Markdown(stepView(), 1<<20), "\n"))
}

// What comes from a server or a name is text, and nothing else.
func TestMarkdownOfHostileText(t *testing.T) {
	v := stepView()
	v.Test, v.Notes, v.Details = hostile, []string{hostile}, []string{hostile}
	v.Verdicts[0].Scenario, v.Verdicts[0].Verdicts[0].Reason, v.Changes[0].Reason = hostile, hostile, hostile
	s := Markdown(v, 1<<20)
	before, pre, ok := strings.Cut(s, "<pre>\n")
	require.True(t, ok)
	for _, raw := range []string{"<script", "</pre></details>", "\x1b", "\r"} {
		require.NotContains(t, s, raw)
	}
	require.Equal(t, 1, strings.Count(pre, "</pre>"), "which ends what is no Markdown")
	for _, raw := range []string{"[x]", "`c`", "*b*", "@all", "\n# h"} {
		require.NotContains(t, before, raw)
	}
	for line := range strings.Lines(s) {
		require.False(t, strings.HasPrefix(line, "::"), line)
	}
	require.Contains(t, s, "&lt;script&gt;")
	golden(t, "hostile.md", strings.TrimSuffix(s, "\n"))
}

// Nothing that GitHub's Markdown makes of bare text is made of it.
func TestMarkdownOfBareText(t *testing.T) {
	for text, raw := range map[string]string{
		"TestA/_x_/__y__":               "_",
		"see http://evil.example/x":     "://",
		"or HTTPS://evil.example":       "://",
		"or www.evil.example":           "www.",
		"a\\_b":                         "_",
		"~~gone~~ <b> ![i](u) $x$ @all": "<",
	} {
		s := Markdown(StepView{Test: text, Notes: []string{text}}, 1<<20)
		require.NotContains(t, s, raw, text)
		require.Contains(t, html.UnescapeString(s), text, "it reads the same")
	}
}

// Of what does not fit, the details go first.
func TestMarkdownFits(t *testing.T) {
	v := stepView()
	whole := Markdown(v, 1<<20)
	v.Details = nil
	short := Markdown(v, 1<<20)
	v = stepView()
	require.Equal(t, whole, Markdown(v, len(whole)))
	require.Equal(t, short, Markdown(v, len(whole)-1))
	require.Equal(t, "### FAIL TestQwen3/c=8 SIMULATED\n\n", Markdown(v, len(short)-1))
	require.Empty(t, Markdown(v, 10))
	require.Empty(t, Markdown(v, -5))
}

func TestAnnotation(t *testing.T) {
	golden(t, "annotation.txt", Annotation{
		File: "a,b/c:d%_test.go", Line: 42, Title: "TestQwen3/c=8: TTFT p99, ITL", Message: "FAIL TTFT p99 < 1s: 100% over,\r\nand 2 more",
	}.String()+"\n"+Annotation{Message: hostile}.String())
	require.NotContains(t, Annotation{File: hostile, Title: hostile, Message: hostile}.String(), "\n")
}

func figures(test string, ttft float64) (own string, all []Metric) {
	own = Labels("package", "example.com/p", "test", test)
	return own, []Metric{
		{Name: "slogate_ttft_seconds", Unit: "seconds", Help: "Time from sending to the first token.", Labels: own + "," + Labels("percentile", "p99"), Value: ttft},
		{Name: "slo_verdict", Help: "1 for PASS.", Labels: own + "," + Labels("slo", `TTFT p99 < "1s" \`), Value: 1},
		{Name: "slogate_absent", Labels: own, Value: math.NaN()},
	}
}

// Runs of several tests make one text, in which a test's last run stands.
func TestOpenMetrics(t *testing.T) {
	var text []byte
	for _, run := range []struct {
		test string
		ttft float64
	}{{"TestB", 0.123456}, {"TestA", 12345.6}, {"TestA/sub", 1}, {"TestA", 0.00012349}} {
		own, all := figures(run.test, run.ttft)
		var err error
		text, err = OpenMetrics(text, own, all)
		require.NoError(t, err)
	}
	golden(t, "openmetrics.txt", strings.TrimSuffix(string(text), "\n"))
	var parser = expfmt.NewTextParser(model.UTF8Validation) // its comments are all that OpenMetrics adds to Prometheus's text here
	families, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	require.NoError(t, err)
	require.Equal(t, 0.123, families["slogate_ttft_seconds"].Metric[2].Gauge.GetValue())
	require.Equal(t, `TTFT p99 < "1s" \`, families["slo_verdict"].Metric[0].Label[2].GetValue())
	own, all := figures("TestA", 1)
	_, err = OpenMetrics([]byte("go_gc_duration_seconds 5\n"), own, all)
	require.ErrorContains(t, err, "line 1 is none of ours: go_gc_duration_seconds 5")
	own, all = figures(hostile+"\",x=\"", 1)
	text, err = OpenMetrics(text, own, all)
	require.NoError(t, err)
	again, err := OpenMetrics(text, own, all)
	require.NoError(t, err)
	require.Equal(t, string(text), string(again), "what is written is read again")
}

// golang.org/x/perf reads the lines as they are meant.
func TestBenchmark(t *testing.T) {
	run := func(name string, ttft float64) BenchmarkView {
		return BenchmarkView{
			Name: name, N: 320, Config: [][2]string{{"goos", "linux"}, {"pkg", "example.com/p"}, {"cpu", ""}, {"simulated", "true"}},
			Figures: []BenchmarkFigure{{Value: ttft, Unit: "p99-ttft-ns"}, {Value: math.NaN(), Unit: "p99-itl-ns"}, {Value: 1501.5, Unit: "output-tok/s", Higher: true}},
		}
	}
	other := run("TestÄ b\n", 5e8)
	other.Config[1][1] = "example.com/q"
	text := Benchmark([]BenchmarkView{run("TestQwen3/c=8", 901234567), run("TestQwen3/c=8", 9e8), run("chat", 1e9), other})
	golden(t, "benchmark.txt", strings.TrimSuffix(text, "\n"))
	rd := benchfmt.NewReader(strings.NewReader(text+text), "f")
	var names []string
	for rd.Scan() {
		switch r := rd.Result().(type) {
		case *benchfmt.Result:
			names = append(names, r.Name.String())
			require.Equal(t, 320, r.Iters)
			rate, ok := r.Value("output-tok/s")
			require.True(t, ok)
			require.Equal(t, 1501.5, rate)
			if len(names) == 1 {
				ttft, ok := r.Value("p99-ttft-sec")
				require.True(t, ok)
				require.InDelta(t, 0.901235, ttft, 1e-9)
				require.Equal(t, "example.com/p", r.GetConfig("pkg"))
			}
		case *benchfmt.SyntaxError:
			t.Error(r)
		}
	}
	require.NoError(t, rd.Err())
	require.Equal(t, []string{"Qwen3/c=8", "Qwen3/c=8", "Chat", "Ä_b_"}, names[:4])
	require.Len(t, names, 8)
	require.Equal(t, "lower", rd.Units().Get("p99-ttft-sec", "better").Value)
	require.Equal(t, "higher", rd.Units().Get("output-tok/s", "better").Value)
}

// Names that are odd or long are still benchmarks', one each, and what one text
// does not know of its runs is not taken from the text before it.
func TestBenchmarkOfOddNames(t *testing.T) {
	view := func(name, pkg string) BenchmarkView {
		return BenchmarkView{Name: name, N: 1, Config: [][2]string{{"pkg", pkg}}, Figures: []BenchmarkFigure{{Value: 1, Unit: "p99-ttft-ns"}}}
	}
	long := "Test" + strings.Repeat("日", 50_000)
	text := Benchmark([]BenchmarkView{view("Testa", "p")})
	for _, name := range []string{"Testĸ", "Testıx", "Test\xffa", "TestA\n::x\u2028 \tB", "Test/c", long} {
		text += Benchmark([]BenchmarkView{view(name, "")})
	}
	rd := benchfmt.NewReader(strings.NewReader(text), "f")
	var names []string
	for rd.Scan() {
		if r, is := rd.Result().(*benchfmt.Result); is {
			names = append(names, r.Name.String())
			require.Equal(t, map[bool]string{true: "p"}[len(names) == 1], r.GetConfig("pkg"))
		} else if e, is := rd.Result().(*benchfmt.SyntaxError); is {
			t.Error(e)
		}
	}
	require.NoError(t, rd.Err())
	require.Equal(t, []string{"A", "_ĸ", "Ix", "\ufffda", "A_::x___B", "/c", strings.Repeat("日", 165) + "…"}, names) // 497 bytes have room for 165 of three
}
