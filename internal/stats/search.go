package stats

import (
	"errors"
	"fmt"
	"math"
)

// SearchConfig describes a search for the highest load that holds: a rate in
// requests a second, or, with Integer, a concurrency.
type SearchConfig struct {
	Start     float64 // first load; 0 means 1
	Min       float64 // no load below is tried; 0 means Start/64, and 1 for integers
	Max       float64 // no load above is tried; 0 means 1024 times Start
	Integer   bool
	Precision float64 // stop when hi/lo is at most this; 0 means 1.05
}

const (
	searchStep      = 0.95 // of the load, down after a confirmation that did not pass
	searchStepsDown = 6
	cliffSD         = 3
)

// Probe is a load to be tried.
type Probe struct {
	Load float64
	// Confirm asks for a long run (4,000 requests or 300 s) whose verdict must be
	// PASS; else a short one (1,000 requests or 60 s), judged by its point
	// estimates, will do.
	Confirm bool
}

// ProbeOutcome is what a probe found. The zero value claims nothing and counts
// as a load that does not hold.
type ProbeOutcome int

const (
	ProbeOpen    ProbeOutcome = iota // not decided
	ProbeMet                         // all SLOs met and not saturated; a confirmation: proved
	ProbeMissed                      // an SLO missed, or saturated
	ProbeInvalid                     // the client was the bottleneck, nothing is known of the server
)

// Tried is a probe with its outcome.
type Tried struct {
	Probe
	Outcome ProbeOutcome
	// Margin is how far the binding SLO was from its limit, in any one unit, and
	// positive when it was met; SD is its standard error. NaN where unknown:
	// they only serve to see a cliff.
	Margin, SD float64
}

// Found is the result of a search.
type Found struct {
	Lo float64 // the highest load that was confirmed, 0 when none was
	Hi float64 // the lowest load above Lo that did not hold, +Inf when none was met
	// Confirmed says that Lo stands on a PASS. Where the search was cut short,
	// Lo is 0 and Best is the highest load that met the SLOs in a short probe.
	Confirmed bool
	Best      float64
	// Irregular results: flags for what [Lo, Hi] does not tell.
	MaxNotReached bool    // even Max met the SLOs in a short probe: the true limit may be higher
	NonMonotone   bool    // a load held that is above one that did not
	Cliff         bool    // the margin falls by over three standard errors from the best load to the next
	ClientLimit   float64 // the load at which the client was the bottleneck and the search stopped; 0 if at none
	Probes        []Tried // in the order of trial
}

// Search finds the highest load that holds: it doubles from Start until a load
// does not hold, bisects in log space on short probes, and then confirms. Short
// probes over-claim, as most see none of the long bursts near the limit: only
// a long run with a PASS counts, and without it the load goes down by 5 %, at
// most six times. When Start does not hold it halves, down to Min. A probe that
// is invalid ends the search.
//
// It only decides; the caller runs [Search.Next]'s probes, each with a fresh
// seed, and reports to [Search.Report].
type Search struct {
	cfg        SearchConfig
	lo, hi     float64 // by short probes: lo holds (0: none known), hi does not (+Inf: none known)
	next       Probe
	down       int
	done       bool
	confirmed  float64
	clientStop float64
	tried      []Tried
}

// NewSearch starts a search. The error names the field that makes no sense.
func NewSearch(cfg SearchConfig) (*Search, error) {
	if cfg.Start == 0 {
		cfg.Start = 1
	}
	if cfg.Min == 0 {
		cfg.Min = cfg.Start / 64
		if cfg.Integer {
			cfg.Min = 1
		}
	}
	if cfg.Max == 0 {
		cfg.Max = 1024 * cfg.Start
	}
	if cfg.Precision == 0 {
		cfg.Precision = 1.05
	}
	whole := func(v float64) bool { return !cfg.Integer || v == math.Trunc(v) }
	switch {
	case !(cfg.Start > 0) || math.IsInf(cfg.Start, 0) || !whole(cfg.Start):
		return nil, fmt.Errorf("search: Start is %v; give a positive load (a whole one for a concurrency)", cfg.Start)
	case !(cfg.Min > 0 && cfg.Min <= cfg.Start) || !whole(cfg.Min):
		return nil, fmt.Errorf("search: Min is %v; give a positive load up to Start, %v", cfg.Min, cfg.Start)
	case !(cfg.Max >= cfg.Start) || math.IsInf(cfg.Max, 0) || !whole(cfg.Max):
		return nil, fmt.Errorf("search: Max is %v; give a finite load of Start, %v, or more", cfg.Max, cfg.Start)
	case !(cfg.Precision > 1):
		return nil, errors.New("search: Precision must be above 1, such as 1.05")
	}
	return &Search{cfg: cfg, hi: math.Inf(1), next: Probe{Load: cfg.Start}}, nil
}

