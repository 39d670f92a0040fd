//go:build !unix && !windows

package report

// openTerminal knows no terminal on this system.
func openTerminal() terminal { return nil }
