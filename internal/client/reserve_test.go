package client

import (
	"context"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Any slot's first request goes over a connection of the reserve and waits for
// no dial; what was taken is replaced, and so is what nobody took, one after the
// other in 3 s. Nothing is left when it stops.
func TestReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &pipes{handle: answerAll}
		c := start(t, Config{URL: "http://model.example", Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
			time.Sleep(100 * time.Millisecond)
			return n.dial(ctx, network, addr)
		}})
		var want, taken atomic.Int64
		want.Store(2)
		begun := time.Now()
		stop := c.Reserve(t.Context(), func(n int) int { taken.Add(int64(n)); return int(want.Load()) })
		require.Equal(t, 100*time.Millisecond, time.Since(begun), "the first ones are there")
		for i := range 2 {
			rec := do(t.Context(), c.NewSlot(), Call{}, 0)
			require.Equal(t, rec.Sent, rec.FirstToken)
			require.False(t, rec.Reused)
			require.Equal(t, []int64{-1, -1, -1}, []int64{rec.DNS, rec.Dial, rec.TLS})
			synctest.Wait()
			require.EqualValues(t, i+1, taken.Load())
		}
		rec := do(t.Context(), c.NewSlot(), Call{}, 0)
		require.EqualValues(t, 100*time.Millisecond, rec.FirstToken-rec.Sent, "there was none: it dials itself")

		time.Sleep(time.Second)
		require.EqualValues(t, 2+2+1, n.conns.Load(), "two were replaced, and one was the slot's own")
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 5+2, n.conns.Load(), "those that wait are replaced, once")
		rec = do(t.Context(), c.NewSlot(), Call{}, 0)
		require.Equal(t, rec.Sent, rec.FirstToken)
		want.Store(0)
		time.Sleep(time.Second)
		stop()
		before := n.conns.Load()
		rec = do(t.Context(), c.NewSlot(), Call{}, 0)
		require.EqualValues(t, 100*time.Millisecond, rec.FirstToken-rec.Sent)
		require.Equal(t, before+1, n.conns.Load())
		c.Close()
		n.all.Wait() // no connection is left open
	})
}

// A server that cannot be dialled ends no reserve, and is not asked more than
// twice a second.
func TestReserveThatCannotDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dials atomic.Int64
		c := start(t, Config{URL: "http://model.example", Dial: func(context.Context, string, string) (net.Conn, error) {
			dials.Add(1)
			return nil, net.ErrClosed
		}})
		stop := c.Reserve(t.Context(), func(int) int { return 1 })
		time.Sleep(10*time.Second + time.Millisecond)
		stop()
		require.EqualValues(t, 1+20, dials.Load())
	})
}
