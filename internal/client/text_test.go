package client

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// The text of an answer is kept where it is asked for, that of one request
// after the other and of each choice by itself.
func TestKeepText(t *testing.T) {
	type kept struct {
		Texts []string
		Whole bool
	}
	of := func(rec *record.Record) kept {
		k := kept{Whole: rec.WholeText}
		for _, text := range rec.Texts {
			k.Texts = append(k.Texts, string(text))
		}
		return k
	}
	second := func(text string) string { return strings.Replace(tok(text), `"index":0`, `"index":1`, 1) }
	call := `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"f"}}]}}]}` + "\n\n"
	answers := []string{
		streamOf(role, tok("Once"), tok(" upon"), stop, done),
		streamOf(tok("a"), second("x"), tok("b"), second("y"), stop, done),
		streamOf(tok("short"), stop, done),
		streamOf(tok("a"), call, stop, done),
		streamOf(tok("cut"), done[:3]),
	}
	for _, keep := range []bool{true, false} {
		srv := serve(t, false, func(p *peer) {
			for _, a := range answers {
				if _, ok := p.request(); !ok {
					return
				}
				p.send(a)
			}
		})
		s := start(t, Config{URL: srv.url, KeepText: keep}).NewSlot()
		var rec record.Record
		var got []kept
		for i := range answers {
			rec.Reset()
			final := make(chan struct{})
			call := Call{Body: []byte(`{}`)}
			if i == 1 {
				call.N = 2
			}
			s.Do(t.Context(), call, &rec, func(*record.Record) { close(final) })
			<-final
			got = append(got, of(&rec))
		}
		want := make([]kept, len(answers))
		if keep {
			want = []kept{
				{[]string{"Once upon"}, true}, {[]string{"ab", "xy"}, true}, {[]string{"short"}, true}, {[]string{"a"}, false}, {[]string{"cut"}, true},
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("kept (-want +got):\n%s", d)
		}
	}
}

func TestKeepTextOfWholeAnswers(t *testing.T) {
	srv := serve(t, false, func(p *peer) {
		p.request()
		p.send(plainAnswer("200 OK", "Content-Type: application/json\r\n", `{"choices":[{"message":{"content":"Hi there"},"finish_reason":"stop"}]}`))
	})
	rec := do(t.Context(), start(t, Config{URL: srv.url, KeepText: true, Dialect: wire.Whole(wire.Chat)}).NewSlot(), Call{}, 0)
	require.Empty(t, rec.Message)
	require.Equal(t, "Hi there", string(rec.Texts[0]))
	require.True(t, rec.WholeText)
}