// Next gives the probe to run, and false when the search is over.
func (s *Search) Next() (Probe, bool) { return s.next, !s.done }

// Report tells the outcome of the probe that [Search.Next] gave; its Probe is
// filled in. After the end it does nothing.
func (s *Search) Report(t Tried) {
	if s.done {
		return
	}
	t.Probe = s.next
	s.tried = append(s.tried, t)
	switch {
	case t.Outcome == ProbeInvalid:
		s.clientStop, s.done = t.Load, true
	case t.Confirm && t.Outcome == ProbeMet:
		s.confirmed, s.done = t.Load, true
	case t.Confirm:
		s.stepDown()
	case t.Outcome == ProbeMet:
		s.lo = t.Load
		s.advance()
	default:
		s.hi = t.Load
		s.advance()
	}
}

// advance chooses the next short probe, or the first confirmation.
func (s *Search) advance() {
	switch {
	case s.lo == 0 && s.hi <= s.cfg.Min:
		s.done = true // nothing holds
	case s.lo == 0:
		s.next.Load = max(s.cfg.Min, s.round(s.hi/2))
	case math.IsInf(s.hi, 1) && s.lo >= s.cfg.Max:
		s.next.Confirm = true
	case math.IsInf(s.hi, 1):
		s.next.Load = min(s.cfg.Max, 2*s.lo)
	case s.hi/s.lo <= s.cfg.Precision || s.cfg.Integer && s.hi-s.lo <= 1:
		s.next = Probe{Load: s.lo, Confirm: true}
	default:
		mid := s.round(math.Sqrt(s.lo * s.hi))
		if s.cfg.Integer {
			mid = min(max(mid, s.lo+1), s.hi-1)
		}
		s.next.Load = mid
	}
}

func (s *Search) stepDown() {
	load := s.next.Load * searchStep
	if s.cfg.Integer {
		load = min(math.Round(load), s.next.Load-1)
	}
	s.down++
	if s.down > searchStepsDown || load < s.cfg.Min {
		s.done = true
		return
	}
	s.next.Load = load
}

func (s *Search) round(v float64) float64 {
	if s.cfg.Integer {
		return math.Max(1, math.Round(v))
	}
	return v
}

// Found gives the result so far; it is final when [Search.Next] says so.
func (s *Search) Found() Found {
	f := Found{Lo: s.confirmed, Hi: math.Inf(1), Confirmed: s.confirmed > 0, Best: s.lo, ClientLimit: s.clientStop, Probes: s.tried}
	var best, worst Tried // neighbours of the limit among short probes
	for _, t := range s.tried {
		if t.Outcome == ProbeMissed && t.Load > f.Lo {
			f.Hi = min(f.Hi, t.Load)
		}
		for _, u := range s.tried {
			if t.Outcome == ProbeMet && u.Outcome == ProbeMissed && t.Load > u.Load {
				f.NonMonotone = true
			}
		}
		switch {
		case t.Confirm:
		case t.Outcome == ProbeMet && t.Load > best.Load:
			best = t
		case t.Outcome == ProbeMissed && (worst.Load == 0 || t.Load < worst.Load):
			worst = t
		}
	}
	// Any NaN makes the comparison false.
	f.Cliff = best.Load > 0 && worst.Load > 0 && best.Margin-worst.Margin > cliffSD*math.Hypot(best.SD, worst.SD)
	f.MaxNotReached = s.lo >= s.cfg.Max
	return f
}
