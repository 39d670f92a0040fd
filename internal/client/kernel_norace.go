//go:build !race && linux && (amd64 || arm64)

package client

// acquire and release are for the race detector only.
func acquire(uintptr) {}
func release(uintptr) {}
