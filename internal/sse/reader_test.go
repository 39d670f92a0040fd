package sse

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// event is an Event whose bytes are kept.
type event struct {
	Name, Data   string
	At           int64
	Coalesced    bool
	Unterminated bool
}

// cuts gives one string a read, then the error.
type cuts struct {
	parts []string
	err   error
}

func cut(parts []string, err error) *cuts { return &cuts{slices.Clone(parts), err} }

func (c *cuts) Read(p []byte) (int, error) {
	if len(c.parts) == 0 {
		return 0, c.err
	}
	n := copy(p, c.parts[0])
	if c.parts[0] = c.parts[0][n:]; c.parts[0] == "" {
		c.parts = c.parts[1:]
	}
	return n, nil
}

// counter is a clock that shows 1 after the first read, 2 after the second.
func counter() func() int64 {
	var n int64
	return func() int64 { n++; return n }
}

// drain reads s to its error.
func drain(s Stream) ([]event, error) {
	var all []event
	for {
		e, err := s.Next()
		if err != nil {
			return all, err
		}
		all = append(all, event{string(e.Name), string(e.Data), e.At, e.Coalesced, e.Unterminated})
	}
}

// carried is what all holds besides its stamps.
func carried(all []event) []event {
	out := slices.Clone(all)
	for i := range out {
		out[i].At, out[i].Coalesced = 0, false
	}
	return out
}

func bytewise(s string) []string { return strings.Split(s, "") }

// TestFields has one rule of the WHATWG text a case. Expected values follow
// from the rules, not from this reader.
func TestFields(t *testing.T) {
	tests := []struct {
		name, body string
		want       []event
		ignored    int
	}{
		{"lf", "data: a\n\ndata: b\n\n", []event{{Data: "a"}, {Data: "b"}}, 0},
		{"crlf", "data: a\r\n\r\ndata: b\r\n\r\n", []event{{Data: "a"}, {Data: "b"}}, 0},
		{"cr", "data: a\r\rdata: b\r\r", []event{{Data: "a"}, {Data: "b"}}, 0},
		{"mixed ends", "data: a\r\n\ndata: b\n\rdata: c\r\r\ndata: d\n\n", []event{{Data: "a"}, {Data: "b"}, {Data: "c"}, {Data: "d"}}, 0},
		{"lf cr is two ends", "data: a\n\rdata: b\n\n", []event{{Data: "a"}, {Data: "b"}}, 0},
		{"no space", "data:a\n\n", []event{{Data: "a"}}, 0},
		{"only one space goes", "data:  a \n\n", []event{{Data: " a "}}, 0},
		{"tab stays", "data:\ta\n\n", []event{{Data: "\ta"}}, 0},
		{"colon in value", "data: a:b\n\n", []event{{Data: "a:b"}}, 0},
		{"three lines", "data: a\ndata: b\ndata: c\n\n", []event{{Data: "a\nb\nc"}}, 0},
		{"data without colon", "data\n\n", []event{{Data: ""}}, 0},
		{"two data without colon", "data\ndata\n\n", []event{{Data: "\n"}}, 0},
		{"empty data", "data:\n\ndata: \n\n", []event{{Data: ""}, {Data: ""}}, 0},
		{"lines around a comment", "data: a\n: ping\nid: 7\ndata: b\n\n", []event{{Data: "a\nb"}}, 0},
		{"comment alone", ": ping\n\n:\n\ndata: a\n\n", []event{{Data: "a"}}, 0},
		{"name", "event: delta\ndata: a\n\n", []event{{Name: "delta", Data: "a"}}, 0},
		{"name after data", "data: a\nevent: delta\n\n", []event{{Name: "delta", Data: "a"}}, 0},
		{"last name wins", "event: x\nevent: y\ndata: a\n\n", []event{{Name: "y", Data: "a"}}, 0},
		{"name is of one event", "event: x\ndata: a\n\ndata: b\n\n", []event{{Name: "x", Data: "a"}, {Data: "b"}}, 0},
		{"name without data is no event", "event: x\n\ndata: b\n\n", []event{{Data: "b"}}, 0},
		{"id and retry", "id: 1\nretry: 10\nid\ndata: a\n\n", []event{{Data: "a"}}, 0},
		{"blank lines", "\n\n\r\n\rdata: a\n\n\n\n", []event{{Data: "a"}}, 0},
		{"mark", "\uFEFFdata: a\n\n", []event{{Data: "a"}}, 0},
		{"mark before a comment", "\uFEFF: x\ndata: a\n\n", []event{{Data: "a"}}, 0},
		{"mark and blank line", "\uFEFF\ndata: a\n\n", []event{{Data: "a"}}, 0},
		{"two marks", "\uFEFF\uFEFFdata: a\n\ndata: b\n\n", []event{{Data: "b"}}, 1},
		{"mark later", "data: a\n\n\uFEFFdata: b\n\n", []event{{Data: "a"}}, 1},
		{"other separators", "data: a\u2028b\u0085c\u2029d\vx\fy\n\n", []event{{Data: "a\u2028b\u0085c\u2029d\vx\fy"}}, 0},
		{"field names are exact", "Data: a\n data: b\ndata : c\ndatax\n\n", nil, 4},
		{"no blank line", "data: a\n\ndata: b\n", []event{{Data: "a"}, {Data: "b", Unterminated: true}}, 0},
		{"no line end", "data: a\n\ndata: b", []event{{Data: "a"}, {Data: "b", Unterminated: true}}, 0},
		{"two lines, no end", "data: b\ndata: c", []event{{Data: "b\nc", Unterminated: true}}, 0},
		{"only a mark and data", "\uFEFFdata: b", []event{{Data: "b", Unterminated: true}}, 0},
		{"cut field", "data: a\n\ndat", []event{{Data: "a"}}, 1},
		{"cut name", "data: a\n\nevent: x", []event{{Data: "a"}}, 0},
		{"empty", "", nil, 0},
		{"html", "<html>\n<p>busy</p>\n\n</html>", nil, 3},
		{"json", `{"error":{"message":"busy"}}`, nil, 1},
		{"nul", "data: \x00\n\n", []event{{Data: "\x00"}}, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for how, parts := range map[string][]string{"block": {test.body}, "bytes": bytewise(test.body)} {
				x := NewReader(cut(parts, io.EOF), counter())
				got, err := drain(x)
				require.Equal(t, io.EOF, err, how)
				require.Empty(t, cmp.Diff(test.want, carried(got)), "%s (-want +got)", how)
				lines, _ := x.Ignored()
				require.Equal(t, test.ignored, lines, how)
				require.EqualValues(t, len(test.body), x.Bytes(), how)
				_, err = x.Next()
				require.Equal(t, io.EOF, err, "the end stays")
			}
		})
	}
}

