package perftest

import (
	"cmp"
	"slices"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/health"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/record"
)

// Health is how the client did. Times are in seconds; what was not measured is
// null.
type Health struct {
	// SendLag is from when a request might start to its sending.
	SendLag Lag `json:"send_lag_s"`
	// SlotGap is from the end of an answer to the next sending of its slot, in
	// a closed loop, without the time to think.
	SlotGap      Lag   `json:"slot_gap_s"`
	SlotGapShare Value `json:"slot_gap_share"` // of all slots' time
	// ReadLag is from the kernel's stamp of an arrival to its handling.
	ReadLag Lag `json:"read_lag_s"`
	// CanaryLag is from the writing of an event by the server of the scenario's
	// Canary to its stamp, and CanaryTTFT that server's time to first token:
	// what the client and its machine add to each figure.
	CanaryLag  Lag `json:"canary_lag_s,omitzero"`
	CanaryTTFT Lag `json:"canary_ttft_s,omitzero"`
	Canaries   int `json:"canaries,omitzero"` // requests that were sent to it

	AskedConcurrency Value `json:"asked_concurrency"`
	Concurrency      Value `json:"concurrency"`
	AskedRate        Value `json:"asked_requests_per_s"`
	Rate             Value `json:"sent_requests_per_s"`
	Offered          int   `json:"offered"` // requests of the plan that fell due
	Waited           int   `json:"waited"`  // of them, those that waited for a place in flight
	// OutOfFiles is how many requests got no connection because this process
	// may open no more files. One makes the run INVALID: the failure is the
	// client's own.
	OutOfFiles int `json:"out_of_files,omitzero"`
	// FileLimit is how many files it may have open (RLIMIT_NOFILE), in such a
	// run; 0 is not known.
	FileLimit int `json:"file_limit,omitzero"`

	CPUs        Value    `json:"cpus"`        // that the process may use
	CPU         Value    `json:"cpu_share"`   // of them, used by the process
	MachineCPU  Value    `json:"machine_cpu"` // share of the machine's, used by all
	Steal       Value    `json:"cpu_steal"`   // share that the hypervisor gave to others
	Throttled   Value    `json:"throttled_s"` // by the control group's quota
	GCPause     Value    `json:"gc_pause_s"`  // the longest
	RunQueue    Lag      `json:"run_queue_s"` // wait of goroutines for a thread
	LongestWait Value    `json:"stall_s"`     // the longest overshoot of a 10 ms sleep
	StallShare  Value    `json:"stall_share"` // of all overshoots
	Wakes       int      `json:"stall_wakes"` // sleeps that were watched
	Watched     Value    `json:"watched_s"`   // for how long
	Lines       []string `json:"lines"`       // the same in words
	Findings    []string `json:"findings"`    // what was too much, whatever the SLOs
	// Limits are the scenario's.
	Limits ClientLimits `json:"limits"`
	// KernelStamps says that arrivals were stamped by the kernel, but for one
	// in a hundred at the most, so that a late client moves none of them.
	KernelStamps bool `json:"kernel_stamps"`
	// Thinks says that slots wait between an answer and the next request.
	Thinks bool `json:"slots_think"`
	// OnlyWarns says that PERFTEST_BOTTLENECK let findings be warnings.
	OnlyWarns bool `json:"only_warns"`
}

// Lag describes delays, in seconds.
type Lag struct {
	P50 Value `json:"p50"`
	P99 Value `json:"p99"`
	Max Value `json:"max"`
}

func lagOf(s health.Spread) Lag {
	if s.Count == 0 {
		return Lag{Absent, Absent, Absent}
	}
	return Lag{Value(s.P50.Seconds()), Value(s.P99.Seconds()), Value(s.Max.Seconds())}
}

// spread sums up delays in nanoseconds, which it sorts.
func spread(ns []int64) health.Spread {
	if len(ns) == 0 {
		return health.Spread{}
	}
	slices.Sort(ns)
	at := func(p int) time.Duration { return time.Duration(ns[(len(ns)*p+99)/100-1]) } // nearest rank
	return health.Spread{Count: len(ns), P50: at(50), P99: at(99), Max: time.Duration(ns[len(ns)-1])}
}

