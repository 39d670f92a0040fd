package report

import (
	"io"
	"time"
)

// ToTerminal writes text to the controlling terminal where [StartProgress]
// would draw on it, and nowhere else. It waits no longer than 200 ms for a
// terminal that hangs.
func ToTerminal(text string) { toTerminal(terminalToDrawOn(), text) }

func toTerminal(t terminal, text string) {
	if t == nil {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer t.Close()
		if _, ok := t.width(); ok {
			io.WriteString(t, text)
		}
	}()
	select {
	case <-done:
	case <-time.After(stopWait):
	}
}
