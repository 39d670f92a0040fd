package perftest

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

const (
	// canaryEvery is the time between canary requests: few enough to be nothing
	// beside a load.
	canaryEvery = 500 * time.Millisecond
	// canaryEvents are in each answer, canaryGap apart.
	canaryEvents = 8
	canaryGap    = 10 * time.Millisecond
	// stampDigits is the width of a time of writing in nanoseconds.
	stampDigits = 19
)

// canary asks a server in this process, over loopback and with the client's own
// code, for answers whose events carry the time of their writing. What it takes
// until the client has them is the client's and the machine's, not a server's
// (the null server of MLCommons Endpoints, beside the load).
type canary struct {
	epoch  time.Time
	server *http.Server
	client *client.Client
	stop   context.CancelFunc
	loops  sync.WaitGroup

	lags, ttfts []int64 // nanoseconds; of the loop until it has ended
}

// startCanary starts one, until readings is called.
func startCanary() (*canary, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("canary: %w: leave Scenario.Canary out where this process may not listen", err)
	}
	c := &canary{epoch: time.Now()}
	c.server = &http.Server{Handler: http.HandlerFunc(c.answer)}
	const limit = 10 * time.Second
	c.client, err = client.New(client.Config{
		URL: "http://" + l.Addr().String(), Dialect: wire.Chat, Epoch: c.epoch,
		Timeouts: client.Timeouts{Connect: limit, FirstToken: limit, BetweenTokens: limit, Total: limit},
	})
	if err != nil {
		l.Close()
		return nil, fmt.Errorf("canary: %w", err)
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(context.Background())
	c.loops.Go(func() { _ = c.server.Serve(l) })
	c.loops.Go(func() { c.ask(ctx) })
	return c, nil
}

// answer streams events as a chat does, each with the time just before it is
// written.
func (c *canary) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for i := range canaryEvents {
		if i > 0 {
			select {
			case <-time.After(canaryGap):
			case <-r.Context().Done():
				return
			}
		}
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"%0*d\"}}]}\n\n", stampDigits, int64(time.Since(c.epoch)))
		_ = out.Flush()
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// ask sends one request after the other until ctx ends. The first one, which
// dials, does not count.
func (c *canary) ask(ctx context.Context) {
	slot := c.client.NewSlot()
	tick := time.NewTicker(canaryEvery)
	defer tick.Stop()
	for i := 0; ctx.Err() == nil; i++ {
		var rec record.Record
		rec.Reset()
		slot.Do(ctx, client.Call{Body: []byte("{}"), KeepAnswer: true}, &rec, func(*record.Record) {})
		if i > 0 && rec.Class == "" {
			text, _ := slot.Answer()
			c.take(&rec, text)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// take reads what one answer tells: text is the times of writing of its events.
func (c *canary) take(rec *record.Record, text string) {
	c.ttfts = append(c.ttfts, rec.TTFT())
	for _, e := range rec.Events {
		if e.Kind&record.KindOutput == 0 || len(text) < stampDigits {
			continue
		}
		written, err := strconv.ParseInt(text[:stampDigits], 10, 64)
		if text = text[stampDigits:]; err == nil {
			c.lags = append(c.lags, max(0, e.At-written))
		}
	}
}

// readings ends the canary, and gives how late its events were stamped, and its
// times to first token.
func (c *canary) readings() (lag, ttft Lag, requests int) {
	c.stop()
	_ = c.server.Close()
	c.loops.Wait()
	c.client.Close()
	return lagOf(spread(c.lags)), lagOf(spread(c.ttfts)), len(c.ttfts)
}
