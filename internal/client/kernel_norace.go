//go:build !race && linux && (amd64 || arm64)

package client

// acquire is for the race detector only.
func acquire(uintptr) {}
