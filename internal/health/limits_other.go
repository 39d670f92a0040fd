//go:build !linux && !darwin

package health

func readLimits() limits { return limits{} }
