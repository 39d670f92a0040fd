package perftest

import (
	"testing"

	"github.com/slogate/slogate/internal/record"
	"github.com/stretchr/testify/require"
)

// Tokens of which nothing can be seen belong to the next event that can be seen.
func TestGapsATokenCarryUnseenTokens(t *testing.T) {
	event := func(millis int64, kind record.Kind, tokens int32) record.Event {
		e := at(millis, kind)
		e.Tokens = tokens
		return e
	}
	var g gaps
	r := stream(8,
		event(90, role, 3),       // before the first token: of no gap
		event(100, answered, 1),  //
		event(110, role, 1),      // half a character
		event(120, role, 1),      // the next part of it
		event(160, answered, 1),  // 60 ms over 3 tokens
		event(170, answered, 1),  // 10 ms
		event(190, answered, 0),  // not told
		event(200, finish, 1),    // the end token: of no gap
		event(210, usage|end, 0), //
	)
	g.add(&r)
	require.Equal(t, 3, g.events.Summary().N)
	each := g.tokens.Summary()
	require.Equal(t, 4, each.N)
	require.Equal(t, []float64{17.5e6, 10e6, 20e6}, []float64{each.Mean, each.Min, each.Max}) // (3*20 + 10) / 4
	require.Equal(t, 1, g.untold)
}
