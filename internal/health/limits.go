package health

import (
	"errors"
	"fmt"
)

// Need is what a load is going to use. The zero value needs nothing.
type Need struct {
	// Connections are those open at the same time to one address and port.
	Connections int
	// FilesEach is how many files of this process a connection takes: 1 (also
	// for 0), or 2 when its server is in this process too.
	FilesEach int
	// Sources is how many local addresses they are spread over; 0 means 1.
	Sources int
}

// LimitError says that a limit of the system is too low for a load.
type LimitError struct {
	Limit  string // its name in the system
	Value  int    // what it allows
	Needed int
	Remedy string
	what   string
}

// Error gives the limit, its value, what is needed and the remedy in one line.
func (e *LimitError) Error() string {
	return fmt.Sprintf("%s, but %s allows %d: %s", e.what, e.Limit, e.Value, e.Remedy)
}

// sparePlaces are left for what a run opens beside its connections: result
// files, name resolution, idle connections that are about to be closed.
const sparePlaces = 32

// CheckLimits says before a load whether the system lets this process open its
// connections: files (RLIMIT_NOFILE, which Go has raised to its hard limit)
// beside those that are open now, and ephemeral ports. The error joins one
// [LimitError] for each limit that is too low. A limit that this system does
// not tell (both on Windows) is not checked.
func CheckLimits(n Need) error { return n.check(readLimits()) }

// FileLimit is how many files this process may have open; 0 where the system
// does not tell, or sets no bound.
func FileLimit() int { return readLimits().files }

// limits are what the system allows; 0 means unknown or without bound.
type limits struct {
	files, open int
	ports       int    // free ephemeral ports of one source address
	portRange   string // the name of that limit and its value
	portRemedy  string // a command that raises it
}

func (n Need) check(l limits) error {
	if n.Connections <= 0 {
		return nil
	}
	var errs []error
	needed := l.open + sparePlaces + n.Connections*max(1, n.FilesEach)
	if l.files > 0 && needed > l.files {
		errs = append(errs, &LimitError{
			Limit: "RLIMIT_NOFILE", Value: l.files, Needed: needed,
			what: fmt.Sprintf("%d connections need %d open files (%d are open now)", n.Connections, needed, l.open),
			Remedy: fmt.Sprintf("raise the hard limit before the run (ulimit -n %d as root, LimitNOFILE= of a service, "+
				"--ulimit nofile=%[1]d of a container), or spread the load over several machines", roundUp(needed)),
		})
	}
	sources := max(1, n.Sources)
	if l.ports > 0 && n.Connections > l.ports*sources {
		errs = append(errs, &LimitError{
			Limit: l.portRange, Value: l.ports * sources, Needed: n.Connections,
			what:   fmt.Sprintf("%d connections to one address need as many local ports", n.Connections),
			Remedy: l.portRemedy + ", or use more source addresses, or spread the load over several machines",
		})
	}
	return errors.Join(errs...)
}

// roundUp is the next power of two: a limit is a round number, with room.
func roundUp(n int) int {
	p := 1024
	for p < n {
		p *= 2
	}
	return p
}
