package wire

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/sse"
)

// capture is one answer of a real server.
type capture struct {
	name    string
	path    string // of the request
	status  int
	kind    string   // media type of the answer
	parts   []string // body, as the socket reads cut it
	cut     bool     // the body's end is missing
	dialect Dialect  // nil where no dialect of this package was asked
}

func (c *capture) body() string { return strings.Join(c.parts, "") }

var (
	reads    = regexp.MustCompile(`(?m)^@ \+[\d.]+s recv (\d+) bytes`)
	postLine = regexp.MustCompile(`(?m)^> [A-Z]+ (\S+) HTTP`)
)

// captures reads the captures in folder.
func captures(t *testing.T, folder string) []*capture {
	files, err := filepath.Glob(filepath.Join(folder, "*.raw"))
	require.NoError(t, err)
	var out []*capture
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		notes, err := os.ReadFile(strings.TrimSuffix(file, ".raw") + ".txt")
		require.NoError(t, err)
		c := &capture{name: strings.TrimSuffix(filepath.Base(file), ".raw"), path: string(postLine.FindSubmatch(notes)[1])}
		c.read(t, string(raw), sizes(t, notes, len(raw)))
		if c.status == 200 {
			c.dialect, _ = ForPath(c.path)
			if c.dialect != nil && c.kind == "application/json" {
				c.dialect = Whole(c.dialect)
			}
		}
		out = append(out, c)
	}
	return out
}

// sizes gives the sizes of the socket reads, of which a capture that grew too
// long keeps the first.
func sizes(t *testing.T, notes []byte, total int) (out []int) {
	for _, m := range reads.FindAllSubmatch(notes, -1) {
		n, err := strconv.Atoi(string(m[1]))
		require.NoError(t, err)
		out = append(out, min(n, total))
		total -= out[len(out)-1]
	}
	require.Zero(t, total, "bytes that came in no read")
	return out
}

// read takes HTTP and its chunks off, and keeps the cuts of the socket reads.
func (c *capture) read(t *testing.T, raw string, sizes []int) {
	head, _, ok := strings.Cut(raw, "\r\n\r\n")
	require.True(t, ok)
	var err error
	c.status, err = strconv.Atoi(strings.Fields(head)[1])
	require.NoError(t, err)
	chunked := false
	for _, line := range strings.Split(head, "\r\n") {
		name, value, _ := strings.Cut(line, ": ")
		switch strings.ToLower(name) {
		case "content-type":
			c.kind, _, _ = strings.Cut(value, ";")
		case "transfer-encoding":
			chunked = value == "chunked"
		}
	}
	inBody := make([]bool, len(raw)) // which bytes are of the body
	at := len(head) + 4
	c.cut = chunked
	for at < len(raw) {
		size := len(raw) - at
		if chunked {
			line, _, ok := strings.Cut(raw[at:], "\r\n")
			n, err := strconv.ParseInt(line, 16, 32)
			if !ok || err != nil {
				break
			}
			if at += len(line) + 2; n == 0 {
				c.cut = false
				break
			}
			size = min(int(n), len(raw)-at)
		}
		for i := range size {
			inBody[at+i] = true
		}
		if at += size; chunked {
			at += 2
		}
	}
	at = 0
	for _, n := range sizes {
		var part []byte
		for ; n > 0; n-- {
			if inBody[at] {
				part = append(part, raw[at])
			}
			at++
		}
		if len(part) > 0 {
			c.parts = append(c.parts, string(part))
		}
	}
}

// seen is an event of a capture, framed and decoded.
type seen struct {
	Name, Data   string
	Unterminated bool
	Event        Event
}

// replay reads the capture's body in the given parts.
func (c *capture) replay(t *testing.T, parts []string) (all []seen, end error) {
	readers := make([]io.Reader, 0, len(parts)+1)
	for _, p := range parts {
		readers = append(readers, strings.NewReader(p)) // a MultiReader joins no two of them
	}
	if c.cut {
		readers = append(readers, broken{})
	}
	body, stamp := io.MultiReader(readers...), func() int64 { return 0 }
	var s sse.Stream
	switch c.dialect.Framing() {
	case SSE:
		s = sse.NewReader(body, stamp)
	case NDJSON:
		s = sse.NewLines(body, stamp)
	case JSON:
		s = sse.NewBody(body, stamp)
	}
	for {
		e, err := s.Next()
		if err != nil {
			lines, excerpt := s.Ignored()
			require.Zero(t, lines, "%s", excerpt)
			return all, err
		}
		one := seen{Name: string(e.Name), Data: string(e.Data), Unterminated: e.Unterminated}
		require.NoError(t, c.dialect.Decode(e.Name, e.Data, &one.Event))
		all = append(all, one)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
