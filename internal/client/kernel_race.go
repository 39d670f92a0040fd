//go:build race && linux && (amd64 || arm64)

package client

import "syscall"

// acquire tells the race detector that what happened before the peer's write
// happened before this read, as a read of package net does.
func acquire(fd uintptr) { _, _ = syscall.Read(int(fd), nil) }

// release is its counterpart ahead of a write.
func release(fd uintptr) { _, _ = syscall.Write(int(fd), nil) }
