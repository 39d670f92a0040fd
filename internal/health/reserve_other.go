//go:build !linux

package health

// ReserveFiles does nothing: only Linux is known to make a process wait when
// its table of open files grows.
func ReserveFiles(Need) {}
