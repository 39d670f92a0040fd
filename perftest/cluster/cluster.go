// Package cluster lets many machines send one plan together. Import it for its
// effect, in the package of the scenarios:
//
//	import _ "github.com/slogate/slogate/perftest/cluster"
//
// Then the same test binary runs as each of n shards, which find each other by
// their environment:
//
//	PERFTEST_RENDEZVOUS       host:port at which shard 0 is found; it listens there
//	PERFTEST_TOKEN            a secret of 16 bytes or more, the same in all shards
//	PERFTEST_SHARD            i/n, or in its place
//	JOB_COMPLETION_INDEX      of a Kubernetes Indexed Job, with PERFTEST_SHARDS=n, or
//	SLURM_PROCID              and SLURM_NTASKS, as srun sets them
//	PERFTEST_RENDEZVOUS_WAIT  how long to wait for all shards; 5m by default
//
// For each [perftest.Run] all shards meet at shard 0, which takes those that
// know the token and have the same test, scenario and version, and begins the
// load at one instant when all are ready, by estimates of their clocks. Each
// sends its part of the plan, and its records to shard 0 beside it, which merges
// them as [perftest.Merge] does, judges and reports. Shard 0 alone decides the
// test's outcome: in the others assertions pass, and say where the verdict is. So no
// further run may depend on what an assertion returns, and none may run at the
// same time as another (t.Parallel): all shards have to make the same ones, in
// one order.
//
// The result says of each shard what it sent, how its client did, and how its
// clock stood; the report shows it, and [perftest.Result.Apart] gives the parts
// for a comparison.
//
// A shard that is lost, late, restarted or of another kind ends the run of all:
// it is INVALID, what was lost is named, and what had come is kept. For one that
// is gone, or did not come in time, no further test waits: it fails at once. Ctrl-C on
// shard 0 stops all shards, and so does an objective of the scenario that must
// fail: shard 0 looks at what all have sent it so far, of the whole plan. Let the
// engine restart none.
//
// Observers of shard 0 have the live figures of all shards, and the requests of
// its own; those of the others have their own alone. The page of PERFTEST_LIVE is
// shard 0's.
//
// A run that Scenario.Extend lets go on pauses at the end of each part until shard 0
// has the records of all: it judges them, and all go on together with the next
// part of the plan or end. In [perftest.MaxLoad] each step is a run for which all
// meet: shard 0 searches, and tells the others the next load, or what was found.
//
// What shards send each other is neither encrypted nor signed, but for the proof
// of the token: the network between them has to be one that nobody else writes to.
package cluster

import (
	"os"

	"github.com/slogate/slogate/internal/cluster"
	"github.com/slogate/slogate/internal/meet"
)

func init() { meet.Register(cluster.New(os.Getenv)) }
