package perftest

import (
	"fmt"
	"math"
	"time"
)

// What no field of a load may exceed: more than any client has, so that a slip
// of the pen is told, and no sum of times overflows.
const (
	mostRequests = 1_000_000_000
	mostSlots    = 1_000_000
	mostTime     = 365 * 24 * time.Hour
)

// check refuses a plan that cannot be run; a load of a test's own may give one.
func (p *Plan) check() error {
	slots := p.Concurrency
	if p.open() || p.profile != nil {
		slots = 1 // they are not asked for
	}
	err := firstError(
		counts("Load.Concurrency", slots, 1, mostSlots, ""),
		counts("Load.Requests", p.Requests, 0, mostRequests, "no limit"),
		lasts("Load.Duration", p.Duration, "no limit"),
		counts("Load.InFlight", p.InFlight, 0, mostSlots, "no bound"),
		lasts("Load.RampUp.Duration", p.RampUp.Duration, "at once"),
		counts("Load.RampUp.Steps", p.RampUp.Steps, 0, mostSlots, "one slot at a time"),
		lasts("Load.Think.Time", p.Think.Time, "none"),
		lasts("Load.Drain.After", p.Drain.After, "at once"),
		lasts("Load.Cancel.After", p.Cancel.After, "at once"),
		counts("Load.PrefillConcurrency", p.PrefillConcurrency, 0, mostSlots, "no limit"),
	)
	switch {
	case err != nil:
		return err
	case p.Requests == 0 && p.Duration == 0 && !p.endsByItself():
		return badField("Load.Requests", p.Requests, "set Requests or Duration, so that the run ends")
	case p.AtBound != QueueAtBound && p.AtBound != DropAtBound:
		return badField("Load.AtBound", int(p.AtBound), "use QueueAtBound or DropAtBound")
	case p.AtBound == DropAtBound && p.InFlight == 0:
		return badField("Load.InFlight", p.InFlight, "set the bound at which starts are dropped")
	case p.Drain.After > 0 && !p.Drain.Cancel:
		return badField("Load.Drain.Cancel", false, "set it to true, or leave After at 0 to wait for requests in flight")
	case !(p.Cancel.Share >= 0 && p.Cancel.Share <= 1):
		return badField("Load.Cancel.Share", p.Cancel.Share, "set a share from 0 to 1")
	}
	return nil
}

// counts refuses a number that is not from least to most. zero is what 0 means.
func counts(field string, n, least, most int, zero string) error {
	switch {
	case n >= least && n <= most:
		return nil
	case n > most:
		return badField(field, n, fmt.Sprintf("set it to %d or less", most))
	case least > 0:
		return badField(field, n, fmt.Sprintf("set it to %d or more", least))
	}
	return badField(field, n, "set it to 0 ("+zero+") or more")
}

// lasts refuses a time below 0, or of years. zero is what 0 means.
func lasts(field string, d time.Duration, zero string) error {
	switch {
	case d < 0:
		return badField(field, d, "set it to 0 ("+zero+") or more")
	case d > mostTime:
		return badField(field, d, fmt.Sprintf("set it to a year (%v) or less", mostTime))
	}
	return nil
}

// lasting refuses what is not above 0, too.
func lasting(field string, d time.Duration) error {
	if d == 0 {
		return badField(field, d, "set it above 0")
	}
	return lasts(field, d, "")
}

// levels refuses what is no concurrency and no rate.
func levels(field string, v float64) error {
	if !(v >= 0 && v <= mostSlots) {
		return badField(field, v, "set it to 0 or more, at most 1e6")
	}
	return nil
}

// shares refuses a limit that is no number, or no share of 1.
func shares(field string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) || v > 1 {
		return badField(field, v, "set a share up to 1 (0.05 is 5 %), 0 (the default), or one below 0 to switch the check off")
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
