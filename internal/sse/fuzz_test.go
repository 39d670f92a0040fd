package sse

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// parse is the WHATWG algorithm, word for word and on the whole text, with the
// one addition that an event cut short by the end is given.
func parse(body string) (all []event, ignored int) {
	body = strings.TrimPrefix(body, "\uFEFF")
	body = strings.ReplaceAll(body, "\r\n", "\n")
	body = strings.ReplaceAll(body, "\r", "\n")
	lines := strings.Split(body, "\n")
	var data, name string
	for i, line := range lines {
		last := i == len(lines)-1
		if line == "" && !last {
			if data != "" {
				all = append(all, event{Name: name, Data: strings.TrimSuffix(data, "\n")})
			}
			data, name = "", ""
			continue
		}
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "data":
			data += value + "\n"
		case "event":
			name = value
		case "", "id", "retry":
		default:
			ignored++
		}
	}
	if data != "" {
		all = append(all, event{Name: name, Data: strings.TrimSuffix(data, "\n"), Unterminated: true})
	}
	return all, ignored
}

// FuzzReader compares the reader with the rules' own algorithm, under three
// cuts of the body, and with the read error at the end instead of io.EOF.
func FuzzReader(f *testing.F) {
	f.Add("data: {\"a\":1}\n\ndata: [DONE]\n\n", uint64(1))
	f.Add("\uFEFFevent: x\r\ndata:a\rdata: b\r\r: c\n\nid: 4\nretry:5\ndata\n", uint64(2))
	f.Add("data: a\r\r\ndata: b\r\n\rdata: \u2028\u0085\n\r\n", uint64(3))
	f.Add("<html>\n\n<body>data: x</body>", uint64(4))
	f.Add("data: "+strings.Repeat("long ", 2000)+"\ndata: "+strings.Repeat("y", 5000)+"\n\ndata: z", uint64(5))
	f.Fuzz(func(t *testing.T, body string, seed uint64) {
		want, wantIgnored := parse(body)
		x := NewReader(nil, nil)
		for _, parts := range [][]string{{body}, bytewise(body), randomly(body, seed)} {
			x.Reset(cut(parts, io.EOF), counter())
			got, err := drain(x)
			require.Equal(t, io.EOF, err)
			require.Empty(t, cmp.Diff(want, carried(got)), "(-want +got)")
			ignored, _ := x.Ignored()
			require.Equal(t, wantIgnored, ignored)
			require.EqualValues(t, len(body), x.Bytes())

			whole := want
			if n := len(whole); n > 0 && whole[n-1].Unterminated {
				whole = whole[:n-1]
			}
			x.Reset(cut(parts, io.ErrUnexpectedEOF), counter())
			got, err = drain(x)
			require.Equal(t, io.ErrUnexpectedEOF, err)
			require.Len(t, got, len(whole))
		}
	})
}

// FuzzLines compares with a split of the whole text.
func FuzzLines(f *testing.F) {
	f.Add("{\"a\":1}\n\r\n{\"b\":2}\r\n{}", uint64(1))
	f.Fuzz(func(t *testing.T, body string, seed uint64) {
		var want []event
		lines := strings.Split(body, "\n")
		for i, line := range lines {
			if line = strings.Trim(line, " \t\r"); line != "" {
				want = append(want, event{Data: line, Unterminated: i == len(lines)-1})
			}
		}
		for _, parts := range [][]string{{body}, bytewise(body), randomly(body, seed)} {
			got, err := drain(NewLines(cut(parts, io.EOF), counter()))
			require.Equal(t, io.EOF, err)
			require.Empty(t, cmp.Diff(want, carried(got)), "(-want +got)")
		}
	})
}

// randomly cuts body into reads of 0 to 19 bytes.
func randomly(body string, seed uint64) (parts []string) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for body != "" {
		n := min(rng.IntN(20), len(body))
		parts = append(parts, body[:n])
		body = body[n:]
	}
	return parts
}
