package perftest

// ForgetInterrupt lets runs start again after a test has interrupted all.
func ForgetInterrupt() { interrupted.Store(false) }
