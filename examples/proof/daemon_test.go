//go:build cluster

// Package proof runs examples/kubernetes on a real Kubernetes control plane and
// examples/slurm on a real Slurm. ".ci/cluster" builds what they need and starts
// this in namespaces of its own.
package proof

import (
	"bytes"
	"context"
	"encoding/xml"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// programs is the folder with what .ci/cluster has built. Outside its namespaces
// daemons would listen on the machine's own addresses.
func programs(t *testing.T) string {
	t.Helper()
	interfaces, err := net.Interfaces()
	require.NoError(t, err)
	for _, i := range interfaces {
		if i.Flags&net.FlagLoopback == 0 {
			t.Fatalf("this machine has the interface %s: run bash .ci/cluster, which starts this test where there is only loopback", i.Name)
		}
	}
	dir := os.Getenv("CLUSTER_PROGRAMS")
	require.NotEmpty(t, dir, "run bash .ci/cluster")
	return dir
}

// daemon starts a program that runs until the test ends.
func daemon(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	path := filepath.Join(dir, filepath.Base(name)+"."+fmt.Sprint(time.Now().UnixNano())+".log")
	output, err := os.Create(path)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	require.NoError(t, cmd.Start())
	var stopping atomic.Bool
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := cmd.Wait(); !stopping.Load() {
			t.Errorf("%s has ended: %v\n%s", name, err, tail(path))
		}
	}()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s:\n%s", name, tail(path))
		}
		stopping.Store(true)
		stop()
		<-ended
		output.Close()
	})
}

// tail is the end of a file.
func tail(path string) string {
	data, _ := os.ReadFile(path)
	return string(data[max(0, len(data)-3000):])
}

// eventually asks until a condition holds, for two minutes at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in two minutes: %s", what)
		}
	}
}

// script is a run of an example's script.
type script struct {
	cmd    *exec.Cmd
	output bytes.Buffer
}

// begin starts a command of the module's root, with variables beside those of
// the test.
func begin(t *testing.T, env []string, args ...string) *script {
	t.Helper()
	s := &script{cmd: exec.CommandContext(t.Context(), args[0], args[1:]...)}
	s.cmd.Dir, s.cmd.Env = filepath.Join("..", ".."), append(os.Environ(), env...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 10 * time.Second
	require.NoError(t, s.cmd.Start())
	return s
}

// end waits for it, and gives its exit code and what it has printed.
func (s *script) end(t *testing.T) (code int, output string) {
	t.Helper()
	err := s.cmd.Wait()
	output = s.output.String()
	t.Logf("%s:\n%s", strings.Join(s.cmd.Args, " "), output)
	if exit, ok := err.(*exec.ExitError); ok {
		return exit.ExitCode(), output
	}
	require.NoError(t, err)
	return 0, output
}

// serve starts a server that answers in 0.2 s: the 6400 requests of
// examples/fleet, 64 at a time, take some 20 s.
func serve(t *testing.T) *simserver.Server {
	t.Helper()
	return simserver.Start(t, simserver.Profile{Model: "Qwen3-32B", TTFT: 40 * time.Millisecond, TPOT: 5 * time.Millisecond})
}

// settings are what the examples' scripts take from their caller.
func settings(s *simserver.Server) []string {
	return []string{"PERFTEST_URL=" + s.URL(), "PERFTEST_BOTTLENECK=warn"} // all shards share this machine
}

// written is the one result below a folder.
func written(t *testing.T, dir string) *perftest.Result {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "TestFleet", "*", "result.json"))
	require.NoError(t, err)
	require.Len(t, found, 1, "results below %s", dir)
	res, err := perftest.ReadResult(filepath.Dir(found[0]))
	require.NoError(t, err)
	return res
}

// whole requires that a result is that of all shards and of every request.
func whole(t *testing.T, res *perftest.Result, shards int) {
	t.Helper()
	require.Equal(t, "complete", res.Ended)
	require.Equal(t, 6400, res.Counts.Planned)
	require.Zero(t, res.Counts.Failed)
	require.Len(t, res.Shards, shards)
	for i, s := range res.Shards {
		require.Equal(t, i, s.Index)
		require.NotZero(t, s.Counts.Succeeded, "shard %d has sent nothing", i)
	}
	require.Len(t, res.Verdicts, 3)
	for _, v := range res.Verdicts {
		require.Equal(t, perftest.Pass, v.Point, v.SLO)
	}
}

// junit is the one test of a JUnit file, and whether it failed.
func junit(t *testing.T, path string) (name string, failed bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var suites struct {
		Cases []struct {
			Name    string    `xml:"name,attr"`
			Failure *struct{} `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	require.NoError(t, xml.Unmarshal(data, &suites))
	require.Len(t, suites.Cases, 1, "%s", data)
	return suites.Cases[0].Name, suites.Cases[0].Failure != nil
}

// kill ends the process of a program that has a variable, as a machine without
// memory left would.
func kill(t *testing.T, program, variable string) {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	var found []int
	for _, p := range processes {
		exe, _ := os.Readlink(filepath.Join(p, "exe"))
		environ, _ := os.ReadFile(filepath.Join(p, "environ"))
		if filepath.Base(exe) == program && slices.Contains(strings.Split(string(environ), "\x00"), variable) {
			pid, err := strconv.Atoi(filepath.Base(p))
			require.NoError(t, err)
			found = append(found, pid)
		}
	}
	require.Len(t, found, 1, "processes of %s with %s", program, variable)
	require.NoError(t, syscall.Kill(found[0], syscall.SIGKILL))
}
