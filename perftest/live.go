package perftest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/bubble"
	"github.com/slogate/slogate/internal/live"
	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report"
	"github.com/slogate/slogate/internal/stats"
)

// livePage is the one page of this process, for all runs. It is there as long
// as a test that shows something on it is under way, or Main.
var livePage struct {
	sync.Mutex
	server *live.Server
	users  int
	runs   int // that were shown, for their keys
}

// holdLivePage keeps the page open between the tests.
func holdLivePage() (release func()) {
	livePage.Lock()
	defer livePage.Unlock()
	livePage.users++
	return sync.OnceFunc(func() {
		livePage.Lock()
		defer livePage.Unlock()
		if livePage.users--; livePage.users == 0 && livePage.server != nil {
			livePage.server.Close()
			livePage.server = nil
		}
	})
}

// liveOn shows the runs of a test on the page, which it opens at the first one.
// It is nil where no page is asked for, in a shard that follows another, and in a
// bubble, which no server can enter. An address that is in use is no fault of the run's.
func (set settings) liveOn(t testing.TB) (*liveRun, error) {
	if set.live == "" || bubble.Inside() || set.follows() {
		return nil, nil
	}
	if err := live.CheckAddr(set.live, set.liveOutside); err != nil {
		remedy := err.Error()
		if !set.liveOutside {
			remedy += "; or allow it with PERFTEST_LIVE_OUTSIDE=1"
		}
		return nil, badField("PERFTEST_LIVE", fmt.Sprintf("%q", set.live), remedy)
	}
	t.Cleanup(holdLivePage())
	livePage.Lock()
	defer livePage.Unlock()
	if livePage.server == nil {
		server, err := live.Start(set.live, interruptAll)
		if err != nil {
			t.Logf("no live page at %s: %v", set.live, cause(err))
			return nil, nil
		}
		livePage.server = server
		t.Logf("live page: %s", server.URL())
		report.ToTerminal("live page: " + server.URL() + "\n")
	}
	livePage.runs++
	return &liveRun{server: livePage.server, key: fmt.Sprint(livePage.runs), recent: recent{}}, nil
}

// follows reports whether this process is a shard that meets others and is not
// the first, which alone has the figures of all, and can end the run of all.
func (set settings) follows() bool {
	job := meet.Linked()
	if !set.rendezvous || job == nil {
		return false
	}
	place, err := job.Place(set.shardText) // the error is for the run to tell
	return err == nil && place.Index > 0
}

// What a page shows of a run.
const (
	mostLivePoints   = 600  // about ten minutes; older ones are left out
	mostRecent       = 5000 // successes whose percentiles it has
	mostLiveFailures = 10
)

// liveRun is an observer that shows one run on the page. It works in its own
// goroutine, once a second.
type liveRun struct {
	server *live.Server
	key    string
	recent recent

	points   []livePoint
	failures []string
	last     Value // when the snapshot before was taken
}

// livePoint is what happened between two snapshots.
type livePoint struct {
	At       Value `json:"at_s"`
	Requests Value `json:"requests_per_s"`
	Output   Value `json:"output_tokens_per_s"`
	TTFT     Value `json:"mean_ttft_s"`
	InFlight int   `json:"in_flight"`
}

// liveState is a run as the page has it.
type liveState struct {
	Key         string           `json:"key"`
	Name        string           `json:"name"`
	About       string           `json:"about"`
	Simulated   bool             `json:"simulated"`
	Ended       bool             `json:"ended"`
	At          Value            `json:"at_s"`
	Live        Live             `json:"live"`
	Points      []livePoint      `json:"points"`
	Recent      int              `json:"recent"`
	Percentiles []livePercentile `json:"percentiles"`
	Failures    []string         `json:"failures"`
}

type livePercentile struct {
	Name    string `json:"name"`
	TTFT    Value  `json:"ttft_s"`
	TPOT    Value  `json:"tpot_s"`
	Latency Value  `json:"latency_s"`
}

// MarshalJSON implements json.Marshaler.
func (s liveState) MarshalJSON() ([]byte, error) {
	type plain liveState
	return json.Marshal(plain(s))
}

// Observe implements [Observer].
func (l *liveRun) Observe(s Snapshot) {
	l.point(s)
	l.server.Put(l.key, s.Last, l.state(s))
}

