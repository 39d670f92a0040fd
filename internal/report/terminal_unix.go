//go:build unix

package report

import (
	"os"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

type tty struct{ *os.File }

// openTerminal gives the controlling terminal, nil when there is none.
func openTerminal() terminal {
	f, err := os.OpenFile("/dev/tty", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return tty{f}
}

func (t tty) width() (int, bool) {
	// A process in the background may be stopped for writing (stty tostop),
	// and writes over what the user does in the foreground.
	own, _ := unix.Getpgid(0)
	front, err := unix.IoctlGetInt(int(t.Fd()), unix.TIOCGPGRP)
	if err != nil || front != own {
		return 0, false
	}
	w, _, err := term.GetSize(int(t.Fd()))
	return w, err == nil && w > 0
}
