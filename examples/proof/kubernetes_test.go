//go:build cluster

package proof

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/stretchr/testify/require"
)

// The example's Job of three completes with one verdict.
func TestKubernetes(t *testing.T) {
	c := controlPlane(t, programs(t))
	s := serve(t)
	out := t.TempDir()
	code, output := c.run(t, s, out).end(t)
	require.Zero(t, code)
	require.Contains(t, output, "--- PASS: TestFleet")
	whole(t, written(t, filepath.Join(out, "results")), 3)
	name, failed := junit(t, filepath.Join(out, "junit.xml"))
	require.Equal(t, "TestFleet", name)
	require.False(t, failed)
	for i := 1; i < 3; i++ {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("shard-%d.log", i)))
		require.NoError(t, err)
		t.Logf("shard %d:\n%s", i, text)
		require.NotContains(t, string(text), "FAIL")
	}
}

// A killed index makes the verdict INVALID: the container of index 1 loses its
// process in the middle of the load.
func TestKubernetesKilledIndex(t *testing.T) {
	c := controlPlane(t, programs(t))
	s := serve(t)
	out := t.TempDir()
	run := c.run(t, s, out)
	eventually(t, "half a thousand requests", func() bool { return s.Requests() > 500 })
	killed := time.Now()
	kill(t, "scenario.test", "JOB_COMPLETION_INDEX=1")
	code, output := run.end(t)
	require.Equal(t, 1, code)
	require.Less(t, time.Since(killed), 2*time.Minute)
	require.Contains(t, output, "INVALID")
	require.Contains(t, output, "shard 1 of 3")
	res := written(t, filepath.Join(out, "results"))
	require.True(t, res.Partial)
	require.NotZero(t, res.Counts.Succeeded, "the partial result is not kept")
	_, failed := junit(t, filepath.Join(out, "junit.xml"))
	require.True(t, failed)
}

// With shard 0 the verdict is lost, and no other takes its place.
func TestKubernetesKilledShard0(t *testing.T) {
	c := controlPlane(t, programs(t))
	s := serve(t)
	out := t.TempDir()
	run := c.run(t, s, out)
	eventually(t, "half a thousand requests", func() bool { return s.Requests() > 500 })
	kill(t, "scenario.test", "JOB_COMPLETION_INDEX=0")
	code, output := run.end(t)
	require.Equal(t, 128+int(syscall.SIGKILL), code)
	require.NotContains(t, output, "PASS")
	_, failed := junit(t, filepath.Join(out, "junit.xml"))
	require.True(t, failed)
	for i := 1; i < 3; i++ {
		text, err := os.ReadFile(filepath.Join(out, fmt.Sprintf("shard-%d.log", i)))
		require.NoError(t, err)
		t.Logf("shard %d:\n%s", i, text)
	}
}

// A cluster is a control plane and one node.
type cluster struct{ programs, kubeconfig string }

// controlPlane starts etcd, an API server, the Job controller, and a node whose
// images all have the example's test binary.
func controlPlane(t *testing.T, programs string) cluster {
	t.Helper()
	dir := t.TempDir()
	certify(t, dir)
	in := func(name string) string { return filepath.Join(dir, name) }
	c := cluster{programs, in("kubeconfig")}
	require.NoError(t, os.WriteFile(in("tokens"), []byte("admin-token,admin,admin,system:masters\n"), 0o600))
	require.NoError(t, os.WriteFile(c.kubeconfig, fmt.Appendf(nil, kubeconfig, in("cert.pem")), 0o600))

	daemon(t, dir, "etcd", "--data-dir", in("etcd"), "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
		"--listen-peer-urls", "http://127.0.0.1:2380", "--initial-advertise-peer-urls", "http://127.0.0.1:2380", "--initial-cluster", "default=http://127.0.0.1:2380")
	daemon(t, dir, filepath.Join(programs, "kube-apiserver"), "--etcd-servers=http://127.0.0.1:2379",
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=6443", "--endpoint-reconciler-type=none",
		"--tls-cert-file="+in("cert.pem"), "--tls-private-key-file="+in("key.pem"), "--cert-dir="+dir,
		"--token-auth-file="+in("tokens"), "--authorization-mode=AlwaysAllow", "--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://127.0.0.1", "--service-account-key-file="+in("key.pem"), "--service-account-signing-key-file="+in("key.pem"),
		"--service-cluster-ip-range=10.0.0.0/24")
	has := func(what ...string) func() bool {
		return func() bool {
			return exec.Command(filepath.Join(programs, "kubectl"), append([]string{"--kubeconfig", c.kubeconfig, "get"}, what...)...).Run() == nil
		}
	}
	eventually(t, "the API server is ready", has("--raw", "/readyz"))
	daemon(t, dir, filepath.Join(programs, "kube-controller-manager"), "--kubeconfig="+c.kubeconfig, "--leader-elect=false",
		"--controllers=job-controller,garbage-collector-controller", "--bind-address=127.0.0.1", "--cert-dir="+dir)
	daemon(t, dir, filepath.Join(programs, "controlplane"), "-kubeconfig", c.kubeconfig, "-image", image(t, programs), "-dir", t.TempDir(),
		"-cert", in("cert.pem"), "-key", in("key.pem"))
	eventually(t, "the default namespace", has("namespace", "default"))
	return c
}

const kubeconfig = `apiVersion: v1
kind: Config
current-context: proof
contexts: [{name: proof, context: {cluster: proof, user: admin}}]
clusters: [{name: proof, cluster: {server: "https://127.0.0.1:6443", certificate-authority: %q}}]
users: [{name: admin, user: {token: admin-token}}]
`

// image is the folder of an image as the example's Dockerfile makes it, of
// busybox in the place of Alpine.
func image(t *testing.T, programs string) string {
	t.Helper()
	dir := t.TempDir()
	for _, sub := range []string{"bin", "etc", "proc", "sys", "dev"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, sub), 0o755))
	}
	busybox, err := exec.LookPath("busybox")
	require.NoError(t, err)
	for from, to := range map[string]string{busybox: "bin/busybox", filepath.Join(programs, "fleet.test"): "scenario.test"} {
		data, err := os.ReadFile(from)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, to), data, 0o755))
	}
	for _, name := range []string{"env", "sh", "sleep", "tar", "touch"} {
		require.NoError(t, os.Symlink("busybox", filepath.Join(dir, "bin", name)))
	}
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// run starts the example's script.
func (c cluster) run(t *testing.T, s *simserver.Server, out string) *script {
	t.Helper()
	return begin(t, append(settings(s), "KUBECONFIG="+c.kubeconfig, "IMAGE=fleet:proof", "SHARDS=3", "TIMEOUT=300"), "examples/kubernetes/run", out)
}
