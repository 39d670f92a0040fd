package stats

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Values 0 to 9,999 in steps of 1, as samples and as a histogram.
func TestCountAtLeast(t *testing.T) {
	var exact, rough Distribution
	for v := range int64(10_000) {
		exact.Add(v)
		rough.Add(v)
	}
	rough.toHistogram()
	for v, want := range map[int64]int{-5: 10_000, 0: 10_000, 1: 9_999, 2_047: 7_953, 9_999: 1, 10_000: 0} {
		require.Equal(t, want, exact.CountAtLeast(v))
	}
	// Below 2,048 buckets are 1 wide; 9,999 lies in one of 8 that begins at 9,992.
	require.Equal(t, 9_999, rough.CountAtLeast(1))
	require.Equal(t, 8_000, rough.CountAtLeast(2_000))
	require.Equal(t, 8, rough.CountAtLeast(9_999))
	require.Equal(t, 0, rough.CountAtLeast(10_100))
}
