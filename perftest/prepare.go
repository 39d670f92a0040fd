package perftest

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/slogate/slogate/internal/wire"
)

// prepared is a request whose body is encoded, waiting for its turn.
type prepared struct {
	body    []byte
	encoded encoded
	at      time.Duration // in its trace
	planned int
	row     int
	items   int
	then    func(answer string) (Request, bool)
	tag     string
}

// Bytes is what it takes of memory while it waits.
func (p *prepared) Bytes() int { return len(p.body) }

// prepare encodes the workload's next request of this shard. It asks for no
// more than the run wants.
func (d *driver) prepare() (_ *prepared, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("workload: it panicked: %v", p)
		}
	}()
	var req Request
	for mine := false; !mine; d.next.Add(1) {
		next := int(d.next.Load())
		if n := d.asks(); n > 0 && next >= n {
			return nil, io.EOF
		}
		if req, err = d.source.Next(); err != nil {
			break
		}
		mine = d.mine(next)
	}
	if err == io.EOF {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return d.encoded(req)
}

// textRemedy is what to do about an API without texts.
func textRemedy(a API) string {
	if _, standard := a.(StandardAPI); standard {
		return "set Target.API to one of chats or completions, or leave Then out"
	}
	return "give it an AppendText (see TextAPI), or leave Then out"
}

// encoded is a request with its body.
func (d *driver) encoded(req Request) (*prepared, error) {
	if _, ok := wire.AsTexter(d.dialect); req.Then != nil && !ok {
		return nil, fmt.Errorf("workload: a request has a Then, which needs the text of the answer before, and the %s API does not give it: %s", d.api.Name(), textRemedy(d.api))
	}
	body, e, err := d.encode(req, d.params)
	if err != nil {
		return nil, fmt.Errorf("workload: %w", err)
	}
	return &prepared{body: body, encoded: e, at: req.At, planned: req.PlannedInput, row: req.Row, items: len(req.Inputs) + len(req.Documents), then: req.Then, tag: req.Tag}, nil
}

// mostAtOnce is how many requests a trace may have at its first time. The
// requests of a workload without times are all at 0, and may have no end.
const mostAtOnce = 1000

// peek refuses to replay a workload that has no times. It takes what is needed
// to see that, which is given out first.
func (d *driver) peek(ctx context.Context) error {
	if !d.plan.paired {
		return nil
	}
	defer func() { d.peeks = d.ahead.Starved() }()
	d.peeked = make(chan *prepared, mostAtOnce)
	var first time.Duration
	for n := range mostAtOnce {
		p, ok := d.ahead.Take(ctx)
		if !ok {
			return nil
		}
		d.peeked <- p
		if n == 0 {
			first = p.at
		} else if p.at != first {
			return nil
		}
	}
	return fmt.Errorf("workload: its first %d requests are all at %v (Request.At), which is no trace to replay: use a workload with times, or Load Open or Closed (no load was sent)", mostAtOnce, first)
}

// take gives the next prepared request.
func (d *driver) take(ctx context.Context) (*prepared, bool) {
	select {
	case p := <-d.peeked:
		return p, true
	default:
	}
	return d.ahead.Take(ctx)
}

// trace yields prepared requests with their times. The warm-up has taken the
// first ones: the trace then begins with the one after them.
func (d *driver) trace(warmedUp bool) func() (time.Duration, any, bool) {
	first, base := true, time.Duration(0)
	return func() (time.Duration, any, bool) {
		p, ok := d.take(d.stop)
		if !ok {
			return 0, nil, false
		}
		if first && warmedUp {
			base = p.at
		}
		first = false
		return p.at - base, p, true
	}
}
