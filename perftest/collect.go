package perftest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/slogate/slogate/internal/record"
)

// collector folds records into a result, one after the other, in the goroutine
// that writes them. What the progress line asks for is kept under a lock that
// no sender ever takes.
type collector struct {
	tokens   tokenCounter
	samples  samples
	counts   Counts
	failures map[failureKey]*Failure
	padding  int  // padding requests that failed
	whole    bool // answers have no output tokens: they are embeddings or ranks

	mu   sync.Mutex
	live liveTotals
}

type failureKey struct {
	class, phase string
	status       int
}

// liveTotals are sums over the measured requests that have ended so far.
type liveTotals struct {
	done, failed          int
	output                int64
	ttft, tpot            float64 // sums, nanoseconds
	withTTFT, withTPOT    int
	firstSent, lastDone   int64
	warmupDone, cancelled int
	warmupFailed          int
}

func newCollector() *collector {
	return &collector{failures: map[failureKey]*Failure{}}
}

// add folds one record in. What it counts itself it writes into r first.
func (c *collector) add(r *record.Record) {
	c.tokens.count(r)
	if !r.Reused && r.Connected != record.Absent {
		c.counts.Dialled++
	}
	c.counts.Resent += r.Resent
	c.progress(r)
	if c.beside(r) {
		return
	}
	c.counts.Sent++
	if r.Turn == 1 {
		c.counts.Conversations++
	}
	c.counts.Events += r.DataEvents
	c.counts.Coalesced += coalescedTokens(r)
	c.counts.TokenEvents += r.TokenEvents
	switch r.Class {
	case "":
		c.counts.Succeeded++
		if r.OutputTokens == record.Absent && !(c.whole && r.InputTokens != record.Absent) {
			c.counts.NoUsage++
		}
		if r.PlannedInput > 0 && r.InputTokens != record.Absent {
			c.counts.PlannedServed++
			c.counts.PlannedInput += int64(r.PlannedInput)
			c.counts.ServedInput += r.InputTokens
			if d := r.InputTokens - int64(r.PlannedInput); abs(d) > abs(c.counts.LargestDeviation) {
				c.counts.LargestDeviation = d
			}
		}
		// One more than the events is usual: the end token is counted, and has none.
		if r.TokenEvents == 1 && r.OutputTokens > 2 && r.FirstToken != record.Absent {
			c.counts.AtOnce++
		}
		if r.IgnoreEOS && r.OutputTokens != record.Absent && r.OutputTokens < int64(r.AskedTokens)*int64(max(1, r.Choices)) {
			c.counts.Short++
		}
	case record.ClassCancelled:
		c.counts.Cancelled++
	default:
		c.counts.Failed++
	}
	if !r.OK() {
		c.fail(r)
	}
	c.samples.add(r)
}

// beside counts a request that is part of no figure, and says whether it is
// one.
func (c *collector) beside(r *record.Record) bool {
	failed := 0
	if !r.OK() && r.Class != record.ClassCancelled {
		failed = 1
	}
	switch r.Part {
	case record.Warmup:
		c.counts.Warmup++
		if !r.OK() {
			c.counts.WarmupFailed++
		}
	case record.Start:
		c.counts.Start++
		c.counts.StartFailed += failed
		c.samples.start = append(c.samples.start, newSample(r))
	case record.Padding:
		c.counts.Padding++
		c.padding += failed
	default:
		return false
	}
	return true
}

// coalescedTokens is the number of token events that share a socket read with
// the token event before. (A role or finish event in the same read is usual,
// and harmless.)
func coalescedTokens(r *record.Record) (n int) {
	inRead := false
	for _, e := range r.Events {
		if e.Kind&record.KindCoalesced == 0 {
			inRead = false
		}
		if e.Kind&record.KindOutput != 0 {
			if inRead {
				n++
			}
			inRead = true
		}
	}
	return n
}

func abs(n int64) int64 { return max(n, -n) }

func (c *collector) fail(r *record.Record) {
	key := failureKey{r.Class, r.Phase, r.Status}
	f := c.failures[key]
	if f == nil {
		f = &Failure{Class: r.Class, Phase: r.Phase, Status: r.Status, Example: r.Message}
		c.failures[key] = f
	}
	f.Count++
	f.Tokens += r.TokenEvents
}

func (c *collector) progress(r *record.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l := &c.live
	switch r.Part {
	case record.Warmup:
		l.warmupDone++
		if !r.OK() {
			l.warmupFailed++
		}
		return
	case record.Start, record.Padding:
		return
	}
	if l.done == 0 || r.Sent < l.firstSent {
		l.firstSent = r.Sent
	}
	l.lastDone = max(l.lastDone, r.Done)
	l.done++
	if r.Class == record.ClassCancelled {
		l.cancelled++
		return
	}
	if !r.OK() {
		l.failed++
		return
	}
	l.output += max(r.OutputTokens, 0)
	if ttft := r.TTFT(); ttft != record.Absent {
		l.ttft += float64(ttft)
		l.withTTFT++
	}
	if tpot := r.TPOT(); tpot == tpot {
		l.tpot += tpot
		l.withTPOT++
	}
}

// totals is what the progress line shows.
func (c *collector) totals() liveTotals {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.live
}

// finish sets what r says about the requests. concurrency is the load's.
func (c *collector) finish(r *Result, concurrency int) {
	of := r.Counts // what the load knows
	r.Counts = c.counts
	r.Counts.Planned, r.Counts.Dropped, r.Counts.Unsent = of.Planned, of.Dropped, of.Unsent
	r.samples = c.samples
	c.tokens.finish(r)
	r.Failures = []Failure{}
	for _, f := range c.failures {
		r.Failures = append(r.Failures, *f)
	}
	slices.SortFunc(r.Failures, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class),
			cmp.Compare(a.Phase, b.Phase), cmp.Compare(a.Status, b.Status))
	})
	r.measure(concurrency)
	r.warn()
	if c.padding > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of the %d requests that kept slots busy to the end failed, which is in no figure", c.padding, c.counts.Padding))
	}
	r.warnOfLoad()
}

// warn adds the findings that a reader has to know.
func (r *Result) warn() {
	c := r.Counts
	say := func(n int, format string, args ...any) {
		if n > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	say(c.NoUsage, "%d of %d answers came without a token count (usage): they are missing in TPOT and in token rates", c.NoUsage, c.Succeeded)
	if c.LargestDeviation != 0 {
		say(c.PlannedServed, "the server counts %.4g input tokens a request where %.4g were planned (%+.2g%%; at most %+d): its chat template or vocabulary is another than the workload's",
			float64(c.ServedInput)/float64(c.PlannedServed), float64(c.PlannedInput)/float64(c.PlannedServed),
			100*(float64(c.ServedInput)/float64(c.PlannedInput)-1), c.LargestDeviation)
	}
	say(c.AtOnce, "%d of %d answers came as one event of several tokens: their TPOT is not known (something on the way holds the stream back?)", c.AtOnce, c.Succeeded)
	say(c.Short, "%d of %d answers have fewer tokens than asked although the end token is ignored", c.Short, c.Succeeded)
	say(c.WarmupFailed, "%d of %d warm-up requests failed", c.WarmupFailed, c.Warmup)
	say(c.StartFailed, "%d of the %d requests of the start burst failed, which is in no figure", c.StartFailed, c.Start)
	say(c.Resent, "%d requests were sent again, because the server had closed the connection they were first sent on", c.Resent)
	if r.Metrics.ITL.Resolution > 0 {
		say(1, "ITL percentiles come from a histogram with a resolution of %.2g %%", 100*r.Metrics.ITL.Resolution)
	}
}
