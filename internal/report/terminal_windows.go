package report

import (
	"os"

	"golang.org/x/sys/windows"
	"golang.org/x/term"
)

type console struct{ *os.File }

// openTerminal gives the console, nil when there is none that understands
// escape sequences.
func openTerminal() terminal {
	f, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil
	}
	var mode uint32
	h := windows.Handle(f.Fd())
	if windows.GetConsoleMode(h, &mode) != nil ||
		windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) != nil {
		f.Close()
		return nil
	}
	return console{f}
}

func (c console) width() (int, bool) {
	w, _, err := term.GetSize(int(c.Fd()))
	return w, err == nil && w > 0
}
