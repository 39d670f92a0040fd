package record

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
)

// lineWith is a shortest valid line with the given members beside.
func lineWith(members string) string {
	return `{"index":1,"phase":"measured"` + members + "}\n"
}

func TestReaderNamesLineAndField(t *testing.T) {
	good := lineWith("")
	for _, c := range []struct{ line, want string }{
		{`[]`, `line 2: no JSON object`},
		{`{}`, `line 2: no JSON object`},
		{`{"phase":"measured"}`, `line 2: index: is missing`},
		{`{"index":1}`, `line 2: phase: is missing`},
		{`{"index":1,"phase":"measured"} x`, `line 2: something follows the object`},
		{`{"index":1,"phase":"measured",}`, `line 2: no JSON object`},
		{`{"index":1 "phase":"measured"}`, `line 2: no JSON object`},
		{`{"index":1,"index":2,"phase":"measured"}`, `line 2: index: is there twice`},
		{`{"index":"1","phase":"measured"}`, `line 2: index: "\"1\"" is not an integer`},
		{`{"index":null,"phase":"measured"}`, `line 2: index: "null" is not an integer`},
		{`{"index":1,"phase":"warm"}`, `line 2: phase: "\"warm\"" is not "measured", "warmup", "start" or "padding"`},
		{lineWith(`,"sent_s":1.`), `line 2: sent_s: "1." is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":.5`), `line 2: sent_s: ".5" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":01`), `line 2: sent_s: "01" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":+1`), `line 2: sent_s: "+1" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":1e3`), `line 2: sent_s: "1e3" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":`), `line 2: sent_s: "" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":0.0000000001`), `line 2: sent_s: "0.0000000001" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":9223372036.854775808`), `line 2: sent_s: "9223372036.854775808" is not a number of seconds with at most nine places`},
		{lineWith(`,"sent_s":99999999999999999999`), `line 2: sent_s: "99999999999999999999" is not a number of seconds with at most nine places`},
		{lineWith(`,"output_tokens":1.5`), `line 2: output_tokens: "1.5" is not an integer`},
		{lineWith(`,"reused":"yes"`), `line 2: reused: "\"yes\"" is not true or false`},
		{lineWith(`,"tag":5`), `line 2: tag: "5" is not a string`},
		{lineWith(`,"tag":"\x"`), `line 2: tag: "\"\\x\"" is not a string`},
		{lineWith(`,"message":["` + strings.Repeat("a", 100) + `"]`), `line 2: message: "[\"` + strings.Repeat("a", 38) + `"... is not a string`},
		{lineWith(`,"choice_first_tokens_s":[1,nul]`), `line 2: choice_first_tokens_s: "nul" is not a number of seconds with at most nine places`},
		{lineWith(`,"event_gaps_s":[null]`), `line 2: event_gaps_s: "null" is not a number of seconds with at most nine places`},
		{lineWith(`,"event_gaps_s":1`), `line 2: event_gaps_s: "1" is not a list`},
		{lineWith(`,"event_gaps_s":[1 2]`), `line 2: event_gaps_s: "[1 2]" is not a list`},
		{lineWith(`,"event_gaps_s":[1,]`), `line 2: event_gaps_s: "" is not a number of seconds with at most nine places`},
		{lineWith(`,"event_gaps_s":[1]`), `line 2: event_kinds: is about 0 events and event_gaps_s about 1`},
		{lineWith(`,"event_kinds":"0"`), `line 2: event_kinds: encoding/hex: odd length hex string`},
		{lineWith(`,"event_gaps_s":[1],"event_kinds":"01","event_tokens":[1,2]`), `line 2: event_tokens: is about 2 events and event_gaps_s about 1`},
		{lineWith(`,"event_gaps_s":[1],"event_kinds":"01","event_tokens":[2147483648]`), `line 2: event_tokens: 2147483648 is out of range`},
		{lineWith(`,"new":nul`), `line 2: no JSON object`},
	} {
		rd := NewReader(strings.NewReader(good + strings.TrimSuffix(c.line, "\n") + "\n" + good))
		var r Record
		require.NoError(t, rd.Next(&r))
		err := rd.Next(&r)
		require.EqualError(t, err, c.want, "line %s", c.line)
		var le *LineError
		require.ErrorAs(t, err, &le)
		require.NotErrorIs(t, err, ErrTorn)
		require.NoError(t, rd.Next(&r), "the line after %s", c.line)
		require.Equal(t, io.EOF, rd.Next(&r))
	}
}

func TestReaderTakesOtherVersions(t *testing.T) {
	in := "\n" + `  { "later" : {"a":[1,"]}\""],"b":null} , "index" : 4 , "ph\u0061se":1, "event_kinds":"03","phase" : "warmup",` +
		` "event_gaps_s" : [ 0.5 ] , "tag" : "\u0041", "sent_s":2.50 } ` + "\r\n\n"
	var want Record
	want.Reset()
	want.Index, want.Part, want.Tag, want.Sent = 4, Warmup, "A", 2_500_000_000
	want.Events = []Event{{At: 3_000_000_000, Kind: KindChoices | KindAnswer}}
	rd := NewReader(strings.NewReader(in))
	var got Record
	require.NoError(t, rd.Next(&got))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("record (-want +got):\n%s", diff)
	}
	require.Equal(t, io.EOF, rd.Next(&got))
	require.Equal(t, io.EOF, rd.Next(&got))
}

