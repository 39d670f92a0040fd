package client

const (
	// backlogBound is after how many reads without a wait the client is taken
	// to be behind, so that large reads help more than stamps of their own.
	backlogBound = 32
	// minBound is the smallest bound of a read, in bytes.
	minBound = 64
)

// eventSize bounds reads to one event, so that events that lie in the socket's
// queue together keep stamps of their own: to what came at once when the reader
// last had to wait for it.
type eventSize struct {
	bound   int // 0 when nothing is known yet
	came    int // bytes read since the reader had to wait
	backlog int // reads without a wait after that
}

// room is how much to read of n bytes asked for.
func (e *eventSize) room(n int) int {
	if e.bound > 0 && e.backlog < backlogBound {
		return min(n, e.bound)
	}
	return n
}

// learn takes note of a read of n bytes, with room for more or not. An event is
// what was there after a wait, if two reads at most have emptied the queue.
func (e *eventSize) learn(waited bool, n, room int) {
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
