package client

import (
	"bytes"
	"context"
	"net"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

var classes = []string{
	"", record.ClassStatus, record.ClassReset, record.ClassTruncated, record.ClassStreamError,
	record.ClassMalformed, record.ClassEmpty,
}

// FuzzAnswer lets a server send anything and then close: nothing panics, the
// outcome has a class, and how the bytes were cut into reads changes nothing.
func FuzzAnswer(f *testing.F) {
	for _, c := range oddStreams() {
		if len(c.answer) < 4000 {
			f.Add([]byte(c.answer), uint8(7), uint8(0))
			f.Add([]byte(c.answer), uint8(1), uint8(2))
		}
	}
	f.Fuzz(func(t *testing.T, answer []byte, perRead, dialect uint8) {
		d := []wire.Dialect{wire.Chat, wire.Anthropic, wire.OllamaChat, wire.Embeddings}[dialect%4]
		ask := func(perRead int) *record.Record {
			m := newMemory(answer, perRead)
			m.single = true
			c, err := New(Config{
				URL: "http://model.example/v1", Timeouts: patient, Dialect: d, Epoch: epoch,
				Dial: func(context.Context, string, string) (net.Conn, error) { return m, nil },
			})
			require.NoError(t, err)
			defer c.Close()
			rec := new(record.Record)
			c.NewSlot().ask(t.Context(), rec)
			return rec
		}
		a, b := ask(1<<20), ask(int(max(perRead, 1)))
		for _, r := range []*record.Record{a, b} {
			require.True(t, slices.Contains(classes, r.Class), r.Class)
			require.LessOrEqual(t, len(r.Message), 500)
			require.True(t, utf8.ValidString(r.Message+r.FinishReason))
			require.Equal(t, r.Class == "", r.Message == "")
			require.GreaterOrEqual(t, r.Done, r.Sent)
		}
		x, y := timeless(a), timeless(b)
		x.Bytes, y.Bytes = 0, 0 // what was read ahead counts
		if x.Class == record.ClassMalformed && y.Class == x.Class && bytes.Contains(bytes.ToLower(answer), []byte("content-encoding")) {
			// What decompresses reads ahead: of two faults, in the chunks and
			// in what they hold, the message names the one that was met first.
			x.Message, y.Message = "", ""
		}
		if diff := cmp.Diff(x, y); diff != "" {
			t.Errorf("(-in one block +in reads of %d)\n%s", perRead, diff)
		}
	})
}
