package client

import (
	"bytes"
	"io"
	"log"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a server sends without being asked is no line of anybody's log: it may
// hold anything.
func TestStrayBytesAreNotLogged(t *testing.T) {
	var out bytes.Buffer
	before := log.Writer()
	log.SetOutput(&out)
	defer log.SetOutput(before)
	for name, send := range map[string]func(p *peer){
		"with the end": func(p *peer) { p.send(streamOf(tok("a"), stop, done) + "your key is hunter22") },
		"later":        func(p *peer) { p.send(streamOf(tok("a"), stop, done)); p.send("your key is hunter22") },
	} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan bool, 1)
			srv := serve(t, false, func(p *peer) {
				p.request()
				send(p)
				p.request() // ends when the client has closed
				gone <- true
			})
			c, other := start(t, Config{URL: srv.url}), start(t, Config{URL: srv.url})
			other.NewSlot()
			require.Empty(t, do(t.Context(), c.NewSlot(), Call{}, 0).Message)
			<-gone
			log.Print("hello")
			require.Contains(t, out.String(), "hello")
			require.NotContains(t, out.String(), "Unsolicited")
			require.NotContains(t, out.String(), "hunter22")
			c.Close()
			require.NotEqual(t, &out, log.Writer())
			other.Close()
			other.Close()
			require.Equal(t, io.Writer(&out), log.Writer())
		})
	}
	c := start(t, Config{URL: "http://model.example"})
	c.NewSlot()
	log.SetOutput(io.Discard)
	c.Close()
	require.Equal(t, io.Discard, log.Writer(), "set by another")
}
