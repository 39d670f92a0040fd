package bubble

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

func TestInside(t *testing.T) {
	require.False(t, Inside())
	synctest.Test(t, func(t *testing.T) {
		require.True(t, Inside())
		within := make(chan bool)
		go func() { within <- Inside() }()
		require.True(t, <-within)
	})
}
