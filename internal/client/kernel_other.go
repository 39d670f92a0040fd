//go:build !(linux && (amd64 || arm64))

package client

import "net"

// kernel is for Linux only.
type kernel struct{}

func newKernel(net.Conn, *wall) *kernel { return nil }

func (*kernel) read([]byte) (n int, at, lag int64, err error) { panic("client: no kernel stamps here") }

func (*kernel) taken([]byte) int { return 0 }

func (*kernel) write([]byte) (int, error) { panic("client: no raw writes here") }