// TestStamps gives a body in named reads: an event has the stamp of the read
// with its last needed byte.
func TestStamps(t *testing.T) {
	tests := []struct {
		name  string
		parts []string
		want  []event
	}{
		{"one a read", []string{"data: a\n\n", "data: b\n\n"}, []event{{Data: "a", At: 1}, {Data: "b", At: 2}}},
		{"two in a read", []string{"data: a\n\ndata: b\n\n", "data: c\n\n"},
			[]event{{Data: "a", At: 1}, {Data: "b", At: 1, Coalesced: true}, {Data: "c", At: 2}}},
		{"blank line later", []string{"data: a\n", "\n"}, []event{{Data: "a", At: 2}}},
		{"end of one and start of next", []string{"data: a\n", "\ndata: b", "\n\n"}, []event{{Data: "a", At: 2}, {Data: "b", At: 3}}},
		{"cr cr at once, lf belongs to it", []string{"data: a\r\r", "\ndata: b\r\n\r", "\n"}, []event{{Data: "a", At: 1}, {Data: "b", At: 2}}},
		{"crlf split", []string{"data: a\r", "\n\r", "\ndata: b\r\n", "\r\n"}, []event{{Data: "a", At: 2}, {Data: "b", At: 4}}},
		{"comment between", []string{"data: a\n\n", ": ping\n\n", "data: b\n\n"}, []event{{Data: "a", At: 1}, {Data: "b", At: 3}}},
		{"utf-8 split", []string{"data: \xe2", "\x80", "\xa8\n\n"}, []event{{Data: "\u2028", At: 3}}},
		{"rest has the last bytes' stamp", []string{"data: a\n\ndata: b", "c"}, []event{{Data: "a", At: 1}, {Data: "bc", At: 2, Unterminated: true}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := drain(NewReader(cut(test.parts, io.EOF), counter()))
			require.Equal(t, io.EOF, err)
			require.Empty(t, cmp.Diff(test.want, got), "(-want +got)")
		})
	}
}

