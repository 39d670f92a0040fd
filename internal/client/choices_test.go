package client

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

// Each of several choices has a first token of its own.
func TestFirstTokensOfChoices(t *testing.T) {
	of := func(choice int, text string) string {
		return strings.Replace(tok(text), `"index":0`, fmt.Sprintf(`"index":%d`, choice), 1)
	}
	handle := func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.pace(head, paced{10, chunk(of(2, ""))}, paced{20, chunk(of(1, "a") + of(1, "b"))}, paced{30, chunk(of(0, "a"))},
				paced{40, chunk(of(70, "a"))}, paced{50, chunk(of(1, "c")+stop+done) + last})
		}
	}
	bubble(t, Config{}, handle, func(t *testing.T, s *Slot, _ *pipes) {
		rec := new(record.Record)
		ask := func(n int) []int64 {
			rec.Reset()
			final := make(chan bool, 1)
			s.Do(t.Context(), Call{N: n}, rec, func(*record.Record) { final <- true })
			<-final
			require.Empty(t, rec.Message)
			var after []int64
			for _, at := range rec.FirstTokens {
				if at != record.Absent {
					at = (at - rec.Sent) / ms
				}
				after = append(after, at)
			}
			return after
		}
		require.Equal(t, []int64{30, 20, record.Absent}, ask(3))
		room := &rec.FirstTokens[0]
		require.Empty(t, ask(1))
		require.Empty(t, ask(0))
		require.Equal(t, []int64{30, 20}, ask(2))
		require.Same(t, room, &rec.FirstTokens[0], "memory is used again")
		many := ask(100)
		require.Len(t, many, 64)
		require.Equal(t, []int64{30, 20, record.Absent}, many[:3])
		require.EqualValues(t, 40, many[63])
	})
}
