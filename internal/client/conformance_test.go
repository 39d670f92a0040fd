package client

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// capture is one response of a real server.
type capture struct {
	name    string
	dialect wire.Dialect
	bytes   string
	reads   []string // as the bytes came
	whole   bool     // the server ended the response, and kept the connection
}

var (
	captureRead = regexp.MustCompile(`(?m)^@ \+[0-9.]+s recv (\d+) bytes$`)
	captureEnd  = regexp.MustCompile(`(?m)^# response: .*?; (.*)$`)
	capturePath = regexp.MustCompile(`(?m)^> [A-Z]+ (\S+) HTTP`)
)

func readCapture(t *testing.T, raw string) capture {
	t.Helper()
	data, err := os.ReadFile(raw)
	require.NoError(t, err)
	notes, err := os.ReadFile(strings.TrimSuffix(raw, ".raw") + ".txt")
	require.NoError(t, err)
	c := capture{name: strings.TrimSuffix(filepath.Base(raw), ".raw"), dialect: wire.Chat, bytes: string(data)}
	if d, ok := wire.ForPath(string(capturePath.FindSubmatch(notes)[1])); ok {
		c.dialect = d
	}
	end := string(captureEnd.FindSubmatch(notes)[1])
	c.whole = end == "end of chunked body" || end == "content-length reached"
	rest := c.bytes
	for _, m := range captureRead.FindAllSubmatch(notes, -1) {
		n, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		n = min(n, len(rest)) // the bytes of one capture are kept to a bound only
		c.reads = append(c.reads, rest[:n])
		rest = rest[n:]
	}
	require.Empty(t, rest)
	return c
}

// expected reads what another program found in the captures.
func expected(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("testdata/captures.txt")
	require.NoError(t, err)
	want := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		name, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		want[name] = rest
	}
	return want
}

func found(r *record.Record) string {
	return fmt.Sprintf("%s|%d|%d|%d|%d|%d|%s", r.Class, r.Status, r.DataEvents, r.TokenEvents, r.InputTokens, r.OutputTokens, r.FinishReason)
}

// TestCaptures replays responses of real servers over loopback: with the
// read boundaries they came with, cut into single bytes (a large one into 5,000 pieces), and in one block.
func TestCaptures(t *testing.T) {
	for _, dir := range []string{"testdata/streams", "../../../shared/streams"} {
		t.Run(filepath.Base(filepath.Dir(dir)), func(t *testing.T) {
			names, err := filepath.Glob(filepath.Join(dir, "*.raw"))
			require.NoError(t, err)
			if len(names) == 0 {
				t.Skip("the whole collection is not here")
			}
			want := expected(t)
			for _, name := range names {
				c := readCapture(t, name)
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.check(t, want[c.name])
				})
			}
		})
	}
}

func (c capture) check(t *testing.T, want string) {
	block := c.replay(t, []string{c.bytes})
	require.Equal(t, want, found(block), block.Message)
	for how, pieces := range map[string][]string{
		"as it came":   c.reads,
		"single bytes": cutAll(c.bytes, 1+len(c.bytes)/5_000),
	} {
		if diff := cmp.Diff(timeless(block), timeless(c.replay(t, pieces))); diff != "" {
			t.Errorf("%s (-in one block +%s)\n%s", how, how, diff)
		}
	}
}

func (c capture) replay(t *testing.T, pieces []string) *record.Record {
	srv := serve(t, false, func(p *peer) {
		p.request()
		p.send(pieces...)
		if c.whole {
			p.request()
		}
	})
	client := start(t, Config{URL: srv.url, Dialect: c.dialect})
	rec := do(t.Context(), client.NewSlot(), Call{}, 0)
	checkStamps(t, rec)
	client.Close()
	return rec
}

// timeless is a record without what may differ from one replay to the next.
func timeless(r *record.Record) record.Record {
	x := *r
	for _, at := range []*int64{
		&x.Scheduled, &x.Sent, &x.Wrote, &x.Connected, &x.Headers, &x.FirstEvent, &x.FirstToken, &x.SecondToken,
		&x.FirstAnswer, &x.LastToken, &x.UsageAt, &x.Done, &x.Dial, &x.MaxGap,
	} {
		if *at != record.Absent {
			*at = 0
		}
	}
	x.BodyEnd = 0 // also whether it is known depends on the reads
	x.Coalesced = 0
	x.Events = nil
	for _, e := range r.Events {
		e.At = 0
		e.Kind &^= record.KindCoalesced
		x.Events = append(x.Events, e)
	}
	return x
}
