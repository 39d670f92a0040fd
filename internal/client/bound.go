package client

const (
	// backlogBound is after how many reads without a wait the client is taken
	// to be behind, so that large reads help more than stamps of their own.
	backlogBound = 32
	// minBound is the smallest bound of a read, in bytes.
	minBound = 64
	// fullBound is after how many full reads in a row, beyond those, there is
	// so much in the queue that only larger ones help.
	fullBound = 8
)

// eventSize bounds reads to one event, so that events that lie in the socket's
// queue together keep stamps of their own: to what came at once when the reader
// last had to wait for it.
type eventSize struct {
	bound   int // 0 when nothing is known yet
	came    int // bytes read since the reader had to wait
	backlog int // reads without a wait after that
	full    int // of them, the last ones that were not bounded and filled what they were given
}

// behind reports whether the client is taken to be behind, and far whether it is
// so by far.
func (e *eventSize) behind() bool { return e.backlog >= backlogBound }
func (e *eventSize) far() bool    { return e.full >= fullBound }

// room is how much to read of n bytes asked for.
func (e *eventSize) room(n int) int {
	if e.bound > 0 && !e.behind() {
		return min(n, e.bound)
	}
	return n
}

// learn takes note of a read of n bytes, of room that the caller had. An event
// is what was there after a wait, if two reads at most have emptied the queue.
func (e *eventSize) learn(waited bool, n, room int) {
	if e.full++; waited || n < room || !e.behind() {
		e.full = 0
	}
	if waited {
		e.came, e.backlog = 0, 0
	} else {
		e.backlog++
	}
	e.came += n
	if n < room && e.backlog <= 1 {
		e.bound = max(e.came, minBound)
	}
}
