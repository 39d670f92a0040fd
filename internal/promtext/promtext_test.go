package promtext

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"
)

const exposition = `# HELP vllm:num_requests_waiting Number of requests waiting to be processed.
# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="a \"b\"\\c\nd"} 3.0
vllm:num_requests_waiting{model_name="m",engine="1",} 4
# TYPE vllm:num_preemptions_total counter
vllm:num_preemptions_total{engine="0"} 7 1700000000000

# a comment
# TYPE vllm:ttft histogram
vllm:ttft_bucket{le="0.1"} 1
vllm:ttft_bucket{le="+Inf"} 2
vllm:ttft_sum 0.5
vllm:ttft_count 2
# TYPE wait summary
wait{quantile="0.5"} NaN
wait_sum 1e3
wait_count 4
llamacpp:tokens_predicted_total 12
llamacpp:predicted_tokens_seconds nan
# TYPE "odd.name" counter
{"odd.name",at="x"} +Inf
`

func all(string) bool { return true }

func parsed(text string) (got []Sample, err error) {
	err = Parse([]byte(text), all, func(s Sample) { got = append(got, s) })
	return got, err
}

func TestParse(t *testing.T) {
	got, err := parsed(exposition)
	require.NoError(t, err)
	want := []Sample{
		{"vllm:num_requests_waiting", []Label{{"engine", "0"}, {"model_name", "a \"b\"\\c\nd"}}, false, 3},
		{"vllm:num_requests_waiting", []Label{{"engine", "1"}, {"model_name", "m"}}, false, 4},
		{"vllm:num_preemptions_total", []Label{{"engine", "0"}}, true, 7},
		{"vllm:ttft_bucket", []Label{{"le", "0.1"}}, true, 1},
		{"vllm:ttft_bucket", []Label{{"le", "+Inf"}}, true, 2},
		{"vllm:ttft_sum", nil, true, 0.5},
		{"vllm:ttft_count", nil, true, 2},
		{"wait", []Label{{"quantile", "0.5"}}, false, math.NaN()},
		{"wait_sum", nil, true, 1000},
		{"wait_count", nil, true, 4},
		{"llamacpp:tokens_predicted_total", nil, true, 12},
		{"llamacpp:predicted_tokens_seconds", nil, false, math.NaN()},
		{"odd.name", []Label{{"at", "x"}}, true, math.Inf(1)},
	}
	if d := gocmp.Diff(want, got, cmpopts.EquateNaNs()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	require.Equal(t, `vllm:num_requests_waiting{engine="0",model_name="a \"b\"\\c\nd"}`, got[0].Series())
	require.Equal(t, "vllm:ttft_sum", got[5].Series())
}

// OpenMetrics names a counter's family without its suffix, and may put an
// exemplar behind the value.
func TestParseOpenMetrics(t *testing.T) {
	got, err := parsed("# TYPE foo counter\nfoo_total{a=\"b\"} 17.0 1520879607.789 # {id=\"x\"} 0.5\n# EOF\n")
	require.NoError(t, err)
	require.Equal(t, []Sample{{"foo_total", []Label{{"a", "b"}}, true, 17}}, got)
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"a 1\n<html>":     "line 2: no name of a metric",
		"a":               "line 1: no value",
		"a{b=\"c\"":       "labels without an end",
		"a{b=\"c} 1":      "text without its end",
		"a{b} 1":          `label "b" has no value`,
		"a{b=c} 1":        "no text in quotes",
		`a{b="\x"} 1`:     "a backslash before what needs none",
		"a one":           `value "one" is no number`,
		"a{b=\"\xff\"} 1": "no UTF-8",
		`{b="c"} 1`:       "no name of a metric",
		"a{=\"c\"} 1":     "no name of a label",
	} {
		_, err := parsed(text)
		require.ErrorContains(t, err, want, text)
	}
	// What is not wanted is not read.
	require.NoError(t, Parse([]byte("b{{{\na 1"), func(n string) bool { return n == "a" }, func(Sample) {}))
}

