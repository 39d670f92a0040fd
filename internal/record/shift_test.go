package record

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every stamp of a line moves, and nothing else of it does: the columns whose
// names are not those of parts of a request.
func TestShiftMovesEveryStamp(t *testing.T) {
	durations := map[string]bool{"dns_s": true, "dial_s": true, "tls_s": true, "max_gap_s": true}
	var was, is Record
	for _, r := range []*Record{&was, &is} {
		r.Reset()
		for i := range columns {
			if v, ok := columns[i].at(r).(*seconds); ok {
				*v = seconds(1000 + i)
			}
		}
		r.FirstTokens = []int64{7, Absent}
		r.Events = []Event{{At: 8}, {At: 9}}
	}
	is.Shift(5)
	for i := range columns {
		c := &columns[i]
		before, ok := c.at(&was).(*seconds)
		if !ok {
			continue
		}
		want := *before + 5
		if durations[c.key] {
			want = *before
		}
		require.Equal(t, want, *c.at(&is).(*seconds), c.key)
		require.True(t, strings.HasSuffix(c.key, "_s"))
	}
	require.Equal(t, []int64{12, Absent}, is.FirstTokens)
	require.Equal(t, []Event{{At: 13}, {At: 14}}, is.Events)
	var none Record
	none.Reset()
	none.Shift(5)
	require.Equal(t, Absent, none.Done)
}
