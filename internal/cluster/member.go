package cluster

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// member is a meeting as every shard but the first has it. One goroutine reads
// from shard 0, one sends live figures and one follows the records; all end
// with Close.
type member struct {
	cfg     config
	run     meet.Run
	conn    *conn
	nonce   uint64
	starts  chan start
	resumes chan resume
	merged  chan meet.Merged
	ended   chan struct{} // closed when the run cannot go on
	gone    chan struct{} // closed when nothing comes from shard 0 any more
	live    atomic.Pointer[func() meet.Live]
	tail    *tail
	ctx     context.Context
	cancel  context.CancelFunc
	work    sync.WaitGroup

	mu   sync.Mutex
	why  error // of ended
	left error // of gone
}

// join joins shard 0's run, as soon as it is there.
func join(ctx context.Context, cfg config, run meet.Run) (*member, error) {
	ctx, cancel := context.WithTimeout(ctx, cfg.patience)
	defer cancel()
	var last error
	wonder := time.NewTimer(wonderAfter)
	defer wonder.Stop()
	for {
		m, err := knock(ctx, cfg, run)
		if err == nil {
			return m, nil
		}
		var no *refused
		if errors.As(err, &no) {
			return nil, err
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		select {
		case <-time.After(retryEvery):
		case <-wonder.C:
			run.Wait("waiting for shard 0 at %s, for %v at the most: %s", cfg.address, cfg.patience, cleaned(last.Error()))
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return nil, meet.Gone{Why: fmt.Errorf("shard 0 at %s did not take %s within %v (%s): %s", cfg.address, shardName(run.Place.Index, run.Place.Count), cfg.patience, cleaned(last.Error()), notTaken(cfg, run))}
			}
			return nil, context.Cause(ctx)
		}
	}
}

// notTaken says what to do when shard 0 does not come.
func notTaken(cfg config, run meet.Run) string {
	if cfg.number > 1 {
		return fmt.Sprintf("it may have ended without this run %d (%s): see its log, and let no run depend on an assertion, since all pass but shard 0's", cfg.number, run.Test)
	}
	return fmt.Sprintf("see shard 0's log, and whether %s is its address", envRendezvous)
}

// refused is the error of a shard that need not come again.
type refused struct{ reason string }

func (e *refused) Error() string { return e.reason }

// knock tries once.
func knock(ctx context.Context, cfg config, run meet.Run) (_ *member, err error) {
	c, err := cfg.dial(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer func() {
		if !stop() && err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			_ = c.Close()
		}
	}()
	in := newConn(c, handshakeTimeout)
	_, challenge, err := in.receive(kindChallenge)
	if err != nil {
		return nil, fmt.Errorf("what answers there says nothing, or nothing that shard 0 says: %w", err)
	}
	h := hello{
		Protocol: protocol, Version: run.Version, Index: run.Place.Index, Count: run.Place.Count, Instance: cfg.instance,
		Number: cfg.number, Test: run.Test, Fingerprint: run.Fingerprint, Epoch: cfg.stamp(run.Epoch), Challenge: newChallenge(),
	}
	signed, err := h.signed(cfg.token, challenge)
	if err != nil {
		return nil, err
	}
	if len(signed) > helloBytes {
		return nil, &refused{fmt.Sprintf("the scenario's fingerprint has %d bytes, more than the %d that shards exchange", len(run.Fingerprint), helloBytes)}
	}
	if err := in.send(kindHello, signed); err != nil {
		return nil, err
	}
	k, answer, err := in.receive(kindWelcome, kindRefuse)
	if err != nil {
		return nil, err
	}
	if k == kindRefuse {
		no, err := decodeJSON[refusal](answer)
		if err != nil {
			return nil, err
		}
		if no.Later {
			return nil, errors.New(no.Reason)
		}
		return nil, &refused{fmt.Sprintf("shard 0 at %s refused %s: %s", cfg.address, shardName(run.Place.Index, run.Place.Count), cleaned(no.Reason))}
	}
	yes, err := decodeJSON[welcome](answer)
	if err != nil {
		return nil, err
	}
	if !hmac.Equal(yes.Proof, proof(cfg.token, "root", h.Challenge, challenge)) {
		return nil, &refused{fmt.Sprintf("who answers at %s is not shard 0: it does not know the token", cfg.address)}
	}
	in.silence = cfg.silence
	return newMember(cfg, run, in, yes.Nonce), nil
}

func newMember(cfg config, run meet.Run, in *conn, nonce uint64) *member {
	m := &member{
		cfg: cfg, run: run, conn: in, nonce: nonce, starts: make(chan start, 1), resumes: make(chan resume, 1), merged: make(chan meet.Merged, 1),
		ended: make(chan struct{}), gone: make(chan struct{}),
	}
	m.ctx, m.cancel = context.WithCancel(context.Background())
	m.work.Go(m.read)
	m.work.Go(m.show)
	return m
}

// read takes what shard 0 sends.
func (m *member) read() {
	defer close(m.gone)
	for {
		k, data, err := m.conn.receive(kindBeat, kindPing, kindStart, kindResume, kindStop, kindMerged, kindFailed, kindGone)
		if err == nil {
			err = m.handle(k, data)
		} else {
			err = meet.Gone{Why: fmt.Errorf("shard 0 at %s: %s", m.cfg.address, lossOf(err, m.cfg.silence))}
		}
		if err != nil || k == kindMerged {
			m.leave(err)
			return
		}
	}
}

func (m *member) handle(k kind, data []byte) error {
	switch k {
	case kindPing:
		if len(data) != 16 {
			return errors.New("shard 0 sent a ping of another size")
		}
		p, _ := decodePong(data)
		p.clock = m.cfg.clock()
		return m.conn.send(kindPong, p.encode())
	case kindStart:
		s, err := decodeJSON[start](data)
		if err != nil {
			return err
		}
		select {
		case m.starts <- s:
		default:
			return errors.New("shard 0 sent a start that nobody waits for")
		}
	case kindResume:
		return m.resumed(data)
	case kindStop:
		m.end(meet.Stopped(cleaned(string(data))))
	case kindMerged:
		var merged meet.Merged
		if err := json.Unmarshal(data, &merged); err != nil {
			return err
		}
		m.merged <- merged
	case kindFailed:
		return fmt.Errorf("shard 0 at %s: %s", m.cfg.address, cleaned(string(data)))
	case kindGone:
		return meet.Gone{Why: fmt.Errorf("shard 0 at %s: %s", m.cfg.address, cleaned(string(data)))}
	}
	return nil
}

// show sends live figures, which also say that the shard is there.
func (m *member) show() {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			var live meet.Live
			if of := m.live.Load(); of != nil {
				live = (*of)()
			}
			if m.conn.sendJSON(kindLive, live) != nil {
				_ = m.conn.Close() // the reader says why
				return
			}
		case <-m.gone:
			return
		case <-m.ctx.Done():
			return
		}
	}
}

// end makes the run one that cannot go on.
func (m *member) end(why error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.why == nil {
		m.why = why
		close(m.ended)
	}
}

// leave notes that nothing comes from shard 0 any more; nil is the regular end.
func (m *member) leave(why error) {
	_ = m.conn.Close()
	m.mu.Lock()
	m.left = why
	m.mu.Unlock()
	if why != nil {
		m.end(why)
	}
}
