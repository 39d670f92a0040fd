package perftest

import (
	"fmt"
	"time"

	"github.com/slogate/slogate/internal/load"
)

// Stages is a load that changes over time: a closed loop whose Concurrency, or
// an open one whose Rate, follows a profile. It ends with the profile, or
// earlier after Requests.
type Stages struct {
	// Concurrency over time, rounded to whole slots; a slot that is no longer
	// wanted finishes its request. Set this or Rate.
	Concurrency Profile
	// Rate over time, in requests a second.
	Rate Profile
	// Arrivals spaces the requests of a Rate; nil means [Poisson].
	Arrivals Arrivals
	// Requests to send in all; 0 means as many as the profile has room for.
	Requests int
	// InFlight bounds the requests in flight of a Rate; 0 means no bound.
	InFlight int
	// AtBound says what becomes of a start that finds the bound reached; zero
	// lets it wait.
	AtBound AtBound
	// Think is the time between an answer and the slot's next request, of a
	// Concurrency; zero is none.
	Think Think
	// Drain says what becomes of requests in flight at the end; zero waits.
	Drain Drain
	// Cancel abandons a share of the requests; zero abandons none.
	Cancel Cancel
	// PrefillConcurrency is the most requests that wait for their first token
	// at any time; 0 means no limit.
	PrefillConcurrency int
}

// Plan implements [Load].
func (s Stages) Plan() (Plan, error) {
	p := Plan{
		Requests: s.Requests, InFlight: s.InFlight, AtBound: s.AtBound, Think: s.Think,
		Drain: s.Drain, Cancel: s.Cancel, PrefillConcurrency: s.PrefillConcurrency,
	}
	switch {
	case s.Concurrency == nil && s.Rate == nil:
		return Plan{}, badField("Load.Concurrency", "nil", "set Stages.Concurrency or Stages.Rate")
	case s.Concurrency != nil && s.Rate != nil:
		return Plan{}, badField("Load.Rate", "set beside Concurrency", "set one of them")
	case s.Concurrency != nil:
		profile, err := s.Concurrency.profile("Load.Concurrency")
		if err != nil {
			return Plan{}, err
		}
		if load.SlotChanges(profile, mostChanges) > mostChanges {
			return Plan{}, badField("Load.Concurrency", fmt.Sprintf("%+v", s.Concurrency), "it starts and stops slots more than ten million times: make it change more slowly")
		}
		if p.profile = profile; p.slots() == 0 {
			return Plan{}, badField("Load.Concurrency", fmt.Sprintf("%+v", s.Concurrency), "it never comes to one slot: raise it")
		}
	default:
		profile, err := s.Rate.profile("Load.Rate")
		if err != nil {
			return Plan{}, err
		}
		if !(profile.Integral(profile.Length()) > 0) {
			return Plan{}, badField("Load.Rate", fmt.Sprintf("%+v", s.Rate), "it never comes to a request: raise it")
		}
		p.rates = profile
		if p.schedule, err = arrivalSchedule(s.Arrivals, profile); err != nil {
			return Plan{}, err
		}
	}
	return p, p.check()
}

// mostChanges bounds what a profile of slots takes of memory: each start of a
// slot is kept.
const mostChanges = 10_000_000

// Profile is a concurrency, or a rate a second, over time: [StageList],
// [Linear], [Step], [Sine] or [Spike].
type Profile interface {
	profile(field string) (load.Profile, error)
}

// Stage is a stretch of a [StageList], which changes evenly from From to To.
type Stage struct {
	Duration time.Duration // above 0
	From, To float64       // 0 or more
}

// StageList is one stage after the other.
type StageList []Stage

// Linear changes evenly.
type Linear struct {
	From, To float64
	Duration time.Duration
}

// Step goes from From to To in Steps levels of equal length.
type Step struct {
	From, To float64
	Steps    int // 1 or more
	Duration time.Duration
}

// Sine swings around Mean: it starts there, and is at Mean+Amplitude after a
// quarter of a Period.
type Sine struct {
	Mean      float64
	Amplitude float64 // 0 to Mean
	Period    time.Duration
	Duration  time.Duration
}

// Spike is at Base but for Width from At on, where it is at Peak.
type Spike struct {
	Base, Peak float64
	At, Width  time.Duration
	Duration   time.Duration
}

func (l StageList) profile(field string) (load.Profile, error) {
	if len(l) == 0 {
		return nil, badField(field, "empty", "give at least one stage")
	}
	stages := make(load.Stages, len(l))
	var sum time.Duration
	for i, s := range l {
		at := fmt.Sprintf("%s[%d].", field, i)
		if err := firstError(levels(at+"From", s.From), levels(at+"To", s.To), lasting(at+"Duration", s.Duration)); err != nil {
			return nil, err
		}
		if sum += s.Duration; sum > mostTime {
			return nil, badField(at+"Duration", s.Duration, fmt.Sprintf("let all stages together last no longer than a year (%v)", mostTime))
		}
		stages[i] = load.Stage(s)
	}
	return stages, nil
}

func (l Linear) profile(field string) (load.Profile, error) {
	return load.Ramp(l.From, l.To, l.Duration),
		firstError(levels(field+".From", l.From), levels(field+".To", l.To), lasting(field+".Duration", l.Duration))
}

func (s Step) profile(field string) (load.Profile, error) {
	if s.Steps < 1 || s.Steps > 1e6 {
		return nil, badField(field+".Steps", s.Steps, "set it to 1 or more")
	}
	return load.Steps(s.From, s.To, s.Steps, s.Duration),
		firstError(levels(field+".From", s.From), levels(field+".To", s.To), lasting(field+".Duration", s.Duration))
}

func (s Sine) profile(field string) (load.Profile, error) {
	err := firstError(levels(field+".Mean", s.Mean), levels(field+".Amplitude", s.Amplitude),
		lasting(field+".Period", s.Period), lasting(field+".Duration", s.Duration))
	if err == nil && s.Amplitude > s.Mean {
		err = badField(field+".Amplitude", s.Amplitude, "set it to 0 to Mean, so that the profile stays above 0")
	}
	return load.Sine(s), err
}

func (s Spike) profile(field string) (load.Profile, error) {
	err := firstError(levels(field+".Base", s.Base), levels(field+".Peak", s.Peak), lasts(field+".At", s.At, "from the start"), lasting(field+".Width", s.Width), lasting(field+".Duration", s.Duration))
	if err == nil && (s.At+s.Width > s.Duration) {
		err = badField(field+".At", s.At, "let the spike lie within Duration")
	}
	if err != nil {
		return nil, err
	}
	return load.Spike(s.Base, s.Peak, s.At, s.Width, s.Duration), nil
}
