package sse

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

func TestLines(t *testing.T) {
	tests := []struct {
		name  string
		parts []string
		want  []event
	}{
		{"one a read", []string{"{1}\n", "{2}\n"}, []event{{Data: "{1}", At: 1}, {Data: "{2}", At: 2}}},
		{"two in a read", []string{"{1}\n{2}\n", "{3}\n"}, []event{{Data: "{1}", At: 1}, {Data: "{2}", At: 1, Coalesced: true}, {Data: "{3}", At: 2}}},
		{"crlf and blank lines", []string{"\n{1}\r\n\r\n", "  \n {2} \n"}, []event{{Data: "{1}", At: 1}, {Data: "{2}", At: 2}}},
		{"split", []string{"{", "1", "}", "\n{2}\n"}, []event{{Data: "{1}", At: 4}, {Data: "{2}", At: 4, Coalesced: true}}},
		{"no last end", []string{"{1}\n{2", "}"}, []event{{Data: "{1}", At: 1}, {Data: "{2}", At: 2, Unterminated: true}}},
		{"blank rest", []string{"{1}\n ", "\r"}, []event{{Data: "{1}", At: 1}}},
		{"empty", nil, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			x := NewLines(cut(test.parts, io.EOF), counter())
			got, err := drain(x)
			require.Equal(t, io.EOF, err)
			require.Empty(t, cmp.Diff(test.want, got), "(-want +got)")
			require.EqualValues(t, len(strings.Join(test.parts, "")), x.Bytes())
		})
	}
	x := NewLines(&cuts{[]string{"{1}\n{2}"}, io.ErrUnexpectedEOF}, counter())
	got, err := drain(x)
	require.Equal(t, io.ErrUnexpectedEOF, err)
	require.Len(t, got, 1, "a cut line is not given")

	x.SetMax(10)
	x.Reset(strings.NewReader("{1}\n"+strings.Repeat("x", 11)), counter())
	got, err = drain(x)
	require.ErrorIs(t, err, ErrTooLarge)
	require.Len(t, got, 1)
}

func TestBody(t *testing.T) {
	x := NewBody(&cuts{[]string{"{\n", "1}\n"}, io.EOF}, counter())
	got, err := drain(x)
	require.Equal(t, io.EOF, err)
	require.Empty(t, cmp.Diff([]event{{Data: "{\n1}\n", At: 2}}, got), "(-want +got)")

	for body, end := range map[string]error{"": io.EOF, " \r\n": io.EOF, "{": io.ErrUnexpectedEOF} {
		x.Reset(cut([]string{body}, end), counter())
		got, err = drain(x)
		require.Equal(t, end, err)
		require.Empty(t, got)
	}

	x.SetMax(10)
	x.Reset(strings.NewReader(strings.Repeat("x", 10)), counter())
	got, err = drain(x)
	require.Equal(t, io.EOF, err)
	require.Len(t, got, 1)
	x.Reset(strings.NewReader(strings.Repeat("x", 11)), counter())
	_, err = drain(x)
	require.ErrorIs(t, err, ErrTooLarge)
}