// requestsHealth is what the samples tell of the client. smallest is the
// smallest limit on a time; 0 means unknown.
func (r *Result) requestsHealth(smallest time.Duration) health.Requests {
	h := &r.Health
	q := health.Requests{
		SmallestLimit: smallest, Sent: r.Counts.Sent, Events: r.Counts.TokenEvents, Coalesced: r.Counts.Coalesced,
		OutOfFiles: h.OutOfFiles, FileLimit: h.FileLimit,
		Dialled: r.Counts.Dialled, Reused: max(0, r.Counts.Sent+r.Counts.Warmup-r.Counts.Dialled),
		AskedConcurrency: known(h.AskedConcurrency), Concurrency: known(h.Concurrency), AskedRate: known(h.AskedRate), Rate: known(h.Rate),
	}
	open := r.Scenario.Load.Concurrency == 0
	if open {
		q.Planned, q.Waited = h.Offered, h.Waited
		q.Started = r.begun()
	}
	lateAfter := int64(health.Thresholds{LateBy: h.Limits.LateBy}.LateAfter(smallest))
	var lags []int64
	for i := range r.samples.all {
		s := &r.samples.all[i]
		if s.sent == record.Absent || s.ready == record.Absent {
			continue
		}
		lags = append(lags, s.sent-s.ready)
		if lateAfter > 0 && s.sent-s.ready > lateAfter {
			q.Late++
		}
	}
	q.SendLag = spread(lags)
	if !open {
		q.SlotGap, q.GapTotal, q.WorkerTime = r.slotGaps()
	}
	q.ReadLag = h.ReadLag.spread()
	if h.Canaries > 0 {
		q.Canaries, q.CanaryLag, q.CanaryTTFT = h.Canaries, h.CanaryLag.spread(), h.CanaryTTFT.spread()
	}
	if r.Metrics.ITL.Count > 0 {
		q.ITLMedian = time.Duration(float64(r.Metrics.ITL.P(50)) * 1e9)
	}
	return q
}

// slotGaps are from the end of an answer to the next sending of the same slot.
// The time to think, and the wait for a bound of the plan, are no part of them,
// and neither is what lies between two parts of an extended run (the last one's
// padding), of which the second begins with a start burst.
func (r *Result) slotGaps() (gaps health.Spread, total, all time.Duration) {
	bySlot := slices.Concat(r.samples.all, r.samples.start)
	slices.SortFunc(bySlot, func(a, b sample) int { return cmp.Or(cmp.Compare(a.slot, b.slot), cmp.Compare(a.sent, b.sent)) })
	var ns []int64
	for i := range bySlot {
		s := &bySlot[i]
		if s.starts || s.sent == record.Absent || s.ready == record.Absent || s.done == record.Absent {
			continue
		}
		all += time.Duration(s.done - s.sent)
		if i == 0 || bySlot[i-1].slot != s.slot || bySlot[i-1].starts || bySlot[i-1].done == record.Absent {
			continue
		}
		gap := s.sent - s.ready
		if !r.Health.Thinks {
			gap += max(0, s.scheduled-bySlot[i-1].done)
		}
		ns = append(ns, gap)
		total += time.Duration(gap)
	}
	return spread(ns), total, all + total
}

// spread is l as package health has it.
func (l Lag) spread() health.Spread {
	if !l.Max.Known() {
		return health.Spread{}
	}
	return health.Spread{Count: 1, P50: l.P50.duration(), P99: l.P99.duration(), Max: l.Max.duration()}
}

func known(v Value) float64 {
	if v.Known() {
		return float64(v)
	}
	return 0
}

// setHealth keeps how the client did: what the load, the socket reads and the
// machine say.
func (r *Result) setHealth(ran load.Report, reads client.Lag, watch health.Readings, limits ClientLimits, onlyWarns bool) {
	orAbsent := func(f float64) Value {
		if f == 0 {
			return Absent
		}
		return Value(f)
	}
	h := Health{
		ReadLag:   lagOf(health.Spread{Count: int(reads.Reads), P50: reads.P50, P99: reads.P99, Max: reads.Max}),
		CanaryLag: r.Health.CanaryLag, CanaryTTFT: r.Health.CanaryTTFT, Canaries: r.Health.Canaries,
		OutOfFiles: r.Health.OutOfFiles, FileLimit: r.Health.FileLimit,
		Thinks: r.Health.Thinks, KernelStamps: reads.Reads > 0 && reads.Others <= reads.Reads/100, OnlyWarns: onlyWarns,
		AskedConcurrency: orAbsent(ran.AskedConcurrency), Concurrency: orAbsent(ran.Concurrency),
		AskedRate: orAbsent(ran.AskedRate), Rate: orAbsent(ran.Rate), Offered: ran.Offered, Waited: ran.Waited.Count,
		CPUs: orAbsent(watch.CPUs), CPU: Absent, MachineCPU: Absent, Steal: Absent, Throttled: Absent,
		GCPause: Value(watch.GC.Pause.Seconds()), RunQueue: lagOf(watch.RunQueue), LongestWait: Absent, StallShare: Absent,
		Watched: Value(watch.Window.Seconds()), Limits: limits,
	}
	if c := watch.CPU; c != nil {
		h.CPU = Value(c.Share)
	}
	if m := watch.Machine; m != nil {
		h.MachineCPU, h.Steal = Value(m.Busy), Value(m.Steal)
	}
	if t := watch.Throttle; t != nil {
		h.Throttled = Value(t.Time.Seconds())
	}
	if j := watch.Jitter; j != nil {
		h.LongestWait, h.StallShare, h.Wakes = Value(j.Max.Seconds()), Value(j.Share), j.Wakes
	}
	r.Health = h
	q := r.requestsHealth(0)
	r.Health.SendLag, r.Health.SlotGap = lagOf(q.SendLag), lagOf(q.SlotGap)
	r.Health.SlotGapShare = per(Value(q.GapTotal.Seconds()), Value(q.WorkerTime.Seconds()))
	r.Health.Lines = health.Lines(watch, q)
	for _, f := range r.findings(q, true) {
		r.Health.Findings = append(r.Health.Findings, f.String()+": "+f.Remedy)
	}
}

