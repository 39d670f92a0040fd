package client

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// counts are the tokens of an answer.
type counts struct{ In, Out, Cached int64 }

// Usage comes once, or for each choice, in events of its own or in the choice's.
func TestUsageOfChoices(t *testing.T) {
	own := func(usage string) string { return `data: {"choices":[],"usage":{` + usage + "}}\n\n" }
	in := func(choice int, rest string) string {
		return fmt.Sprintf(`data: {"choices":[{"index":%d,"text":"a",%s}`+"\n\n", choice, rest)
	}
	text := func(choice int) string { return in(choice, `"finish_reason":null}]`) }
	fin := func(choice, input, output int) string {
		return in(choice, fmt.Sprintf(`"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}`, input, output))
	}
	grown := func(choice, input, output int) string {
		return in(choice, fmt.Sprintf(`"finish_reason":null}],"usage":{"prompt_tokens":%d,"completion_tokens":%d}`, input, output))
	}
	for name, c := range map[string]struct {
		call  Call
		parts []string
		want  counts
	}{
		"with the finish of each choice": {Call{N: 2}, []string{text(0), text(1), fin(0, 5, 3), fin(1, 5, 4)}, counts{5, 7, none}},
		"in each event":                  {Call{N: 2}, []string{grown(0, 5, 1), grown(1, 5, 1), grown(0, 5, 2), fin(1, 5, 3), fin(0, 5, 4)}, counts{5, 7, none}},
		"in each event, and the sum":     {Call{N: 2}, []string{grown(0, 5, 1), grown(1, 5, 1), fin(1, 5, 3), fin(0, 5, 4), use(5, 7)}, counts{5, 7, none}},
		"zeros, and the sum at last":     {Call{N: 2}, []string{grown(0, 0, 0), grown(1, 0, 0), fin(0, 0, 0), fin(1, 5, 7)}, counts{5, 7, none}},
		"an event a choice":              {Call{N: 2}, []string{text(0), text(1), fin(0, 0, 0), fin(1, 0, 0), use(5, 3), use(5, 4)}, counts{5, 7, none}},
		"one for all":                    {Call{N: 2}, []string{text(0), text(1), use(5, 7)}, counts{5, 7, none}},
		"a choice that nobody asked for": {Call{N: 2}, []string{fin(0, 5, 3), fin(1, 5, 4), fin(900_000_000, 5, 4)}, counts{5, 7, none}},

		"an event a prompt":         {Call{N: 2, Prompts: 2}, []string{text(0), text(1), use(5, 3), use(6, 4)}, counts{11, 7, none}},
		"one for all prompts":       {Call{N: 2, Prompts: 2}, []string{text(0), text(1), use(11, 7)}, counts{11, 7, none}},
		"with the end of a prompt":  {Call{N: 2, Prompts: 2}, []string{fin(0, 5, 3), fin(1, 6, 4)}, counts{11, 7, none}},
		"two choices of two":        {Call{N: 4, Prompts: 2}, []string{fin(0, 5, 1), fin(3, 6, 4), fin(2, 6, 3), fin(1, 5, 2)}, counts{11, 10, none}},
		"an event a choice of both": {Call{N: 4, Prompts: 2}, []string{text(0), use(5, 1), use(5, 2), use(6, 3), use(6, 4)}, counts{11, 10, none}},
		"an event a prompt of both": {Call{N: 4, Prompts: 2}, []string{text(0), use(5, 3), use(6, 7)}, counts{11, 10, none}},
		"what was cached of each prompt": {Call{N: 2, Prompts: 2}, []string{text(0),
			own(`"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":4}`),
			own(`"prompt_tokens":6,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":0}`)}, counts{11, 3, 4}},
		"one prompt": {Call{}, []string{grown(0, 5, 1), fin(0, 5, 2)}, counts{5, 2, none}},
	} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, false, func(p *peer) { p.request(); p.send(streamOf(append(c.parts, done)...)); p.request() })
			rec := do(t.Context(), start(t, Config{URL: srv.url, Dialect: wire.Completions}).NewSlot(), c.call, 0)
			require.Empty(t, rec.Message)
			if d := cmp.Diff(c.want, counts{rec.InputTokens, rec.OutputTokens, rec.CachedTokens}); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
			require.Equal(t, record.SourceUsage, rec.OutputSource)
		})
	}
}

func TestAudioTokens(t *testing.T) {
	sound := `data: {"choices":[],"usage":{"prompt_tokens":15,"completion_tokens":9,"prompt_tokens_details":{"audio_tokens":12},"completion_tokens_details":{"audio_tokens":8}}}` + "\n\n"
	for _, n := range []int{1, 2} {
		srv := serve(t, false, func(p *peer) { p.request(); p.send(streamOf(tok("a"), stop, sound, done)); p.request() })
		rec := do(t.Context(), start(t, Config{URL: srv.url}).NewSlot(), Call{N: n}, 0)
		require.Equal(t, []int64{8, 12}, []int64{rec.AudioTokens, rec.InputAudio})
	}
	rec := askOnce(t, wire.Chat, streamOf(tok("a"), stop, use(3, 1), done))
	require.Equal(t, []int64{none, none}, []int64{rec.AudioTokens, rec.InputAudio})
}
