package perftest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// label is how a metric is written for people.
func (m Metric) label() string {
	switch m {
	case TTFT, TTFA, TTST, TPOT, ITL:
		return strings.ToUpper(string(m))
	case ITLPerToken:
		return "ITL per token"
	}
	return strings.ReplaceAll(string(m), "_", " ")
}

// label is what the SLO is about: the metric, or the series of the server's.
func (s SLO) label() string {
	if s.Metric == ServerMetric {
		return s.Series
	}
	return s.Metric.label()
}

// String is the SLO as people write it: "TTFT p99 < 1s".
func (s SLO) String() string {
	var b strings.Builder
	if s.Tag != "" {
		b.WriteString(s.Tag + ": ")
	}
	b.WriteString(s.label())
	if s.Stat != "" {
		b.WriteString(" " + string(s.Stat))
	}
	if s.Limits != (Limits{}) {
		b.WriteString("(" + s.Limits.String() + ")")
	}
	fmt.Fprintf(&b, " %s %s", s.Op, s.Metric.unit().Limit(s.Limit))
	return b.String()
}

// String lists the limits that are set: "TTFT < 1s, TPOT < 50ms".
func (l Limits) String() string {
	var parts []string
	for _, p := range l.named() {
		if p.limit != 0 {
			parts = append(parts, p.metric.label()+" < "+p.limit.String())
		}
	}
	return strings.Join(parts, ", ")
}

type namedLimit struct {
	metric Metric
	limit  time.Duration
}

func (l Limits) named() []namedLimit {
	return []namedLimit{{TTFT, l.TTFT}, {TTFA, l.TTFA}, {TPOT, l.TPOT}, {ITL, l.ITL}, {Latency, l.Latency}, {Response, l.Response}}
}

// negative reports whether a limit is below 0.
func (l Limits) negative() bool {
	for _, p := range l.named() {
		if p.limit < 0 {
			return true
		}
	}
	return false
}

// MarshalJSON writes the limits in seconds, with the metrics' names.
func (l Limits) MarshalJSON() ([]byte, error) {
	m := map[string]float64{}
	for _, p := range l.named() {
		if p.limit != 0 {
			m[string(p.metric)+"_s"] = p.limit.Seconds()
		}
	}
	return json.Marshal(m)
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var m map[string]float64
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	at := func(m0 Metric) time.Duration { return time.Duration(m[string(m0)+"_s"]*1e9 + 0.5) }
	*l = Limits{TTFT: at(TTFT), TTFA: at(TTFA), TPOT: at(TPOT), ITL: at(ITL), Latency: at(Latency), Response: at(Response)}
	return nil
}
