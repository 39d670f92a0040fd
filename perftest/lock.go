package perftest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// oneName is the same for all names of this machine, which lead to one server.
func oneName(host string) string {
	name, port, err := net.SplitHostPort(host)
	if err != nil {
		return host
	}
	name = strings.ToLower(name)
	if ip := net.ParseIP(name); name == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified()) {
		name = "localhost"
	}
	return net.JoinHostPort(name, port)
}

// lockFile takes the machine-wide lock of a file that several processes write.
func lockFile(name string) (unlock func(), err error) {
	l, err := machineLock(name)
	if err == nil {
		err = l.Lock()
	}
	if err != nil {
		return nil, fmt.Errorf("lock for %s: %w: set TMPDIR to a folder that can be written to", name, err)
	}
	return func() { _ = l.Close() }, nil
}

// machineLock is the lock of a name, which is not taken yet.
func machineLock(name string) (*flock.Flock, error) {
	dir := filepath.Join(os.TempDir(), "slogate-locks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	_ = os.Chmod(dir, 0o777|os.ModeSticky) // other users need it too; it fails where it is theirs
	file := fmt.Sprintf("%.8x.lock", sha256.Sum256([]byte(name)))
	return flock.New(filepath.Join(dir, file), flock.SetPermissions(0o666)), nil
}

// lockTarget takes the machine-wide lock of a server, so that two scenarios
// (go test runs packages at the same time) do not measure each other. It waits
// until ctx ends; waiting is called once when it has to.
func lockTarget(ctx context.Context, host string, waiting func()) (unlock func(), err error) {
	l, err := machineLock(oneName(host))
	if err != nil {
		return nil, fmt.Errorf("lock for %s: %w: set TMPDIR to a folder that can be written to", host, err)
	}
	ok, err := l.TryLock()
	if err == nil && !ok {
		waiting()
		_, err = l.TryLockContext(ctx, 100*time.Millisecond)
	}
	switch {
	case err == nil:
		return func() { _ = l.Close() }, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("another scenario held %s until this test's time was over: run one at a time (go test -p 1) or raise -timeout", host)
	}
	return nil, fmt.Errorf("lock for %s: %w: set TMPDIR to a folder that can be written to", host, err)
}
