//go:build linux

package main

import "fmt"

// atMost shows a figure with the aim that it is to keep. An exclamation mark is
// for one that does not.
func atMost(format string, v, aim float64) string {
	s := fmt.Sprintf(format+" (<= %g)", v, aim)
	if v > aim {
		s += "!"
	}
	return s
}

// atLeast is atMost for what is to be large.
func atLeast(format string, v, aim float64) string {
	s := fmt.Sprintf(format+" (>= %g)", v, aim)
	if v < aim {
		s += "!"
	}
	return s
}

// against shows s in microseconds, its p99 with an aim.
func (s spread) against(p99 float64) string {
	return fmt.Sprintf("%.1f\t%s\t%.0f", s.P50/1e3, atMost("%.1f", s.P99/1e3, p99), s.Max/1e3)
}
