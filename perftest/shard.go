package perftest

import "fmt"

// takeShard makes the bounds of the plan, which are those of the whole load,
// this shard's part of them, and refuses a plan that cannot be cut into as
// many: a shard that had no slot, no request or no place in flight would leave
// its part of the load out.
func (r *run) takeShard() error {
	r.settings.shard.Slots = r.plan.slots()
	shard := r.settings.shard
	if shard.Count <= 1 {
		return nil
	}
	cut := func(n *int, what string) error {
		if *n == 0 {
			return nil // no bound
		}
		if *n < shard.Count {
			return badField("PERFTEST_SHARD", fmt.Sprintf("%q", r.settings.shardText), fmt.Sprintf("%s is %d, which is not one a shard: use %d shards or fewer", what, *n, *n))
		}
		*n = shard.Of(*n)
		return nil
	}
	requests, slots := r.plan.Requests, r.plan.slots() // which the loop cuts itself
	if err := firstError(
		cut(&requests, "Load.Requests"),
		cut(&slots, "the load's concurrency"),
		cut(&r.plan.InFlight, "Load.InFlight"),
		cut(&r.plan.PrefillConcurrency, "Load.PrefillConcurrency"),
		cut(&r.scenario.TurnsInFlight, "TurnsInFlight"),
	); err != nil {
		return err
	}
	if r.plan.paired && r.scenario.Warmup.Duration > 0 {
		return badField("Warmup.Duration", r.scenario.Warmup.Duration, "set Warmup.Requests alone: with PERFTEST_SHARD all shards have to begin the trace at the same request")
	}
	return nil
}

// slots is the number of slots of a closed loop that this shard has; 0 of an
// open one.
func (r *run) slots() int { return r.settings.shard.Of(r.plan.slots()) }

// warmupSlots is the concurrency of the warm-up of all shards: what it says, else the
// load's, which for an open loop is 1; each shard has one slot at least.
func (r *run) warmupSlots() int {
	n := r.scenario.Warmup.Concurrency
	if n == 0 {
		n = r.plan.slots()
	}
	return max(1, n, r.settings.shard.Count)
}

// warmupConnections is how many connections this shard's warm-up uses.
func (r *run) warmupConnections() int {
	w, shard := r.scenario.Warmup, r.settings.shard
	n := shard.Of(r.warmupSlots())
	switch {
	case w.Requests > 0:
		return min(n, shard.Requests(w.Requests))
	case w.Duration > 0:
		return n
	}
	return 0
}

// mine reports whether this shard sends the i-th request of the workload, from
// 0. The measured ones are counted from the first after the warm-up, as the
// load's indices are. A trace's are taken with their times, by the schedule.
func (r *run) mine(i int) bool {
	shard := r.settings.shard
	if warmup := r.scenario.Warmup.Requests; i >= warmup {
		if i -= warmup; r.plan.paired {
			return true
		}
	}
	return shard.Sends(i)
}
