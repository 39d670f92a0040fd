// Package bubble tells of testing/synctest's bubbles, in which time passes only
// while all goroutines wait for each other: one that waits for a network keeps
// it from passing, so that nothing ever happens.
package bubble

import "time"

// Inside reports whether it is called in a bubble, where a time has no monotonic
// reading. It asks no test, since the method Deadline of one panics there, and a
// test may be wrapped (a struct with a testing.TB in it has no Deadline).
func Inside() bool {
	now := time.Now()
	return now == now.Round(0) // which strips it
}
