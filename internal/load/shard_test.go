package load

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Each request is one shard's, counted and numbered as the definition has it.
func TestShardRequests(t *testing.T) {
	for _, slots := range []int{0, 1, 5, 8, 13} {
		for count := 1; count <= max(1, slots) && count <= 6; count++ {
			for i := range 100 {
				of := i % count
				if slots > 0 {
					of = i % slots % count
				}
				for index := range count {
					s := Shard{Index: index, Count: count, Slots: slots}
					require.Equal(t, index == of, s.Sends(i), "%d slots, %d shards, request %d", slots, count, i)
					before := s.Requests(i)
					require.Equal(t, index == of, s.Requests(i+1) == before+1)
					if index == of {
						require.Equal(t, i, s.request(before), "%d slots, %d shards", slots, count)
					}
				}
			}
		}
	}
}

// Of 60 requests by 8 slots, which take a second each, shards of two slots send
// twice as many as those of one, and all are busy for the 8 seconds that one
// process would take.
func TestShardsOfUnevenSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		epoch := time.Now()
		var started, planned [5]int
		var ends [5]time.Duration
		var running sync.WaitGroup
		for i := range ends {
			s := &service{epoch: epoch, takes: always(sec)}
			c := ClosedLoop{Options: Options{Requests: 60, Shard: Shard{Index: i, Count: 5, Slots: 8}}, Concurrency: 8}
			running.Go(func() {
				got := c.Run(t.Context(), epoch, s.do)
				started[i], planned[i], ends[i] = got.Started, got.Planned, time.Duration(got.End)
			})
		}
		running.Wait()
		require.Equal(t, [5]int{15, 15, 15, 8, 7}, started, "60 are 7 rounds of 8, and 4 more for shards 0 to 3")
		require.Equal(t, started, planned)
		require.Equal(t, [5]time.Duration{8 * sec, 8 * sec, 8 * sec, 8 * sec, 7 * sec}, ends)
	})
}
