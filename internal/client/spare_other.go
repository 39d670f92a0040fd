//go:build !linux

package client

import "syscall"

// socketHungUp does not know: the request that fails on the connection is then
// sent again.
func socketHungUp(syscall.Conn) (gone, sure bool) { return false, false }
