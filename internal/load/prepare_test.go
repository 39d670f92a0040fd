package load

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// counter yields 0, 1, 2 … and then err; each takes some time.
func counter(n int, err error, takes time.Duration) func() (int, error) {
	i := -1
	return func() (int, error) {
		time.Sleep(takes)
		if i++; i >= n {
			return 0, err
		}
		return i, nil
	}
}

func TestPrepareKeepsTheOrder(t *testing.T) {
	p := Prepare(t.Context(), 8, 8, counter(1000, io.EOF, 0))
	defer p.Close()
	for i := range 1000 {
		got, ok := p.Take(t.Context())
		require.True(t, ok)
		require.Equal(t, i, got)
	}
	_, ok := p.Take(t.Context())
	require.False(t, ok)
	require.NoError(t, p.Err())
}

func TestPrepareGivesEachItemOnce(t *testing.T) {
	const n = 10_000
	p := Prepare(t.Context(), 8, 8, counter(n, io.EOF, 0))
	defer p.Close()
	var mu sync.Mutex
	var all []int
	var takers sync.WaitGroup
	for range 16 {
		takers.Go(func() {
			var mine []int
			for {
				i, ok := p.Take(t.Context())
				if !ok {
					break
				}
				mine = append(mine, i)
			}
			mu.Lock()
			defer mu.Unlock()
			require.True(t, slices.IsSorted(mine))
			all = append(all, mine...)
		})
	}
	takers.Wait()
	slices.Sort(all)
	require.Len(t, all, n)
	require.Equal(t, n-1, all[n-1])
	require.Len(t, slices.Compact(all), n)
}

func TestPrepareIsBoundedAndReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		next := counter(100, io.EOF, time.Second)
		p := Prepare(t.Context(), 4, 4, func() (int, error) {
			i, err := next()
			made++
			return i, err
		})
		start := time.Now()
		p.Ready(t.Context())
		require.Equal(t, 4*time.Second, time.Since(start))
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Equal(t, 5, made, "four that wait and one in hand")
		for range 5 {
			_, ok := p.Take(t.Context())
			require.True(t, ok)
			synctest.Wait()
		}
		require.Zero(t, p.Starved(), "all of them were there")
		start = time.Now()
		for range 3 { // one a second from here
			_, ok := p.Take(t.Context())
			require.True(t, ok)
		}
		require.Equal(t, 3*time.Second, time.Since(start))
		require.Equal(t, 3, p.Starved())
		p.Close()
	})
}

// large is a request of a quarter of what may wait.
type large struct{ n int }

func (*large) Bytes() int { return MostBytes / 4 }

// Large items are made ahead in smaller number, and the start does not wait for
// more of them.
func TestPrepareIsBoundedInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		p := Prepare(t.Context(), 100, 50, func() (*large, error) {
			if made == 20 {
				return nil, io.EOF
			}
			made++
			return &large{made}, nil
		})
		defer p.Close()
		p.Ready(t.Context())
		synctest.Wait()
		require.Equal(t, 4, made)
		for i := range 20 {
			item, ok := p.Take(t.Context())
			require.True(t, ok)
			require.Equal(t, i+1, item.n)
			synctest.Wait()
			require.Equal(t, min(i+5, 20), made)
		}
		_, ok := p.Take(t.Context())
		require.False(t, ok)
		require.Zero(t, p.Starved())
		require.Zero(t, p.held.Load())
	})
}

func TestPrepareKeepsTheError(t *testing.T) {
	broken := errors.New("line 3 is no JSON")
	p := Prepare(t.Context(), 8, 8, counter(2, broken, 0))
	p.Ready(t.Context()) // fewer than fit
	for range 2 {
		_, ok := p.Take(t.Context())
		require.True(t, ok)
	}
	_, ok := p.Take(t.Context())
	require.False(t, ok)
	require.Equal(t, broken, p.Err())
	p.Close()
	require.Equal(t, broken, p.Err())
}

func TestTakeEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Prepare(t.Context(), 0, 0, counter(2, io.EOF, time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		p.Ready(ctx)
		_, ok := p.Take(ctx)
		require.False(t, ok)
		require.Zero(t, p.Starved())
		_, ok = p.Take(t.Context())
		require.True(t, ok)
		p.Close()
	})
}

func TestPrepareStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		byContext := Prepare(ctx, 2, 2, counter(100, io.EOF, 0))
		byClose := Prepare(t.Context(), 2, 2, counter(100, io.EOF, 0))
		byContext.Ready(t.Context())
		byClose.Ready(t.Context())
		cancel()
		byClose.Close()
		for _, p := range []*Preparer[int]{byContext, byClose} {
			p.Close()
			for i := range 2 { // what was there can be taken
				got, ok := p.Take(t.Context())
				require.True(t, ok)
				require.Equal(t, i, got)
			}
			_, ok := p.Take(t.Context())
			require.False(t, ok)
			require.NoError(t, p.Err())
		}
	})
}

// A closed loop fed by a Preparer, as a run is put together.
func TestClosedFromAPreparer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{epoch: time.Now(), takes: always(time.Second)}
		p := Prepare(t.Context(), 8, 8, counter(30, io.EOF, 0))
		defer p.Close()
		p.Ready(t.Context())
		got := plainClosed(t.Context(), s.epoch, plainPlan{Concurrency: 4, Requests: 100}, 0, func(ctx context.Context, slot int, due int64) bool {
			if _, ok := p.Take(t.Context()); !ok {
				return false
			}
			return s.send(ctx, slot, due)
		})
		requireReport(t, Report{Started: 30, Reason: ReasonExhausted, LastStart: 7 * second, Stop: Never, End: 8 * second}, got)
		require.Zero(t, p.Starved())
	})
}
