//go:build linux || darwin

package health

import (
	"os"

	"golang.org/x/sys/unix"
)

// fileLimit is how many files this process may have open, 0 without bound.
func fileLimit() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil || l.Cur > 1<<31-1 {
		return 0
	}
	return int(l.Cur)
}

// openFiles counts the entries of a folder that has one for each open file,
// less that of the folder itself.
func openFiles(dir string) int {
	f, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return 0
	}
	return max(0, len(names)-1)
}
