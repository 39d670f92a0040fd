//go:build cluster

package proof

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/stretchr/testify/require"
)

// nodes of the Slurm cluster: n0 and on, which .ci/cluster makes names of this
// machine.
const nodes = 4

// The example's job of four tasks on four nodes gives one verdict.
func TestSlurm(t *testing.T) {
	dir := programs(t)
	slurm(t)
	s := serve(t)
	out := t.TempDir()
	code, output := submit(t, s, dir, out).end(t)
	require.Zero(t, code)
	require.Contains(t, output, "--- PASS: TestFleet")
	whole(t, written(t, filepath.Join(out, "results")), nodes)
	name, failed := junit(t, filepath.Join(out, "junit.xml"))
	require.Equal(t, "TestFleet", name)
	require.False(t, failed)
	for i := 1; i < nodes; i++ {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("task-%d.log", i)))
		require.NoError(t, err)
		t.Logf("task %d:\n%s", i, text)
		require.NotContains(t, string(text), "FAIL")
	}
}

// A killed task makes the verdict INVALID: the job fails, and task 0 says why.
func TestSlurmKilledTask(t *testing.T) {
	dir := programs(t)
	slurm(t)
	s := serve(t)
	out := t.TempDir()
	job := submit(t, s, dir, out)
	eventually(t, "half a thousand requests", func() bool { return s.Requests() > 500 })
	kill(t, "fleet.test", "SLURM_PROCID=2")
	code, output := job.end(t)
	require.NotZero(t, code)
	require.Contains(t, output, "INVALID")
	require.Contains(t, output, fmt.Sprintf("shard 2 of %d", nodes))
	res := written(t, filepath.Join(out, "results"))
	require.True(t, res.Partial)
	require.NotZero(t, res.Counts.Succeeded, "the partial result is not kept")
	_, failed := junit(t, filepath.Join(out, "junit.xml"))
	require.True(t, failed)
}

func submit(t *testing.T, s *simserver.Server, programs, out string) *script {
	t.Helper()
	return begin(t, settings(s), "examples/slurm/run", filepath.Join(programs, "fleet.test"), out, "--cpus-per-task=1", "--time=5")
}

// slurm starts munge, a controller, and a daemon for each node.
func slurm(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	in := func(name string) string { return filepath.Join(dir, name) }
	key := make([]byte, 128)
	_, _ = rand.Read(key)
	require.NoError(t, os.WriteFile(in("munge.key"), key, 0o600))
	require.NoError(t, os.Mkdir(in("state"), 0o755))
	host, err := os.Hostname()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(in("slurm.conf"), []byte(strings.NewReplacer("DIR", dir, "HOST", host).Replace(slurmConf)), 0o644))
	t.Setenv("SLURM_CONF", in("slurm.conf"))

	daemon(t, dir, "munged", "--foreground", "--force", "--key-file="+in("munge.key"), "--socket="+in("munge.socket"),
		"--pid-file="+in("munge.pid"), "--log-file="+in("munge.log"), "--seed-file="+in("munge.seed"))
	eventually(t, "munge", func() bool { return exec.Command("munge", "-n", "-S", in("munge.socket")).Run() == nil })
	daemon(t, dir, "slurmctld", "-D")
	for i := range nodes {
		daemon(t, dir, "slurmd", "-D", "-N", fmt.Sprintf("n%d", i))
	}
	eventually(t, "all nodes are idle", func() bool {
		idle, _ := exec.Command("sinfo", "-h", "-N", "-t", "idle").Output()
		return strings.Count(string(idle), "\n") == nodes
	})
}

const slurmConf = `ClusterName=proof
SlurmctldHost=HOST(127.0.0.1)
SlurmctldPort=6817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=DIR/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
StateSaveLocation=DIR/state
SlurmctldPidFile=DIR/slurmctld.pid
SlurmctldLogFile=DIR/slurmctld.log
SlurmdSpoolDir=DIR/spool-%n
SlurmdPidFile=DIR/slurmd-%n.pid
SlurmdLogFile=DIR/slurmd-%n.log
SlurmdParameters=config_overrides
NodeName=n[0-3] NodeHostname=HOST NodeAddr=127.0.0.1 Port=[6818-6821] CPUs=1
PartitionName=proof Nodes=ALL Default=YES MaxTime=60 State=UP
`