// TestNoByteTooMany hands out an event's bytes and fails on any further read.
func TestNoByteTooMany(t *testing.T) {
	for _, body := range []string{"data: a\n\n", "data: a\r\r", "data: a\r\n\r", "data: a\n\r"} {
		x := NewReader(cut([]string{body}, errors.New("asked for more")), counter())
		e, err := x.Next()
		require.NoError(t, err, "%q", body)
		require.Equal(t, "a", string(e.Data))
	}
}

func TestErrors(t *testing.T) {
	boom := errors.New("boom")
	for _, end := range []error{boom, io.ErrUnexpectedEOF} {
		x := NewReader(cut([]string{"data: a\n\ndata: b\n\ndata: c\n"}, end), counter())
		got, err := drain(x)
		require.Equal(t, end, err)
		require.Len(t, got, 2, "whole events come first, the cut one does not")
		_, err = x.Next()
		require.Equal(t, end, err, "the error stays")
	}
	t.Run("bytes and error in one read", func(t *testing.T) {
		got, err := drain(NewReader(iotest.DataErrReader(strings.NewReader("data: a\n\ndata: b\n\n")), counter()))
		require.Equal(t, io.EOF, err)
		require.Len(t, got, 2)
	})
	t.Run("no progress", func(t *testing.T) {
		_, err := NewReader(cut(slices.Repeat([]string{""}, 200), io.EOF), counter()).Next()
		require.Equal(t, io.ErrNoProgress, err)
		x := NewReader(cut(append(slices.Repeat([]string{""}, 50), "data: a\n\n"), io.EOF), counter())
		_, err = x.Next()
		require.NoError(t, err, "a few empty reads are none of our business")
	})
}

// TestBound checks that the size at which a stream fails does not depend on
// how it is cut.
func TestBound(t *testing.T) {
	tests := []struct {
		name, body string
		events     int
		ok         bool
	}{
		{"line at the bound", "data: " + strings.Repeat("x", 94) + "\n\n", 1, true},
		{"line over it", "data: " + strings.Repeat("x", 95) + "\n\n", 0, false},
		{"line over it, no end", "data: a\n\ndata: " + strings.Repeat("x", 95), 1, false},
		{"comment over it", ":" + strings.Repeat("x", 100) + "\n\n", 0, false},
		{"lines over it together", strings.Repeat("data: "+strings.Repeat("x", 30)+"\n", 4) + "\n", 0, false},
		{"many comments", "data: a\n" + strings.Repeat(": ping ping ping\n", 1000) + "\n", 1, true},
		{"many events", strings.Repeat("data: "+strings.Repeat("x", 90)+"\n\n", 300), 300, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for how, parts := range map[string][]string{"block": {test.body}, "bytes": bytewise(test.body)} {
				x := NewReader(cut(parts, io.EOF), counter())
				x.SetMax(100)
				got, err := drain(x)
				require.Len(t, got, test.events, how)
				if test.ok {
					require.Equal(t, io.EOF, err, how)
					continue
				}
				require.ErrorIs(t, err, ErrTooLarge, how)
				require.EqualError(t, err, "event too large: over 100 bytes")
				_, again := x.Next()
				require.Equal(t, err, again)
				require.Less(t, len(x.buf), 8<<10)
			}
		})
	}
}

func TestLargeEvent(t *testing.T) {
	want := strings.Repeat("0123456789abcdef", 1<<16) // 1 MiB
	body := "data: a\n\ndata: " + want + "\n\ndata: z\n\n"
	got, err := drain(NewReader(iotest.HalfReader(strings.NewReader(body)), counter()))
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 3)
	require.True(t, got[1].Data == want)
}

func TestIgnored(t *testing.T) {
	long := strings.Repeat("y", MaxExcerpt)
	x := NewReader(strings.NewReader("<html>\n"+long+"\nmore\n"), counter())
	_, err := drain(x)
	require.Equal(t, io.EOF, err)
	lines, excerpt := x.Ignored()
	require.Equal(t, 3, lines)
	require.Equal(t, ("<html>\n" + long)[:MaxExcerpt], string(excerpt))

	x.Reset(strings.NewReader("data: a\n\n"), counter())
	got, err := drain(x)
	require.Equal(t, io.EOF, err)
	require.Equal(t, []event{{Data: "a", At: 1}}, got)
	lines, excerpt = x.Ignored()
	require.Zero(t, lines)
	require.Empty(t, excerpt)
	require.EqualValues(t, 9, x.Bytes())
}