// readings are the part of the machine's that decides, as the result keeps it.
func (h *Health) readings() health.Readings {
	w := health.Readings{Window: h.Watched.duration(), CPUs: known(h.CPUs), RunQueue: h.RunQueue.spread()}
	w.GC.Pause = h.GCPause.duration()
	if h.CPU.Known() {
		w.CPU = &health.CPU{Share: float64(h.CPU), Peak: float64(h.CPU)}
	}
	if h.MachineCPU.Known() {
		w.Machine = &health.Machine{Busy: float64(h.MachineCPU), Peak: float64(h.MachineCPU), Steal: float64(h.Steal)}
	}
	if h.Throttled.Known() {
		w.Throttle = &health.Throttle{Time: h.Throttled.duration()}
	}
	if h.LongestWait.Known() {
		w.Jitter = &health.Jitter{Wakes: h.Wakes, Max: h.LongestWait.duration(), Share: float64(h.StallShare)}
	}
	return w
}

// duration is v seconds; 0 when absent.
func (v Value) duration() time.Duration { return time.Duration(known(v)*1e9 + 0.5) }

// findings are what was too much of the client's own delay, by what the samples
// tell of it, for SLOs on rates or not: gaps between answers and
// requests cost a closed loop throughput, and no request any time.
//
// Where the kernel has stamped the arrivals, a goroutine that comes late moves
// no figure but the sendings, which are measured. Stalls are judged there only
// by a limit that was set.
func (r *Result) findings(q health.Requests, rates bool) []health.Finding {
	l := r.Health.Limits
	if r.Health.KernelStamps {
		l.Jitter, l.JitterShare = cmp.Or(l.Jitter, -1), cmp.Or(l.JitterShare, -1)
	}
	if !rates {
		l.SlotGapShare = -1
	}
	return health.Findings(r.Health.readings(), q, health.Thresholds{
		SendLag: l.SendLag, SendLagShare: l.SendLagShare, Late: l.Late, LateBy: l.LateBy, Offered: l.Offered, Waited: l.Waited,
		SlotGap: l.SlotGap, SlotGapShare: l.SlotGapShare, Jitter: l.Jitter, JitterShare: l.JitterShare, CPU: l.CPU, Throttled: l.Throttled,
		Canary: l.Canary,
	})
}

// bottleneck says why the run can tell nothing about slos; empty when it can,
// and for a simulated server, whose CPU is the client's.
func (r *Result) bottleneck(slos []SLO) string {
	if r.Simulated || r.Health.OnlyWarns {
		return ""
	}
	smallest, rates := about(slos)
	if len(r.Shards) > 0 {
		return r.shardBottleneck(smallest, rates)
	}
	return r.clientBottleneck(smallest, rates)
}

// clientBottleneck is the same of one client.
func (r *Result) clientBottleneck(smallest time.Duration, rates bool) string {
	return health.Bottleneck(r.findings(r.requestsHealth(smallest), rates))
}

// about is the smallest time that slos limit, 0 when they limit none, and
// whether any is about a rate.
func about(slos []SLO) (smallest time.Duration, rates bool) {
	add := func(d time.Duration) {
		if d > 0 && (smallest == 0 || d < smallest) {
			smallest = d
		}
	}
	for _, s := range slos {
		switch s.Metric {
		case RequestRate, OutputRate, TotalRate, GoodputRate:
			rates = true
		case TTFT, TTFA, Latency, Response:
			add(time.Duration(s.Limit * 1e9))
		}
		for _, l := range []time.Duration{s.Limits.TTFT, s.Limits.TTFA, s.Limits.Latency, s.Limits.Response} {
			add(l)
		}
	}
	return smallest, rates
}
