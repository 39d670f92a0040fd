package report

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// screen is a terminal whose writes hang while held is set.
type screen struct {
	shown   bytes.Buffer
	columns int
	hidden  bool
	held    chan struct{}
	closed  bool
}

func (s *screen) Write(p []byte) (int, error) {
	if s.held != nil {
		<-s.held
	}
	return s.shown.Write(p)
}

func (s *screen) Close() error       { s.closed = true; return nil }
func (s *screen) width() (int, bool) { return s.columns, !s.hidden }

func counter() func() Live {
	n := 0
	return func() Live { n++; return Live{Scenario: "run", Done: n, Asked: 100} }
}

func TestProgressTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 20}
		p := startProgress(counter(), nil, s)
		time.Sleep(time.Second + time.Millisecond)
		p.Stop()
		synctest.Wait()
		// Five draws in a second, one column free, and a clean line at the end.
		draws := strings.Split(s.shown.String(), "\r")[1:]
		require.Equal(t, []string{
			"run 1/100 1% | 0 i…\x1b[K", "run 2/100 2% | 0 i…\x1b[K", "run 3/100 3% | 0 i…\x1b[K",
			"run 4/100 4% | 0 i…\x1b[K", "run 5/100 5% | 0 i…\x1b[K", "\x1b[K",
		}, draws)
		require.True(t, s.closed)
		p.Stop() // again: nothing happens
	})
}

func TestProgressLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		p := startProgress(counter(), &log, nil)
		time.Sleep(25 * time.Second)
		p.Stop()
		require.Equal(t, []string{"run 1/100 1%", "run 2/100 2%", ""}, heads(log.String()))
	})
}

func heads(log string) []string {
	lines := strings.Split(log, "\n")
	for i, l := range lines {
		lines[i], _, _ = strings.Cut(l, " | ")
	}
	return lines
}

func TestProgressNowhere(t *testing.T) {
	p := startProgress(func() Live { panic("asked without need") }, nil, nil)
	p.Stop()
}

// In the background of a shell nothing is written.
func TestProgressBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80, hidden: true}
		p := startProgress(counter(), nil, s)
		time.Sleep(time.Second)
		p.Stop()
		require.Empty(t, s.shown.String())
	})
}

// A terminal that hangs holds Stop up for 200 ms and no longer, and is not
// written to when it comes back.
func TestProgressHungTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80, held: make(chan struct{})}
		p := startProgress(counter(), nil, s)
		time.Sleep(time.Second)
		start := time.Now()
		p.Stop()
		require.Equal(t, 200*time.Millisecond, time.Since(start))
		close(s.held)
		synctest.Wait()
		require.Equal(t, 1, strings.Count(s.shown.String(), "\r"))
		require.True(t, s.closed)
	})
}

func TestProgressIsOffInCI(t *testing.T) {
	t.Setenv("CI", "true")
	p := StartProgress(counter(), nil)
	require.Nil(t, p.terminal)
	p.Stop()
}

func TestToTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{columns: 80}
		toTerminal(s, "summary\n")
		require.Equal(t, "summary\n", s.shown.String())
		require.True(t, s.closed)

		hidden := &screen{columns: 80, hidden: true}
		toTerminal(hidden, "summary\n")
		require.Empty(t, hidden.shown.String())

		hung := &screen{columns: 80, held: make(chan struct{})}
		start := time.Now()
		toTerminal(hung, "summary\n")
		require.Equal(t, 200*time.Millisecond, time.Since(start))
		close(hung.held)

		toTerminal(nil, "nowhere")
	})
}
