package perftest

import "fmt"

// badField is the one form of a configuration error: field, value, remedy.
func badField(field string, value any, remedy string) error {
	return fmt.Errorf("%s is %v: %s", field, value, remedy)
}
