package cluster

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
)

// Five machines whose clocks are up to 3 s apart, over a network whose ways take
// from 1 ms to tens of ms and are not alike: all begin at one instant, within
// the bounds that shard 0 has kept, and no bound claims too much.
func TestAllBeginAtOneInstant(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShards(t, 5)
				base := time.Now()
				ahead := []time.Duration{0, 3 * time.Second, -3 * time.Second, 1234 * time.Millisecond, -time.Microsecond}
				for i := range s.cfgs {
					s.cfgs[i].clock = func() int64 { return int64(time.Since(base) + ahead[i]) }
					s.cfgs[i].dial = s.net.dial(jittered(2*seed+uint64(i), time.Millisecond, 10*time.Millisecond), jittered(2*seed+100+uint64(i), 3*time.Millisecond, 5*time.Millisecond))
				}
				r, members := s.all()
				all := meetings(r, members)
				for _, phase := range []string{"warm-up", "load"} {
					at := make([]time.Time, len(all))
					var work sync.WaitGroup
					for i, m := range all {
						time.Sleep(time.Duration(i) * 100 * time.Millisecond) // some are ready before others
						work.Go(func() {
							instant, err := m.Begin(t.Context(), phase)
							require.NoError(t, err)
							at[i] = time.Now()
							require.WithinDuration(t, instant, at[i], 0)
						})
					}
					work.Wait()
					for i := 1; i < len(all); i++ {
						e := r.peers[i].first
						require.LessOrEqual(t, at[i].Sub(at[0]).Abs(), e.bound, "shard %d", i)
						require.LessOrEqual(t, (e.offset - ahead[i]).Abs(), e.bound, "shard %d", i)
						require.Less(t, e.bound, 12*time.Millisecond, "the shortest of %d trips is none of the long ones", exchanges)
						require.GreaterOrEqual(t, e.bound, 2*time.Millisecond, "no trip is shorter than 4 ms")
					}
				}
				closeAll(all...)
			})
		})
	}
}

// A clock that runs fast is seen at the end, and each shard's epoch is brought
// to shard 0's clock.
func TestDriftIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		base := time.Now()
		s.cfgs[1].clock = func() int64 {
			since := time.Since(base)
			return int64(2*time.Second + since + since/10_000)
		}
		r, err := s.meet(0, nil)
		require.NoError(t, err)
		time.Sleep(time.Second)
		m, err := s.meet(1, nil) // whose epoch is a second after shard 0's
		require.NoError(t, err)
		require.Equal(t, []error{nil, nil}, begin(t.Context(), "load", r, m))
		require.InDelta(t, time.Second, r.(*root).Epochs()[1], float64(time.Millisecond))
		time.Sleep(1000 * time.Second) // 100 ms by that clock
		var parts []meet.Part
		var work sync.WaitGroup
		work.Go(func() {
			parts = r.(*root).Collect()
			r.(*root).Announce(meet.Merged{Where: "there"})
		})
		_, err = m.(*member).Deliver(context.Background(), meet.Delivery{Result: []byte("{}")})
		require.NoError(t, err)
		work.Wait()
		require.InDelta(t, 2*time.Second, parts[0].Offset, float64(time.Millisecond))
		require.InDelta(t, 100*time.Millisecond, parts[0].Drift, float64(time.Millisecond))
		require.InDelta(t, time.Second, parts[0].Epoch, float64(time.Millisecond))
		require.Zero(t, parts[0].Bound, "the network takes no time")
		closeAll(r, m)
	})
}

// However a trip's time is split between its ways, the estimate is within its
// bound: by hand, for a clock that is 7 ahead.
func TestEstimate(t *testing.T) {
	for _, c := range []struct{ there, back int64 }{{0, 10}, {10, 0}, {5, 5}, {0, 11}, {11, 0}, {0, 0}, {3, 4}} {
		var e estimator
		e.add(100, 100+c.there+7, 100+c.there+c.back)
		require.Equal(t, time.Duration(c.there+c.back+1)/2, e.best.bound)
		require.LessOrEqual(t, (e.best.offset - 7).Abs(), e.best.bound)
		e.add(1000, 0, 1000+c.there+c.back+2)
		require.LessOrEqual(t, (e.best.offset - 7).Abs(), e.best.bound, "a longer trip changes nothing")
	}
}
