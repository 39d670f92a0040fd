package perftest

import (
	"flag"
	"os"
	"path/filepath"
	"time"
)

// stateDir is the folder in the package of a test that holds its results, when
// PERFTEST_RESULTS names no other, and the mark that keeps go test from
// caching.
const stateDir = ".perftest"

// packageDir is the folder of the package under test, in which go test starts
// the binary, before a test may change to another.
var packageDir, _ = os.Getwd()

// stateRoot is the state folder, wherever the process is now.
func stateRoot() string { return filepath.Join(packageDir, stateDir) }

// keepUncached makes go test run the test again next time, although nothing
// that it knows of has changed: the server may have. It notes the files that a
// test opens inside its module, and a test whose file lies in the future is
// never answered from the cache.
func keepUncached() error {
	if f := flag.Lookup("test.testlogfile"); f == nil || f.Value.String() == "" {
		return nil // this run will not be cached
	}
	if err := makeStateDir(); err != nil {
		return err
	}
	name := filepath.Join(stateRoot(), ".uncached")
	if err := os.WriteFile(name, []byte("This file keeps go test from answering for a server out of its cache.\n"), 0o644); err != nil {
		return err
	}
	future := time.Now().AddDate(5, 0, 0)
	if err := os.Chtimes(name, future, future); err != nil {
		return err
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// makeStateDir makes the folder, with a note for git to leave it alone.
func makeStateDir() error {
	if err := os.MkdirAll(stateRoot(), 0o755); err != nil {
		return err
	}
	name := filepath.Join(stateRoot(), ".gitignore")
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	return os.WriteFile(name, []byte("*\n"), 0o644)
}
