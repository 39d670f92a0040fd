//go:build unix

package childtest

import (
	"os/exec"
	"syscall"
)

// inOwnGroup starts cmd as a terminal would: as the head of a process group.
func inOwnGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// interruptGroup is Ctrl-C: every process of the group gets the signal.
func interruptGroup(cmd *exec.Cmd) error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
