package perftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/slogate/slogate/internal/promtext"
)

// serverFile holds the server's metrics: a line a scrape.
const serverFile = "server.jsonl"

// The bounds of what is kept of a server's metrics.
const (
	maxSeries     = 500
	maxPoints     = 2_000_000 // 32 MB
	maxSeriesName = 500       // bytes, with the labels
)

// When a scrape was made: counters count from before the load to after it, and
// gauges are those during it.
const (
	scrapeBefore = "before"
	scrapeDuring = "during"
	scrapeAfter  = "after"
)

// The kinds of series.
const (
	gauge   = "gauge"
	counter = "counter"
)

// serverLine is a line of server.jsonl.
type serverLine struct {
	At      Value          `json:"at_s"` // after the run's start, as all stamps
	When    string         `json:"load"` // before, during or after
	Error   string         `json:"error,omitempty"`
	Samples []serverSample `json:"samples"`
}

type serverSample struct {
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	Kind   string            `json:"kind"`
	Value  Value             `json:"value"`
}

func serverSampleOf(m promtext.Sample) serverSample {
	s := serverSample{Name: m.Name, Labels: map[string]string{}, Kind: gauge, Value: Value(m.Value)}
	for _, l := range m.Labels {
		s.Labels[l.Name] = l.Value
	}
	if m.Counter {
		s.Kind = counter
	}
	if math.IsInf(m.Value, 0) {
		s.Value = Absent // JSON has none
	}
	return s
}

func (l *serverLine) write(w io.Writer) error {
	if l.Samples == nil {
		l.Samples = []serverSample{}
	}
	data, err := json.Marshal(l)
	if err == nil {
		_, err = w.Write(append(data, '\n'))
	}
	return err
}

// serverLog is what was scraped.
type serverLog struct {
	scrapes []scrapeAt // the answered ones
	series  []*ServerSeries
	named   map[string]*ServerSeries
	points  int
	failed  int
	failure string // of the first that failed
	dropped int    // values beyond the bounds
}

type scrapeAt struct {
	at     Value
	during bool
}

func newServerLog() *serverLog { return &serverLog{named: map[string]*ServerSeries{}} }

func (g *serverLog) add(l *serverLine) {
	if l.Error != "" {
		if g.failed++; g.failure == "" {
			g.failure = l.Error
		}
		return
	}
	scrape := len(g.scrapes)
	g.scrapes = append(g.scrapes, scrapeAt{l.At, l.When == scrapeDuring})
	for i := range l.Samples {
		g.sample(scrape, l.At, &l.Samples[i])
	}
}

func (g *serverLog) sample(scrape int, at Value, s *serverSample) {
	name := s.sample()
	series := name.Series()
	one := g.named[series]
	switch {
	case one == nil && len(g.series) == maxSeries, g.points == maxPoints:
		g.dropped++
		return
	case one == nil:
		one = &ServerSeries{Name: s.Name, Series: series, Quantity: knownMetric(s.Name).quantity, Counter: s.Kind == counter, sample: name}
		g.series, g.named[series] = append(g.series, one), one
	case len(one.scrapes) > 0 && one.scrapes[len(one.scrapes)-1] == scrape:
		return // a series twice in one scrape: the first counts
	}
	g.points++
	one.Points = append(one.Points, ServerPoint{at, s.Value})
	one.scrapes = append(one.scrapes, scrape)
}

// sample is s as the text had it.
func (s *serverSample) sample() promtext.Sample {
	m := promtext.Sample{Name: s.Name, Counter: s.Kind == counter}
	for k, v := range s.Labels {
		m.Labels = append(m.Labels, promtext.Label{Name: k, Value: v})
	}
	m.Sort()
	return m
}

// readServerLog reads server.jsonl back; nil where there is none. A last line
// that is cut off is left out.
func readServerLog(name string) (*serverLog, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	g := newServerLog()
	rd := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := rd.ReadBytes('\n')
		if err == io.EOF {
			return g, nil
		}
		if err != nil {
			return nil, err
		}
		var l serverLine
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n, err)
		}
		g.add(&l)
	}
}