// Without its events a record is the same otherwise, whatever they are.
func TestReaderWithoutEvents(t *testing.T) {
	want := *full()
	want.Message = "gave up \"after\" 1 s\n\u2028\x7f\ufffd é"
	want.Events = nil
	rd := NewReader(bytes.NewReader(append(appendLine(nil, full()), lineWith(`,"event_gaps_s":[1 2],"event_kinds":5,"row":7`)...)))
	rd.WithoutEvents = true
	var r Record
	require.NoError(t, rd.Next(&r))
	if diff := cmp.Diff(want, r, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("record (-want +got):\n%s", diff)
	}
	require.NoError(t, rd.Next(&r))
	require.Equal(t, 7, r.Row)
	require.Empty(t, r.Events)
}

// Wherever the file is cut, the whole lines before the cut are there.
func TestTornLine(t *testing.T) {
	file := appendLine(appendLine(nil, full()), full())
	one := len(file) / 2
	for cut := range len(file) + 1 {
		rd := NewReader(iotest.OneByteReader(bytes.NewReader(file[:cut])))
		var r Record
		n := 0
		err := rd.Next(&r)
		for ; err == nil; err = rd.Next(&r) {
			n++
		}
		switch {
		case cut == 0 || cut == one || cut == 2*one: // at the end of a line
			require.Equal(t, io.EOF, err, "cut at %d", cut)
			require.Equal(t, cut/one, n)
		case cut == one-1 || cut == 2*one-1: // only the newline is missing
			require.Equal(t, io.EOF, err, "cut at %d", cut)
			require.Equal(t, (cut+1)/one, n)
		default:
			require.ErrorIs(t, err, ErrTorn, "cut at %d", cut)
			require.Equal(t, cut/one, n)
		}
		require.Equal(t, err, rd.Next(&r), "the end stays")
	}
}

func TestReaderGivesReadErrors(t *testing.T) {
	broken := errors.New("broken disk")
	in := io.MultiReader(strings.NewReader(lineWith("")+`{"ind`), iotest.ErrReader(broken))
	rd := NewReader(in)
	var r Record
	require.NoError(t, rd.Next(&r))
	require.ErrorIs(t, rd.Next(&r), broken)
	require.ErrorIs(t, rd.Next(&r), broken)
}

type endless struct{}

var block = bytes.Repeat([]byte("x"), 64<<10)

func (endless) Read(p []byte) (int, error) { return copy(p, block), nil }

func TestLongLines(t *testing.T) {
	long := full()
	for range 20_000 { // longer than the reader's buffer
		long.Events = append(long.Events, Event{At: 5, Kind: KindAnswer})
	}
	want := *full()
	want.Message = "gave up \"after\" 1 s\n\u2028\x7f\ufffd é"
	file := appendLine(appendLine(nil, long), full())
	rd := NewReader(bytes.NewReader(file))
	var r Record
	require.NoError(t, rd.Next(&r))
	require.Equal(t, long.Events, r.Events)
	require.NoError(t, rd.Next(&r))
	if diff := cmp.Diff(want, r, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("record after a long line (-want +got):\n%s", diff)
	}

	rd = NewReader(endless{})
	require.EqualError(t, rd.Next(&r), "line 1: longer than 67108864 bytes: this is no file of requests")
	require.ErrorIs(t, rd.Next(&r), errTooLong)
}

func FuzzReader(f *testing.F) {
	f.Add(appendLine(nil, full()))
	f.Add([]byte(lineWith("")))
	f.Add([]byte(lineWith(`,"choice_first_tokens_s":[0.5,null],"wrote_s":1`)))
	f.Add([]byte(lineWith(`,"event_gaps_s":[-1],"event_kinds":"7f","event_tokens":[3],"sent_s":-0.5`)))
	f.Add([]byte(lineWith(`,"x":{"a":[{}]},"tag":"\ud83d\ude42"`) + "\n{\"index\":"))
	f.Fuzz(func(t *testing.T, in []byte) {
		rd := NewReader(bytes.NewReader(in))
		var r, again Record
		for range 1 << 16 {
			err := rd.Next(&r)
			var le *LineError
			if err != nil && !errors.As(err, &le) {
				require.Equal(t, io.EOF, err)
				return
			}
			if errors.Is(err, ErrTorn) {
				require.Equal(t, err, rd.Next(&again))
				return
			}
			if err != nil {
				continue
			}
			// What was read is written so that it reads the same.
			require.NoError(t, NewReader(bytes.NewReader(appendLine(nil, &r))).Next(&again))
			if diff := cmp.Diff(r, again, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("read, written and read (-want +got):\n%s", diff)
			}
		}
	})
}
