package perftest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slogate/slogate/internal/stats"
)

// percentiles are the ones that result.json holds.
var percentiles = []float64{1, 5, 10, 25, 50, 66, 75, 80, 90, 95, 98, 99, 99.9}

// Distribution describes values of one metric, in the metric's unit.
type Distribution struct {
	Count       int         `json:"count"`
	Mean        Value       `json:"mean"`
	StdDev      Value       `json:"sd"` // of the sample (n-1); absent for fewer than two values
	Min         Value       `json:"min"`
	Max         Value       `json:"max"`
	Percentiles Percentiles `json:"percentiles"`
	// Weak names the percentiles that the sample cannot carry: p99 of fewer
	// than 100 values is little more than the maximum.
	Weak []string `json:"weak,omitempty"`
	// Resolution is the relative error of the percentiles where they come from
	// a histogram, because the values were too many to keep; 0 means exact.
	Resolution float64 `json:"resolution,omitempty"`
}

// Percentile is one percentile P (0 to 100) by the linear rule (type 7: numpy's
// default).
type Percentile struct {
	P     float64
	Value Value
}

// Percentiles are in ascending order of P. In JSON they are an object with
// keys such as "p50" and "p99.9".
type Percentiles []Percentile

// P is the given percentile, one of those that the result holds; absent for
// any other.
func (d Distribution) P(p float64) Value {
	for _, q := range d.Percentiles {
		if q.P == p {
			return q.Value
		}
	}
	return Absent
}

// MarshalJSON implements json.Marshaler.
func (ps Percentiles) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, p := range ps {
		if i > 0 {
			b.WriteByte(',')
		}
		v, err := p.Value.MarshalJSON()
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "%q:%s", percentileName(p.P), v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (ps *Percentiles) UnmarshalJSON(data []byte) error {
	var m map[string]Value
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	*ps = nil
	for name, v := range m {
		p, err := strconv.ParseFloat(strings.TrimPrefix(name, "p"), 64)
		if err != nil {
			return fmt.Errorf("percentile %q is no number", name)
		}
		*ps = append(*ps, Percentile{p, v})
	}
	slices.SortFunc(*ps, func(a, b Percentile) int { return cmp.Compare(a.P, b.P) })
	return nil
}

func percentileName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// carries reports whether n values are enough to have a percentile p that is
// not simply their maximum: one in 1/(1-p/100) is expected above it. The slack
// absorbs the rounding of 1-p/100.
func carries(n int, p float64) bool {
	return float64(n)*(1-p/100) >= 1-1e-9
}

// distribution describes values, which it sorts.
func distribution(values []float64) Distribution {
	slices.Sort(values)
	s := stats.Summarize(values)
	d := Distribution{Count: len(values), Mean: Value(s.Mean), StdDev: Value(s.StdDev), Min: Value(s.Min), Max: Value(s.Max)}
	d.fill(func(p float64) float64 { return stats.Percentile(values, p) })
	return d
}

// gapDistribution describes the gaps between token events.
func gapDistribution(g *stats.Distribution) Distribution {
	const ns = 1e9
	s := g.Summary()
	d := Distribution{Count: s.N, Mean: Value(s.Mean / ns), StdDev: Value(s.StdDev / ns), Min: Value(s.Min / ns), Max: Value(s.Max / ns)}
	d.Resolution = g.Resolution()
	d.fill(func(p float64) float64 { return g.Percentile(p) / ns })
	return d
}

// fill sets the percentiles, by a rule that is asked in ascending order.
func (d *Distribution) fill(at func(p float64) float64) {
	for _, p := range percentiles {
		v := Absent
		if d.Count > 0 {
			v = Value(at(p))
		}
		d.Percentiles = append(d.Percentiles, Percentile{p, v})
		if !carries(d.Count, p) {
			d.Weak = append(d.Weak, percentileName(p))
		}
	}
	if d.Count == 0 {
		d.Mean, d.Min, d.Max = Absent, Absent, Absent
	}
	if d.Count < 2 {
		d.StdDev = Absent
	}
}
