package perftest

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/slogate/slogate/internal/client"
)

// slots are the client's, made as an open loop needs more of them. Those that
// are there are found without a lock.
type slots struct {
	client *client.Client
	grow   sync.Mutex
	made   atomic.Pointer[[]*client.Slot]
}

func (s *slots) get(i int) *client.Slot {
	if made := s.made.Load(); made != nil && i < len(*made) {
		return (*made)[i]
	}
	s.grow.Lock()
	defer s.grow.Unlock()
	var more []*client.Slot
	if made := s.made.Load(); made != nil {
		more = slices.Clone(*made)
	}
	for len(more) <= max(i, 0) {
		more = append(more, s.client.NewSlot())
	}
	s.made.Store(&more)
	return more[max(i, 0)]
}
