package perftest

import (
	"fmt"
	"math"

	"github.com/slogate/slogate/internal/stats"
)

// Against holds r's runs against a baseline's; it writes nothing. The unit of
// evidence is the run, not the request: two runs of one build differ by more
// than their requests tell. Per figure, Welch's test compares the logarithms of
// the runs' figures (while there are so few runs that all their permutations can
// be tried, REGRESSED needs an exact permutation test too), and Holm's procedure
// keeps the chance of any false REGRESSED. Median TTFT, mean TPOT and, of a
// closed loop, output throughput gate; p99 advises, and so does the throughput of
// an open loop, which is that of its arrivals. What has no output is judged by
// median latency and requests a second.
//
// One run against ten or more is held against the interval in which those
// predict it. One against fewer is advisory. Runs with other fingerprints are
// INCOMPARABLE, and a run that ended early, whose client was the bottleneck, or
// in which more than 1 % of the requests failed, is INVALID.
//
// The error is one of the baseline itself: a bad field, or a file that cannot
// be read.
func (r *Result) Against(b Baseline) (Comparison, error) {
	c, _, err := r.compare(b)
	return c, err
}

// compare is Against, which also gives the runs that were compared with.
func (r *Result) compare(b Baseline) (Comparison, []baselineRun, error) {
	if err := b.check(); err != nil {
		return Comparison{}, nil, err
	}
	c := Comparison{Tolerance: b.tolerance(), Margin: b.margin(), Changes: []Change{}}
	candidate := r.runs()
	c.Candidate = len(candidate)
	print, err := r.Fingerprint()
	if err != nil {
		return c, nil, err
	}
	var all, with []baselineRun
	var file string
	if b.Result != nil {
		other, err := b.Result.Fingerprint()
		if err != nil {
			return c, nil, err
		}
		print = print.sameLoad()
		all = b.Result.newRuns(other.sameLoad(), "")
	} else {
		file, c.File = b.file(r.Test)
		if all, err = readBaseline(file, c.File); err != nil {
			return c, nil, err
		}
	}
	with = latest(all, print)
	c.Baseline = len(with)
	if len(all) > 0 {
		last := all[len(all)-1]
		if len(with) > 0 {
			last = with[len(with)-1]
		}
		c.Commit, c.Time = last.Commit, last.Time
	}
	switch unfit := unfit(candidate, with); {
	case unfit != "":
		c.Outcome, c.Reason = Invalid, unfit
	case len(all) == 0:
		c.Outcome, c.Reason = NoBaseline, "there is no baseline yet, which would be "+file
	case len(with) == 0:
		c.Outcome, c.Reason = Incomparable, "no run of the baseline has the fingerprint of these"
		c.Differs = print.differs(all[len(all)-1].Fingerprint)
	default:
		figures := make([]RunFigures, len(with))
		for i := range with {
			figures[i] = with[i].Figures
		}
		c.judge(b, figures, candidate, r.Scenario.Load.Concurrency == 0)
	}
	return c, with, nil
}

// unfit says which run cannot be compared, and why.
func unfit(candidate []RunFigures, with []baselineRun) string {
	for i, f := range candidate {
		if f.Unfit != "" {
			return fmt.Sprintf("run %d of %d cannot be compared: %s", i+1, len(candidate), f.Unfit)
		}
	}
	for i, w := range with {
		if w.Figures.Unfit != "" {
			return fmt.Sprintf("run %d of %d of the baseline cannot be compared: %s", i+1, len(with), w.Figures.Unfit)
		}
	}
	return ""
}

// judge compares figure by figure, and sums them up. open says that the load was
// an open loop.
func (c *Comparison) judge(b Baseline, baseline, candidate []RunFigures, open bool) {
	var gates, advice []tested
	absent := map[string]bool{}
	for i := range comparedFigures {
		f := &comparedFigures[i]
		t := tested{figure: f, baseline: valuesOf(f, baseline), candidate: valuesOf(f, candidate)}
		if len(t.baseline) == 0 && len(t.candidate) == 0 {
			absent[f.name] = true
			continue
		}
		t.compare(b, baseline, candidate)
		t.gates = (f.gates || f.insteadOf != "" && absent[f.insteadOf]) && !(open && f.higherIsBetter())
		if t.gates {
			gates = append(gates, t)
		} else {
			advice = append(advice, t)
		}
	}
	if len(gates) == 0 {
		c.Outcome, c.Reason = Invalid, "no figure was measured that could be compared"
		return
	}
	changes := make([]stats.Change, len(gates))
	for i := range gates {
		changes[i] = gates[i].change
	}
	for i, o := range stats.DecideChanges(b.alpha(), changes...) {
		gates[i].settle(b, o)
	}
	for i := range advice {
		advice[i].settle(b, stats.DecideChanges(b.alpha(), advice[i].change)[0])
	}
	c.Advisory = gates[0].change.Advisory
	for _, t := range append(gates, advice...) {
		c.Changes = append(c.Changes, t.out)
	}
	c.sumUp(b, gates)
}

// sumUp sets the outcome of the figures that gate: the worst of theirs.
func (c *Comparison) sumUp(b Baseline, gates []tested) {
	has := map[Outcome]int{}
	for _, t := range gates {
		has[t.out.Outcome]++
	}
	of := func(o Outcome) string { return fmt.Sprintf("%d of %d", has[o], len(gates)) }
	switch {
	case has[Regressed] > 0:
		c.Outcome, c.Reason = Regressed, fmt.Sprintf("%s figures proved more than %g%% worse", of(Regressed), percentOf(b.tolerance()))
	case has[Invalid] > 0:
		c.Outcome, c.Reason = Invalid, of(Invalid)+" figures cannot be compared"
	case has[Inconclusive] > 0:
		c.Outcome = Inconclusive
		c.Reason = fmt.Sprintf("%s figures neither proved more than %g%% worse nor at most %g%%", of(Inconclusive), percentOf(b.tolerance()), percentOf(b.margin()))
		for _, t := range gates {
			if t.out.Outcome != Inconclusive {
				continue
			}
			more, ok := t.moreRuns(b)
			if !ok {
				c.MoreRuns = 0
				break
			}
			c.MoreRuns = max(c.MoreRuns, more)
		}
	case has[Improved] > 0:
		c.Outcome, c.Reason = Improved, fmt.Sprintf("%s figures proved more than %g%% better, none worse", of(Improved), percentOf(b.tolerance()))
	default:
		c.Outcome, c.Reason = Unchanged, fmt.Sprintf("no figure is more than %g%% worse", percentOf(b.margin()))
	}
}

// percentOf is a share in percent, freed of the last bit's noise.
func percentOf(share float64) float64 { return math.Round(share*1e8) / 1e6 }

// valuesOf are the figures of runs that have it.
func valuesOf(f *compared, runs []RunFigures) (values []float64) {
	for i := range runs {
		if v := *f.of(&runs[i]); v.Known() {
			values = append(values, float64(v))
		}
	}
	return values
}
