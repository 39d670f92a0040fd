package perftest

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// environment describes this machine and build. It is asked for once.
var environment = sync.OnceValue(func() Environment {
	return Environment{
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU: strings.TrimSpace(cpuid.CPU.BrandName), CPUs: runtime.GOMAXPROCS(0),
		Commit: commit(), Version: version(),
		Clock: "socket read (monotonic)",
	}
})

// commit is the one that CI names, else that of the work tree, else empty.
func commit() string {
	for _, v := range []string{"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT"} {
		if c := os.Getenv(v); c != "" {
			return c
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "git", "rev-parse", "HEAD").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// version is that of this module in the test's build.
func version() string {
	const module = "github.com/slogate/slogate"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	if info.Main.Path == module {
		return info.Main.Version
	}
	for _, d := range info.Deps {
		if d.Path == module {
			return d.Version
		}
	}
	return ""
}
