package wire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

const repeated = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1795957803,"model":"m","choices":[{"index":0,"delta":{"content":"one"},"logprobs":null,"finish_reason":null}]}`

// Which events are taken for repetitions of the one before, counted by the full
// scans that the dialect is asked for.
func TestDecoderKnowsRepetitions(t *testing.T) {
	with := func(text string) string { return strings.Replace(repeated, `"one"`, text, 1) }
	for _, c := range []struct {
		name, then string
		known      bool
	}{
		{"the same", repeated, true},
		{"another text", with(`"two"`), true},
		{"a longer one", with(`" a good deal more than that, over eight bytes"`), true},
		{"shorter", with(`"x"`), true},
		{"escapes", with(`"\n\"\u00e9\\"`), true},
		{"bytes that are no UTF-8, which are taken everywhere", with("\"\xff\""), true},
		{"no text", with(`""`), false},
		{"no string", with(`null`), false},
		{"a quote ends it early", with(`"a"","b"`), false},
		{"a control character", with("\"a\tb\""), false},
		{"no escape", with(`"\x"`), false},
		{"an escaped quote at its end", with(`"two\"`), false},
		{"a further field", with(`"a","reasoning":"b"`), false},
		{"another id", strings.Replace(repeated, "chatcmpl-1", "chatcmpl-2", 1), false},
		{"a finish reason", strings.Replace(repeated, `reason":null`, `reason":"stop"`, 1), false},
		{"cut", repeated[:len(repeated)-1], false},
		{"nothing", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			full := &counting{Dialect: Chat}
			x := NewDecoder(full)
			require.NoError(t, x.Decode(nil, []byte(repeated), new(Event)))
			decodes(t, x, c.then)
			want := 2
			if c.known {
				want = 1
			}
			require.Equal(t, want, full.scans)
		})
	}
}

// A text is known as one only where no error message is made of it.
func TestDecoderNeverRepeatsErrors(t *testing.T) {
	x := NewDecoder(Chat)
	for _, data := range []string{
		`{"error":"one"}`, `{"error":"two"}`,
		`{"error":{"message":"one"},"choices":[{"text":"a"}]}`, `{"error":{"message":"two"},"choices":[{"text":"a"}]}`,
		`{"object":"error","message":"one","choices":[{"text":"a"}]}`, `{"object":"error","message":"one","choices":[{"text":"b"}]}`,
		`{"object":"error","message":"two","choices":[{"text":"b"}]}`,
	} {
		decodes(t, x, data)
	}
	var e Event
	require.NoError(t, x.Decode(nil, []byte(repeated), &e))
	require.NoError(t, x.Decode([]byte("error"), []byte(repeated), &e))
	require.True(t, e.Failed, "the name of an event counts")
}

// counting counts the full scans.
type counting struct {
	Dialect
	scans int
}

func (c *counting) decode(name, data []byte, e *Event) (span, error) {
	c.scans++
	return c.Dialect.(placer).decode(name, data, e)
}

// decodes gives an event to x, whose result has to be that of the dialect.
func decodes(t *testing.T, x *Decoder, data string) {
	t.Helper()
	var got, want Event
	wrong, err := Chat.Decode(nil, []byte(data), &want), x.Decode(nil, []byte(data), &got)
	require.Equal(t, wrong, err, "%q", data)
	if err == nil {
		require.Empty(t, cmp.Diff(want, got), "%q (-want +got)", data)
	}
}

// FuzzDecoder: whatever comes after what, a decoder gives what its dialect does.
// The second event is the first one with a part of it replaced, so that many are
// repetitions or nearly so.
func FuzzDecoder(f *testing.F) {
	for _, test := range chatEvents {
		at := strings.Index(test.data, `":"`) + len(`":"`)
		f.Add(test.data, "two", uint16(at), uint16(1))
	}
	for _, text := range []string{"two", `\u00e9\"`, `"`, `\`, "\x00", "", `a","b":"c`} {
		f.Add(repeated, text, uint16(strings.Index(repeated, "one")), uint16(len("one")))
	}
	f.Fuzz(func(t *testing.T, first, text string, at, length uint16) {
		from := min(int(at), len(first))
		second := first[:from] + text + first[min(from+int(length), len(first)):]
		// Also the text that the decoder found, whatever the fuzzer did.
		var e Event
		third := first
		if found, err := decodeOpenAI(nil, []byte(first), &e); err == nil && found.from > 0 {
			third = first[:found.from] + text + first[found.to:]
		}
		x := NewDecoder(Chat)
		for _, data := range []string{first, second, third, text, first, third, second, second} {
			decodes(t, x, data)
		}
	})
}