// state is what the page gets: its lists may be empty, but are there.
func (l *liveRun) state(s Snapshot) liveState {
	return liveState{
		Key: l.key, Name: report.Escape(s.Run.Name), Simulated: s.Run.Simulated, Ended: s.Last, At: s.At, Live: s.Live,
		About:  report.Escape(fmt.Sprintf("%s at %s, %s, since %s", s.Run.Target.Model, s.Run.Target.URL, s.Run.Load.Type, s.Run.Started.Local().Format(time.TimeOnly))),
		Points: append([]livePoint{}, l.points...), Recent: l.recent.count(), Percentiles: l.recent.percentiles(), Failures: append([]string{}, l.failures...),
	}
}

// point adds what has ended since the last snapshot.
func (l *liveRun) point(s Snapshot) {
	p := livePoint{At: s.At, Requests: Absent, Output: Absent, TTFT: Absent, InFlight: s.Live.InFlight}
	var ended, output, ttft, withTTFT Value
	for i := range s.Finished {
		f := &s.Finished[i]
		if f.Part != "measured" {
			continue
		}
		if f.Class == record.ClassCancelled {
			continue // neither success nor failure
		}
		if !f.OK() {
			l.failures = append(l.failures, report.Escape(fmt.Sprintf("%d: %s %s", f.Index, f.Class, f.Message)))
			l.failures = l.failures[max(0, len(l.failures)-mostLiveFailures):]
			continue
		}
		ended++
		if f.OutputTokens.Known() {
			output += f.OutputTokens
		}
		if f.TTFT.Known() {
			ttft, withTTFT = ttft+f.TTFT, withTTFT+1
		}
		l.recent.add(f)
	}
	span := s.At - l.last
	if l.last = s.At; !s.Live.Warmup {
		p.Requests, p.Output, p.TTFT = per(ended, span), per(output, span), per(ttft, withTTFT)
	}
	if l.points = append(l.points, p); len(l.points) > mostLivePoints {
		l.points = slices.Delete(l.points, 0, len(l.points)-mostLivePoints)
	}
}

// recent are the last successes.
type recent struct {
	all  []livePercentile
	next int
}

func (r *recent) count() int { return len(r.all) }

func (r *recent) add(f *FinishedRequest) {
	one := livePercentile{TTFT: f.TTFT, TPOT: f.TPOT, Latency: f.Latency}
	if len(r.all) < mostRecent {
		r.all = append(r.all, one)
		return
	}
	r.all[r.next] = one
	r.next = (r.next + 1) % mostRecent
}

// percentiles are those that so many requests carry.
func (r *recent) percentiles() []livePercentile {
	sorted := func(of func(*livePercentile) Value) (values []float64) {
		for i := range r.all {
			if v := of(&r.all[i]); v.Known() {
				values = append(values, float64(v))
			}
		}
		slices.Sort(values)
		return values
	}
	ttft, tpot := sorted(func(p *livePercentile) Value { return p.TTFT }), sorted(func(p *livePercentile) Value { return p.TPOT })
	latency := sorted(func(p *livePercentile) Value { return p.Latency })
	rows := []livePercentile{}
	for _, p := range []float64{50, 90, 95, 99} {
		if carries(len(latency), p) {
			at := func(values []float64) Value { return Value(stats.Percentile(values, p)) }
			rows = append(rows, livePercentile{percentileName(p), at(ttft), at(tpot), at(latency)})
		}
	}
	return rows
}

// interruptAll ends all runs of this process as Ctrl-C does.
func interruptAll() {
	interrupted.Store(true)
	interrupts.Lock()
	defer interrupts.Unlock()
	for _, cancel := range interrupts.of {
		cancel()
	}
}

// interrupts are what ends the runs under way.
var interrupts struct {
	sync.Mutex
	next int
	of   map[int]func()
}

// onInterrupt has f called when all runs are interrupted, until it is stopped.
func onInterrupt(f func()) (stop func()) {
	interrupts.Lock()
	defer interrupts.Unlock()
	if interrupts.of == nil {
		interrupts.of = map[int]func(){}
	}
	key := interrupts.next
	interrupts.next++
	interrupts.of[key] = f
	return func() {
		interrupts.Lock()
		defer interrupts.Unlock()
		delete(interrupts.of, key)
	}
}
