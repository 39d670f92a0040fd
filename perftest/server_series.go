package perftest

import (
	"math"

	"github.com/slogate/slogate/internal/promtext"
)

// ServerInfo sums up what the server said of itself during the load. The series
// are in server.jsonl, see [Result.ServerSeries].
type ServerInfo struct {
	URL      string `json:"url"` // without userinfo and query
	Interval Value  `json:"interval_s"`
	Scrapes  int    `json:"scrapes"` // answered, with the one before and the one after the load
	Failed   int    `json:"failed_scrapes"`
	// Metrics have one entry a name, in the order in which the server names them.
	Metrics []ServerFigures `json:"metrics"`
	// PrefixHitRate is the share of the input tokens that the prefix cache
	// had, 0 to 1: hits over queries during the load (cached over input tokens
	// with SGLang).
	PrefixHitRate Value `json:"prefix_hit_rate"`
	// DraftAcceptance is the share of the draft tokens of speculative decoding
	// that were accepted, 0 to 1.
	DraftAcceptance Value `json:"draft_acceptance_rate"`
}

// ServerFigures are those of one metric, in the server's own unit, over the
// scrapes during the load. Of a counter they are of its increase since the
// load began, and Last is that over all of it.
type ServerFigures struct {
	Name string `json:"name"`
	// Quantity says what it is in words that are the same for all servers
	// ("waiting requests"); empty for a name that is not known.
	Quantity string `json:"quantity"`
	Counter  bool   `json:"counter"`
	// Series is how many there are of the name, such as one an engine. They
	// are added up, but for shares and averages, of which the largest counts.
	Series    int   `json:"series"`
	Scrapes   int   `json:"scrapes"`
	Mean      Value `json:"mean"`
	Min       Value `json:"min"`
	Max       Value `json:"max"`
	Last      Value `json:"last"`
	PerSecond Value `json:"per_s"` // of a counter
}

// ServerSeries is one series of the server's metrics.
type ServerSeries struct {
	Name     string // the metric's, such as "vllm:num_requests_waiting"
	Series   string // with its labels, as PromQL writes it; text of the server's
	Quantity string // as in [ServerFigures]
	Counter  bool   // the values only grow
	Points   []ServerPoint

	sample  promtext.Sample
	scrapes []int // of the points
}

// ServerPoint is a value, in the server's unit, and when it came, in seconds
// after the run's start. A value that is no finite number is absent.
type ServerPoint struct{ At, Value Value }

// ServerSeries are the server's metrics over time, in the order in which the
// server names them; none without [Scenario.ServerMetrics]. They belong to r.
func (r *Result) ServerSeries() []ServerSeries {
	if r.server == nil {
		return nil
	}
	all := make([]ServerSeries, len(r.server.series))
	for i, s := range r.server.series {
		all[i] = *s
	}
	return all
}

// matching are the series that a name, with or without labels, stands for.
func (g *serverLog) matching(pattern *promtext.Sample) (all []*ServerSeries) {
	for _, s := range g.series {
		if s.sample.Has(pattern) {
			all = append(all, s)
		}
	}
	return all
}

// values are those of all of these series together, one a scrape during the
// load (and, of counters, the one after it, as the last): the increase since
// the first scrape, or the gauge.
func (g *serverLog) values(all []*ServerSeries) (values []float64, last Value) {
	sum := make([]float64, len(g.scrapes))
	seen := make([]bool, len(g.scrapes))
	counts := false
	for _, s := range all {
		counts = s.Counter
		largest := knownMetric(s.Name).largest
		at, increase, before := 0, 0.0, math.NaN()
		for i := range g.scrapes {
			v := math.NaN()
			if at < len(s.scrapes) && s.scrapes[at] == i {
				v = float64(s.Points[at].Value)
				at++
			}
			if s.Counter {
				increase += grown(before, v, i)
				if !math.IsNaN(v) {
					before = v
				}
				v = increase
				seen[i] = seen[i] || at > 0
			}
			switch {
			case math.IsNaN(v):
			case largest && !s.Counter && seen[i]:
				sum[i] = max(sum[i], v)
			default:
				sum[i] += v
				seen[i] = true
			}
		}
	}
	last = Absent
	for i, scrape := range g.scrapes {
		if seen[i] && scrape.during {
			values = append(values, sum[i])
		}
		if seen[i] && (scrape.during || counts) {
			last = Value(sum[i])
		}
	}
	return values, last
}

// grown is by how much a counter has grown from one value to the next. One that
// first appears after the first scrape began at 0, and so did one that fell,
// since its server was started anew.
func grown(before, now float64, scrape int) float64 {
	switch {
	case math.IsNaN(now), math.IsNaN(before) && scrape == 0:
		return 0
	case math.IsNaN(before), now < before:
		return now
	}
	return now - before
}

// span is the time from the first scrape to the last, in seconds.
func (g *serverLog) span() Value {
	if len(g.scrapes) == 0 {
		return Absent
	}
	return g.scrapes[len(g.scrapes)-1].at - g.scrapes[0].at
}

// fill sums up the log.
func (i *ServerInfo) fill(g *serverLog) {
	i.Scrapes, i.Failed, i.Metrics = len(g.scrapes), g.failed, []ServerFigures{}
	done := map[string]bool{}
	total := map[string]Value{} // increases, by quantity
	for _, s := range g.series {
		if done[s.Name] {
			continue
		}
		done[s.Name] = true
		all := g.matching(&promtext.Sample{Name: s.Name})
		values, last := g.values(all)
		d := distribution(values)
		f := ServerFigures{Name: s.Name, Quantity: s.Quantity, Counter: s.Counter, Series: len(all), Scrapes: len(values), Mean: d.Mean, Min: d.Min, Max: d.Max, Last: last, PerSecond: Absent}
		if s.Counter {
			f.PerSecond = per(last, g.span())
			if _, ok := total[s.Quantity]; !ok { // vLLM 0.9 has old and new names for one count
				total[s.Quantity] = last
			}
		}
		i.Metrics = append(i.Metrics, f)
	}
	share := func(part, of string) Value {
		p, ok1 := total[part]
		w, ok2 := total[of]
		if !ok1 || !ok2 || !(w > 0) {
			return Absent
		}
		return p / w
	}
	asked := serverCacheAsked
	if _, ok := total[asked]; !ok {
		asked = serverInput
	}
	i.PrefixHitRate, i.DraftAcceptance = share(serverCacheHits, asked), share(serverAccepted, serverDrafted)
}
