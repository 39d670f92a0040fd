//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// raw only counts event ends.
type raw struct{ conns []net.Conn }

func newRaw(j job) *raw {
	r := &raw{}
	for range j.Streams {
		nc, err := net.Dial("tcp", j.Addr)
		if err != nil {
			panic(err)
		}
		r.conns = append(r.conns, nc)
	}
	return r
}

func (r *raw) lag() spread { return spread{} }

func (r *raw) expect([]tokens, int) int { return 0 }

func (r *raw) stream(i int, body []byte, t *tokens) error {
	nc := r.conns[i]
	t.events = 0
	if _, err := fmt.Fprintf(nc, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		return err
	}
	buf := make([]byte, 4096)
	tail := []byte("[DONE]\n\n\r\n0\r\n\r\n")
	for {
		n, err := nc.Read(buf)
		if err != nil {
			return err
		}
		t.events += bytes.Count(buf[:n], []byte("\n\n"))
		if bytes.HasSuffix(buf[:n], tail[max(0, len(tail)-n):]) && n >= 5 {
			return nil
		}
	}
}

// naive is the usual client.
type naive struct {
	client *http.Client
	base   string
	zero   time.Time
	origin int64 // zero on the machine's clock
}

func newNaive(j job) *naive {
	zero, origin := together()
	return &naive{&http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: j.Streams}}, "http://" + j.Addr, zero, origin}
}

func (n *naive) lag() spread { return spread{} }

func (n *naive) expect(all []tokens, count int) int {
	for i := range all {
		all[i] = tokens{wrotes: make([]int64, 0, count), stamps: make([]int64, 0, count)}
	}
	return 16 * count
}

func (n *naive) stream(_ int, body []byte, t *tokens) error {
	t.events = 0
	t.sent = n.origin + int64(time.Since(n.zero))
	resp, err := n.client.Post(n.base, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !ok {
			continue
		}
		t.events++
		if string(data) == "[DONE]" {
			continue
		}
		var event struct {
			Choices []struct {
				Delta struct{ Content string }
			}
		}
		if err := json.Unmarshal(data, &event); err != nil {
			return err
		}
		at := n.origin + int64(time.Since(n.zero))
		if content := event.Choices[0].Delta.Content; content != "" {
			wrote, asked, _ := truthIn([]byte(content))
			t.asked = asked
			t.wrotes, t.stamps = append(t.wrotes, wrote), append(t.stamps, at)
		}
	}
	return lines.Err()
}

// together is a moment on both clocks.
func together() (time.Time, int64) {
	var best time.Time
	var origin int64
	closest := int64(1 << 62)
	for range 100 {
		before := monotonic()
		now := time.Now()
		after := monotonic()
		if took := after - before; took < closest {
			closest, best, origin = took, now, (before+after)/2
		}
	}
	return best, origin
}

// truthIn reads what the server wrote into an event's content.
func truthIn(content []byte) (wrote, asked int64, stream int) {
	var b [truthLen / 2]byte
	if _, err := hex.Decode(b[:], content[:truthLen]); err != nil {
		return 0, 0, 0
	}
	return int64(binary.BigEndian.Uint64(b[:8])), int64(binary.BigEndian.Uint64(b[8:16])), int(binary.BigEndian.Uint16(b[16:]))
}

// told is the chat dialect, and notes the true times.
type told struct {
	wire.Dialect
	all   [][]int64 // of each stream
	asked []int64
}

func (d *told) Decode(name, data []byte, e *wire.Event) error {
	if at := len(eventHead) - len("data: "); len(data) > at+truthLen {
		if data[at-1] == '"' {
			if wrote, asked, stream := truthIn(data[at:]); wrote != 0 {
				d.all[stream], d.asked[stream] = append(d.all[stream], wrote), asked
			}
		}
	}
	return d.Dialect.Decode(name, data, e)
}

// ours is package client.
type ours struct {
	client *client.Client
	told   *told // nil at full rate
	slots  []*client.Slot
	recs   []record.Record
	zero   time.Time
	origin int64 // zero on the machine's clock
}

func newOurs(j job) (*ours, error) {
	zero, origin := together()
	o := &ours{zero: zero, origin: origin, recs: make([]record.Record, j.Streams)}
	dialect := wire.Dialect(wire.Chat)
	if j.Rate > 0 || j.Rounds > 0 || j.Kind != "" {
		o.told = &told{wire.Chat, make([][]int64, j.Streams), make([]int64, j.Streams)}
		dialect = o.told
	}
	var err error
	o.client, err = client.New(client.Config{
		URL: "http://" + j.Addr + "/", Dialect: dialect, Epoch: zero,
		Timeouts: client.Timeouts{Connect: time.Minute, FirstToken: time.Minute, BetweenTokens: time.Minute, Total: time.Hour},
	})
	if err != nil {
		return nil, err
	}
	for range j.Streams {
		o.slots = append(o.slots, o.client.NewSlot())
	}
	return o, nil
}

func (o *ours) lag() spread {
	l := o.client.ReadLag()
	return spread{P50: float64(l.P50), P99: float64(l.P99), Max: float64(l.Max)}
}

func (o *ours) expect(all []tokens, count int) int {
	for i := range all {
		all[i] = tokens{}
		o.told.all[i] = make([]int64, 0, count)
		o.recs[i].Events = make([]record.Event, 0, count+2)
	}
	o.client.ResetReadLag()
	return (8 + 16) * count
}

// do sends one request in slot i, and forgets what was told of the one before.
func (o *ours) do(ctx context.Context, i int, body []byte, rec *record.Record, done func(*record.Record)) {
	if o.told != nil {
		o.told.all[i] = o.told.all[i][:0]
	}
	o.slots[i].Do(ctx, client.Call{Body: body}, rec, done)
}

func (o *ours) stream(i int, body []byte, t *tokens) error {
	rec := &o.recs[i]
	rec.Reset()
	final := make(chan bool, 1)
	o.do(context.Background(), i, body, rec, func(*record.Record) { final <- true })
	<-final
	if !rec.OK() {
		return errors.New(rec.Message)
	}
	t.events, t.coalesced = rec.DataEvents, rec.Coalesced
	if o.told == nil {
		return nil
	}
	t.sent, t.asked, t.wrotes, t.stamps = o.origin+rec.Sent, o.told.asked[i], o.told.all[i], nil
	for _, e := range rec.Events {
		if e.Kind&record.KindOutput != 0 {
			t.stamps = append(t.stamps, o.origin+e.At)
		}
	}
	return nil
}
