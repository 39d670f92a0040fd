package client

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBuckets(t *testing.T) {
	for lag, want := range map[int64]time.Duration{
		0: 63, 63: 63, 64: 127, 511: 511, 512: 575, 1023: 1023,
		1024: 1151, // from 1,024 on they are 128 ns wide, from 2,048 on 256
		1151: 1151, 1152: 1279, 2048: 2303, 1_000_000: 1_048_575,
	} {
		require.Equal(t, want, ceiling(bucket(lag)), "%d ns", lag)
	}
	previous := -1
	for lag := int64(0); lag < 20e9; lag += 1 + lag/50 {
		i := bucket(lag)
		require.GreaterOrEqual(t, i, previous)
		require.GreaterOrEqual(t, int64(ceiling(i)), lag)
		require.LessOrEqual(t, int64(ceiling(i)), lag+max(lag/8, 63))
		previous = i
	}
	require.Equal(t, lagBuckets-1, bucket(1<<62))
}

func TestReadLag(t *testing.T) {
	c := start(t, Config{URL: "http://model.example"})
	require.Zero(t, c.ReadLag())
	require.Equal(t, "socket read", c.Clock())
	a, b := c.NewSlot(), c.NewSlot()
	for range 50 {
		a.lags.add(100)
		b.lags.add(1030)
	}
	require.Equal(t, Lag{Reads: 100, P50: 127, P99: 1030, Max: 1030}, c.ReadLag())
	require.Equal(t, "kernel receive (SO_TIMESTAMPING)", c.Clock())
	for range 98 {
		a.lags.add(100)
	}
	b.lags.add(700_000)
	b.lags.add(700_000)
	a.lags.add(-1)
	require.Equal(t, Lag{Reads: 200, Others: 1, P50: 127, P99: 1151, Max: 700_000}, c.ReadLag())
	require.Equal(t, "kernel receive (SO_TIMESTAMPING), but socket read for 1 of 201 reads", c.Clock())
	c.ResetReadLag()
	require.Zero(t, c.ReadLag())
	require.Zero(t, testing.AllocsPerRun(100, func() { a.lags.add(5000) }))
}