// viaLibrary is what Prometheus's own reader makes of text.
func viaLibrary(text []byte) (map[string]float64, error) {
	p := expfmt.NewTextParser(model.UTF8Validation)
	families, err := p.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for name, f := range families {
		for _, m := range f.Metric {
			var labels []Label
			for _, l := range m.Label {
				labels = append(labels, Label{l.GetName(), l.GetValue()})
			}
			put := func(name string, v float64, counter bool, more ...Label) {
				s := Sample{Name: name, Labels: append(slices.Clone(labels), more...), Counter: counter}
				slices.SortFunc(s.Labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
				all[fmt.Sprint(s.Series(), " ", counter)] = v
			}
			number := func(v float64) string {
				if math.IsInf(v, 1) {
					return "+Inf"
				}
				return strconv.FormatFloat(v, 'g', -1, 64)
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				put(name, m.Counter.GetValue(), true)
			case dto.MetricType_GAUGE:
				put(name, m.Gauge.GetValue(), false)
			case dto.MetricType_UNTYPED:
				put(name, m.Untyped.GetValue(), strings.HasSuffix(name, "_total"))
			case dto.MetricType_HISTOGRAM:
				put(name+"_sum", m.Histogram.GetSampleSum(), true)
				put(name+"_count", float64(m.Histogram.GetSampleCount()), true)
				for _, b := range m.Histogram.Bucket {
					put(name+"_bucket", float64(b.GetCumulativeCount()), true, Label{"le", number(b.GetUpperBound())})
				}
			case dto.MetricType_SUMMARY:
				put(name+"_sum", m.Summary.GetSampleSum(), true)
				put(name+"_count", float64(m.Summary.GetSampleCount()), true)
				for _, q := range m.Summary.Quantile {
					put(name, q.GetValue(), false, Label{"quantile", number(q.GetQuantile())})
				}
			}
		}
	}
	return all, nil
}

func TestParseAgreesWithPrometheus(t *testing.T) {
	want, err := viaLibrary([]byte(exposition))
	require.NoError(t, err)
	got, err := parsed(exposition)
	require.NoError(t, err)
	ours := map[string]float64{}
	for _, s := range got {
		ours[fmt.Sprint(s.Series(), " ", s.Counter)] = s.Value
	}
	if d := gocmp.Diff(want, ours, cmpopts.EquateNaNs()); d != "" {
		t.Errorf("(-library +ours):\n%s", d)
	}
}

// Whatever the bytes, reading ends, and what the library takes as gauges and
// counters is taken here, too, with the same numbers.
func FuzzParse(f *testing.F) {
	f.Add([]byte(exposition))
	f.Add([]byte("a{b=\"c\",} 1 2\n# TYPE a gauge"))
	f.Add([]byte("# TYPE x_total counter\nx_total 1\n\r\n a 0x1p-2"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := map[string]float64{}
		err := Parse(text, all, func(s Sample) { got[s.Series()] = s.Value })
		p := expfmt.NewTextParser(model.UTF8Validation)
		families, libErr := p.TextToMetricFamilies(bytes.NewReader(text))
		if libErr != nil {
			return
		}
		for name, f := range families {
			if k := f.GetType(); k != dto.MetricType_COUNTER && k != dto.MetricType_GAUGE || len(f.Metric) != 1 {
				continue
			}
			require.NoError(t, err)
			m := f.Metric[0]
			s := Sample{Name: name}
			for _, l := range m.Label {
				s.Labels = append(s.Labels, Label{l.GetName(), l.GetValue()})
			}
			slices.SortFunc(s.Labels, func(a, b Label) int { return cmp.Compare(a.Name, b.Name) })
			want := m.Gauge.GetValue() + m.Counter.GetValue()
			v, ok := got[s.Series()]
			require.True(t, ok, "%q is missing", s.Series())
			require.True(t, v == want || math.IsNaN(v) && math.IsNaN(want), "%v, want %v", v, want)
		}
	})
}

func TestParseSeries(t *testing.T) {
	m, err := ParseSeries(`a:b{y="2", x="1"}`)
	require.NoError(t, err)
	require.Equal(t, `a:b{x="1",y="2"}`, m.Series())
	s := Sample{Name: "a:b", Labels: []Label{{"x", "1"}, {"y", "2"}, {"z", "3"}}}
	require.True(t, s.Has(&m))
	require.False(t, m.Has(&s))
	m, err = ParseSeries("a:b")
	require.NoError(t, err)
	require.True(t, s.Has(&m))
	for text, want := range map[string]string{
		"": "no name", "a b": "follows its end", "a{": "no name of a label", `{"a",b="c"}x`: "follows its end", "9": "no name",
	} {
		_, err := ParseSeries(text)
		require.ErrorContains(t, err, want, text)
	}
}
