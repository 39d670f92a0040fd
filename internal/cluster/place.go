package cluster

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/slogate/slogate/internal/meet"
)

// Place implements [meet.Job]: PERFTEST_SHARD wins, then a Kubernetes Indexed
// Job (JOB_COMPLETION_INDEX, with PERFTEST_SHARDS from the manifest), then Slurm
// (SLURM_PROCID and SLURM_NTASKS, which srun sets).
func (j *Job) Place(shard string) (meet.Place, error) {
	index, proc := j.getenv("JOB_COMPLETION_INDEX"), j.getenv("SLURM_PROCID")
	switch {
	case shard != "":
		i, n, ok := strings.Cut(shard, "/")
		if p, good := place(i, n); ok && good {
			return p, nil
		}
		return meet.Place{}, badField("PERFTEST_SHARD", fmt.Sprintf("%q", shard), `set it to "i/n" with i from 0 to n-1, such as "0/4"`)
	case index != "":
		count := j.getenv(envShards)
		if p, ok := place(index, count); ok {
			return p, nil
		}
		return meet.Place{}, badField(envShards, fmt.Sprintf("%q with JOB_COMPLETION_INDEX %q", count, index), "set it to the Job's completions")
	case proc != "":
		count := j.getenv("SLURM_NTASKS")
		if p, ok := place(proc, count); ok {
			return p, nil
		}
		return meet.Place{}, badField("SLURM_NTASKS", fmt.Sprintf("%q with SLURM_PROCID %q", count, proc), "start the shards with srun")
	}
	return meet.Place{}, badField(envRendezvous, fmt.Sprintf("%q", j.getenv(envRendezvous)),
		"and nothing says which shard this is: set PERFTEST_SHARD=i/n, or run as a Kubernetes Indexed Job or under srun")
}

func place(index, count string) (meet.Place, bool) {
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	return meet.Place{Index: i, Count: n}, err1 == nil && err2 == nil && i >= 0 && i < n && n <= mostShards
}

// mostShards bounds a job.
const mostShards = 10_000
