package sse

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// chunk is a chat event as vLLM sends it.
const chunk = `data: {"id":"chatcmpl-a01127f0-6bdf-5420-b56f-eeb5a3684f76","object":"chat.completion.chunk","created":1795957803,"model":"tiny","choices":[{"index":0,"delta":{"content":" token"},"logprobs":null,"finish_reason":null}]}` + "\n\n"

// endless repeats text, at most size bytes a read.
type endless struct {
	text string
	size int
	at   int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p[:min(len(p), e.size)], e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

func TestNoAllocations(t *testing.T) {
	for name, text := range map[string]string{
		"lf": chunk, "crlf": strings.ReplaceAll(chunk, "\n", "\r\n"), "named": "event: delta\n" + chunk + ": ping\n\n",
		"three lines": "data: {\ndata: }\ndata: \n\n",
	} {
		for _, size := range []int{7, len(text), 64 << 10} {
			x := NewReader(&endless{text: text, size: size}, func() int64 { return 0 })
			x.Next()
			require.Zero(t, testing.AllocsPerRun(1000, func() { x.Next() }), "%s, reads of %d", name, size)
		}
	}
	x := NewLines(&endless{text: "{\"a\":1}\n", size: 13}, func() int64 { return 0 })
	require.Zero(t, testing.AllocsPerRun(1000, func() { x.Next() }), "lines")
}

// BenchmarkReader is the cost of an event: one a read (a paced stream) and
// many a read (a burst), beside a reader that only counts event ends, and
// beside bufio.Scanner, which the usual client uses.
func BenchmarkReader(b *testing.B) {
	burst := strings.Repeat(chunk, 64)
	for _, c := range []struct {
		name, text string
		size       int
	}{{"paced", chunk, len(chunk)}, {"burst", burst, len(burst)}} {
		b.Run(c.name+"/reader", func(b *testing.B) {
			x := NewReader(&endless{text: c.text, size: c.size}, func() int64 { return 0 })
			b.ReportAllocs()
			for b.Loop() {
				x.Next()
			}
		})
		b.Run(c.name+"/count", func(b *testing.B) {
			r, buf, have := &endless{text: c.text, size: c.size}, make([]byte, firstSize), 0
			for b.Loop() {
				for have == 0 {
					n, _ := r.Read(buf)
					have = bytes.Count(buf[:n], []byte("\n\n"))
				}
				have--
			}
		})
		b.Run(c.name+"/scanner", func(b *testing.B) {
			x := bufio.NewScanner(io.Reader(&endless{text: c.text, size: c.size}))
			for b.Loop() {
				for x.Scan() && len(x.Bytes()) == 0 {
				}
			}
		})
	}
}
