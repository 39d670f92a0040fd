package perftest

import (
	"strings"

	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
)

// sample is what a result keeps in memory of one measured request: its stamps
// and counts without the events, which stay in requests.jsonl. At about 120
// bytes a request, a run of a million fits into a small machine.
type sample struct {
	scheduled, ready, sent, firstToken, secondToken, firstAnswer, lastToken, done, maxGap int64

	input, output, cached int64
	items                 int32
	planned               int32 // input tokens that the workload planned, 0 when it does not know
	tag                   string
	turn                  int32
	slot                  int32
	events                int32
	tokenEvents           int32
	failed                bool
	cancelled             bool
	starts                bool // of the start burst, which is part of no figure
	drained               bool // cancelled with the load, and not by the user that it plays
}

func newSample(r *record.Record) sample {
	return sample{
		scheduled: r.Scheduled, ready: r.Ready, sent: r.Sent, slot: int32(r.Slot), firstToken: r.FirstToken, secondToken: r.SecondToken,
		firstAnswer: r.FirstAnswer, lastToken: r.LastToken, done: r.Done, maxGap: r.MaxGap,
		input: r.InputTokens, output: r.OutputTokens, cached: r.CachedTokens, turn: int32(r.Turn), planned: int32(r.PlannedInput), items: int32(r.Items), tag: r.Tag,
		events: int32(r.DataEvents), tokenEvents: int32(r.TokenEvents),
		failed:    !r.OK() && r.Class != record.ClassCancelled,
		cancelled: r.Class == record.ClassCancelled,
		starts:    r.Part == record.Start,
		drained:   r.Class == record.ClassCancelled && !strings.Contains(r.Message, load.ErrAbandoned.Error()),
	}
}

// record gives back the part of a record that the formulas need.
func (s *sample) record() record.Record {
	var r record.Record
	r.Scheduled, r.Sent, r.FirstToken, r.SecondToken = s.scheduled, s.sent, s.firstToken, s.secondToken
	r.FirstAnswer, r.LastToken, r.Done, r.MaxGap = s.firstAnswer, s.lastToken, s.done, s.maxGap
	r.InputTokens, r.OutputTokens, r.TokenEvents = s.input, s.output, int(s.tokenEvents)
	if s.failed || s.cancelled {
		r.Class = "failed" // which class is told apart in the counts
	}
	return r
}

// samples are all measured requests of a run, in the order in which they ended.
type samples struct {
	all   []sample
	order []*sample // all, in the order of their intended start; made when it is needed
	start []sample  // of the start burst, which is part of no figure
	gaps  gaps
	byTag map[string]*gaps // of requests that have a tag
}

// add folds one measured request in.
func (s *samples) add(r *record.Record) {
	s.all = append(s.all, newSample(r))
	if !r.OK() {
		return
	}
	s.gaps.add(r)
	if r.Tag == "" {
		return
	}
	if s.byTag == nil {
		s.byTag = map[string]*gaps{}
	}
	if s.byTag[r.Tag] == nil {
		s.byTag[r.Tag] = new(gaps)
	}
	s.byTag[r.Tag].add(r)
}

// seconds turns nanoseconds into a value in seconds, absent for absent.
func seconds(ns int64) Value {
	if ns == record.Absent {
		return Absent
	}
	return Value(float64(ns) / 1e9)
}

// count turns a count into a value, absent for absent.
func count(n int64) Value {
	if n == record.Absent {
		return Absent
	}
	return Value(n)
}

// of is the metric of one request; absent when it is not defined for it.
func (s *sample) of(m Metric) Value {
	r := s.record()
	switch m {
	case TTFT:
		return seconds(r.TTFT())
	case TTFA:
		return seconds(r.TTFA())
	case TTST:
		return seconds(r.TTST())
	case TPOT:
		return Value(r.TPOT() / 1e9)
	case Latency:
		return seconds(r.Latency())
	case Response:
		return seconds(r.Response())
	case queue:
		return seconds(r.Queue())
	case InputTokens:
		return count(s.input)
	case OutputTokens:
		return count(s.output)
	case cachedTokens:
		return count(s.cached)
	case firstTurnTTFT:
		if s.turn != 1 {
			return Absent
		}
		return seconds(r.TTFT())
	case laterTurnTTFT:
		if s.turn < 2 {
			return Absent
		}
		return seconds(r.TTFT())
	case eventsARequest:
		return Value(s.events)
	case outputSpeed:
		return per(count(s.output), seconds(r.Latency()))
	case totalSpeed:
		return per(count(s.input)+count(s.output), seconds(r.Latency()))
	case decodeSpeed:
		return per(1, Value(r.TPOT()/1e9))
	}
	return Absent
}

// Metrics that only tables show.
const (
	queue          Metric = "queue"
	cachedTokens   Metric = "cached_tokens"
	firstTurnTTFT  Metric = "first_turn_ttft"
	laterTurnTTFT  Metric = "later_turn_ttft"
	eventsARequest Metric = "events"
	outputSpeed    Metric = "output_speed"
	totalSpeed     Metric = "total_speed"
	decodeSpeed    Metric = "decode_speed"
)

// per is n over d, absent when either is or d is nothing.
func per(n, d Value) Value {
	if d > 0 {
		return n / d
	}
	return Absent
}
