package assert_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/perftest"
)

func TestMaxLoadAtLeast(t *testing.T) {
	found := &perftest.Capacity{Name: "T", Unit: "concurrency", Lo: 8, Hi: 9, Best: 8, Binding: "TTFT p99 < 1s"}
	for _, c := range []struct {
		found *perftest.Capacity
		least float64
		want  string
	}{
		{found, 8, `^PASS max load at least 8 concurrency: 8 is confirmed$`},
		{found, 8.5, `^FAIL max load at least 8.5 concurrency: 8 is confirmed\nMax load of T: concurrency 8 is confirmed, concurrency 9 is too much`},
		{&perftest.Capacity{Unit: "request_rate"}, 1, `^FAIL max load at least 1 request_rate: 0 is confirmed`},
		{&perftest.Capacity{Best: 20, CutShort: "deadline"}, 1, `(?s)^INVALID .*short probes were met up to concurrency 20.*cut short \(deadline\)`},
		{&perftest.Capacity{Best: 20, ClientLimit: 40}, 1, `(?s)^INVALID .*client limit: at concurrency 40`},
		{nil, 1, `the search is nil`},
		{found, 0, `the least load is 0`},
	} {
		var r recorder
		ok := assert.MaxLoadAtLeast(&r, c.found, c.least)
		require.Equal(t, ok, len(r.errors) == 0)
		require.Regexp(t, c.want, append(r.logs, r.errors...)[0])
	}
}
