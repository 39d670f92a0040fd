package perftest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// What several shards found is one line, which says what to do once, and names
// as many as can be read.
func TestFindingsOfManyShards(t *testing.T) {
	busy := func(share string) string { return "machine CPU " + share + " (at most 80%): look for other work" }
	m := &merger{}
	for i, findings := range [][]string{
		{"read lag p99 9.00ms (at most 2.04ms): a quieter machine", busy("99%")}, {}, {busy("98%")}, {busy("97%")}, {busy("96%")}, {busy("95%")},
	} {
		m.parts = append(m.parts, part{index: i, Result: &Result{Health: Health{Findings: findings}}})
	}
	want := []string{
		"shard 0: read lag p99 9.00ms (at most 2.04ms): a quieter machine",
		"shard 0: machine CPU 99% (at most 80%); shard 2: machine CPU 98% (at most 80%); shard 3: machine CPU 97% (at most 80%); shard 4: machine CPU 96% (at most 80%); 1 more: look for other work",
	}
	if d := cmp.Diff(want, m.findings()); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

// A summary has the lines of all shards where there are few, and else of those
// that were the worst.
func TestHealthLinesOfManyShards(t *testing.T) {
	r := &Result{Health: Health{Lines: []string{"all of them"}}}
	for i := range 7 {
		s := ShardInfo{Index: i, Health: Health{Lines: []string{fmt.Sprintf("line %d", i)}}}
		if i == 5 {
			s.Health.Findings = []string{"too much"}
		}
		r.Shards = append(r.Shards, s)
	}
	require.Equal(t, []string{"shard 5: line 5", "shard 0: line 0", "shard 1: line 1", "shard 2: line 2", "3 more, none with more findings: see report.html"}, r.healthLines())
	r.Shards = r.Shards[:4]
	require.Equal(t, []string{"all of them"}, r.healthLines())
}

// A part that is judged by itself says that it is one.
func TestAPartSaysSo(t *testing.T) {
	r := &Result{}
	require.Empty(t, r.partialText())
	r.Scenario.Load.ShardIndex, r.Scenario.Load.ShardCount = 1, 3
	require.Equal(t, "shard 1 of 3 alone", r.partialText())
	r.Shards = []ShardInfo{{}}
	require.Empty(t, r.partialText(), "all of them")
}
