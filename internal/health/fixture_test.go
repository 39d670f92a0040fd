package health

import (
	"io/fs"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// fixture gives the file systems at the begin and the end of a window.
func fixture(t *testing.T, name string) (begin, end fs.FS) {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	require.NoError(t, err)
	all, err := txtar.FS(a)
	require.NoError(t, err)
	begin, err = fs.Sub(all, "begin")
	require.NoError(t, err)
	end, err = fs.Sub(all, "end")
	require.NoError(t, err)
	return begin, end
}

// staged is a machine of 4 CPUs whose files, clock and CPU time a test moves on.
type staged struct {
	mu      sync.Mutex
	files   fs.FS
	at, cpu time.Duration
}

// pass moves the clock and the CPU time on.
func (s *staged) pass(at, cpu time.Duration, files fs.FS) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.at += at
	s.cpu += cpu
	s.files = files
}

func (s *staged) Open(name string) (fs.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files.Open(name)
}

func (s *staged) system() system {
	return system{
		files: s,
		clock: func() time.Duration {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.at
		},
		process: func() (time.Duration, bool) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.cpu, true
		},
		cpus: func() int { return 4 },
	}
}
