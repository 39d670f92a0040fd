package report

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
)

const (
	terminalEvery = 200 * time.Millisecond
	logEvery      = 10 * time.Second
	// stopWait is how long Stop waits for a write that hangs, as one does on a
	// terminal that the user halted with Ctrl-S.
	stopWait = 200 * time.Millisecond
)

// terminal is the controlling terminal of the process.
type terminal interface {
	io.WriteCloser
	// width is its number of columns, and false while the process must not
	// write to it, as in the background of a shell.
	width() (int, bool)
}

// Progress shows a run under way until it is stopped. It has a goroutine of
// its own, so that nothing waits for a terminal but that goroutine.
type Progress struct {
	live     func() Live
	stop     chan struct{}
	done     chan struct{}
	stopped  atomic.Bool
	givenUp  atomic.Bool
	terminal terminal
	log      io.Writer
}

// StartProgress shows live five times a second on the controlling terminal,
// which "go test" does not swallow, where there is one and the environment
// variable CI is not set. Elsewhere it writes a line to log each ten seconds;
// a nil log means no lines. live is called from one goroutine; it may still be
// running after Stop when it takes longer than Stop waits.
func StartProgress(live func() Live, log io.Writer) *Progress {
	return startProgress(live, log, terminalToDrawOn())
}

// terminalToDrawOn is the controlling terminal, or nil where there is none or
// nobody looks at it.
func terminalToDrawOn() terminal {
	if ci := os.Getenv("CI"); ci != "" && ci != "false" || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return openTerminal()
}

func startProgress(live func() Live, log io.Writer, t terminal) *Progress {
	p := &Progress{live: live, log: log, terminal: t, stop: make(chan struct{}), done: make(chan struct{})}
	switch {
	case t != nil:
		go p.run(terminalEvery, p.draw)
	case log != nil:
		go p.run(logEvery, p.print)
	default:
		close(p.done)
	}
	return p
}

// Stop ends the progress and clears its line. It returns when the last write
// has ended, or after 200 ms when that hangs. Calls after the first do nothing,
// nor does that of nil.
func (p *Progress) Stop() {
	if p == nil || p.stopped.Swap(true) {
		return
	}
	close(p.stop)
	timer := time.NewTimer(stopWait)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		p.givenUp.Store(true)
	}
}

func (p *Progress) run(every time.Duration, show func()) {
	defer close(p.done)
	if p.terminal != nil {
		defer p.terminal.Close()
		defer p.clear()
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			// After a write that hung, both channels may be ready.
			if p.stopped.Load() {
				return
			}
			show()
		}
	}
}

// draw writes over the line of the terminal.
func (p *Progress) draw() {
	width, ok := p.terminal.width()
	if !ok {
		return
	}
	// One column stays free: in the last one, some terminals wrap.
	line := text.Snip(Line(p.live()), max(width-1, 1), ellipsis)
	io.WriteString(p.terminal, "\r"+line+"\x1b[K")
}

// clear takes the line away. After a write that hung so long that Stop gave it
// up, the line is left: others have written since.
func (p *Progress) clear() {
	if _, ok := p.terminal.width(); ok && !p.givenUp.Load() {
		io.WriteString(p.terminal, "\r\x1b[K")
	}
}

func (p *Progress) print() {
	io.WriteString(p.log, Line(p.live())+"\n")
}
