package perftest

import (
	"encoding/json"
	"time"
)

// ClientLimits say what delay of the client's own makes a run INVALID: it can
// then tell nothing of the server. In each field 0 means the default and a
// value below 0 switches the check off. A share is a part of 1. Defaults follow
// inference-perf (send lag), Nighthawk (offered load) and Hyperfoil (stalls and
// CPU).
type ClientLimits struct {
	// SendLag is the largest delay from when a request might start to its
	// sending, at p99; 5 ms. SendLagShare of the smallest limit of an SLO is
	// allowed where that is more; 0.02.
	SendLag      time.Duration
	SendLagShare float64
	// Late is the largest share of requests that are sent later than LateBy of
	// the smallest limit; 0.01 and 0.10.
	Late, LateBy float64
	// Offered is the smallest share of an open loop's planned requests that
	// are sent; 0.99.
	Offered float64
	// Waited is the largest share of an open loop's requests that wait for a
	// place in flight; 0.01.
	Waited float64
	// SlotGap is the largest gap of a closed loop's slot at p99; 5 ms.
	// SlotGapShare is the largest share of the slots' time that is gaps; 0.01.
	SlotGap      time.Duration
	SlotGapShare float64
	// Jitter, where the kernel does not stamp arrivals (there it is judged only
	// when it is set), is the longest overshoot of a goroutine that sleeps for 10 ms;
	// 100 ms. JitterShare is the largest share of the run that overshoots take
	// together; 0.01.
	Jitter      time.Duration
	JitterShare float64
	// CPU is the largest share of the CPUs it may use that the process uses;
	// 0.80.
	CPU float64
	// Throttled is how long the control group's CPU quota may hold the process
	// back; none.
	Throttled time.Duration
	// Canary is the largest share of the smallest limit that the time to first
	// token of the scenario's Canary may be at p99; 0.05.
	Canary float64
}

// check refuses what is no limit.
func (l ClientLimits) check() error {
	for _, f := range []struct {
		name  string
		share float64
	}{
		{"SendLagShare", l.SendLagShare}, {"Late", l.Late}, {"LateBy", l.LateBy}, {"Offered", l.Offered}, {"Waited", l.Waited},
		{"SlotGapShare", l.SlotGapShare}, {"JitterShare", l.JitterShare}, {"CPU", l.CPU}, {"Canary", l.Canary},
	} {
		if err := shares("ClientLimits."+f.name, f.share); err != nil {
			return err
		}
	}
	return nil
}

// limitsInfo is how ClientLimits are written, with times in seconds.
type limitsInfo struct {
	SendLag      float64 `json:"send_lag_s"`
	SendLagShare float64 `json:"send_lag_share"`
	Late         float64 `json:"late"`
	LateBy       float64 `json:"late_by"`
	Offered      float64 `json:"offered"`
	Waited       float64 `json:"waited"`
	SlotGap      float64 `json:"slot_gap_s"`
	SlotGapShare float64 `json:"slot_gap_share"`
	Jitter       float64 `json:"jitter_s"`
	JitterShare  float64 `json:"jitter_share"`
	CPU          float64 `json:"cpu"`
	Throttled    float64 `json:"throttled_s"`
	Canary       float64 `json:"canary"`
}

// MarshalJSON implements json.Marshaler.
func (l ClientLimits) MarshalJSON() ([]byte, error) {
	return json.Marshal(limitsInfo{
		l.SendLag.Seconds(), l.SendLagShare, l.Late, l.LateBy, l.Offered, l.Waited,
		l.SlotGap.Seconds(), l.SlotGapShare, l.Jitter.Seconds(), l.JitterShare, l.CPU, l.Throttled.Seconds(), l.Canary,
	})
}

// UnmarshalJSON implements json.Unmarshaler.
func (l *ClientLimits) UnmarshalJSON(data []byte) error {
	var i limitsInfo
	if err := json.Unmarshal(data, &i); err != nil {
		return err
	}
	d := func(s float64) time.Duration { return time.Duration(s * 1e9) }
	*l = ClientLimits{
		d(i.SendLag), i.SendLagShare, i.Late, i.LateBy, i.Offered, i.Waited,
		d(i.SlotGap), i.SlotGapShare, d(i.Jitter), i.JitterShare, i.CPU, d(i.Throttled), i.Canary,
	}
	return nil
}
