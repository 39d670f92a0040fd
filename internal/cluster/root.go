package cluster

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// root is a meeting as shard 0 has it. One goroutine accepts, one reads from
// each shard and one sends it beats; all end with Close.
type root struct {
	cfg      config
	run      meet.Run
	job      *Job
	listener net.Listener
	ended    chan struct{} // closed when the run cannot go on
	ctx      context.Context
	cancel   context.CancelFunc
	work     sync.WaitGroup

	mu      sync.Mutex
	peers   []*peer       // by index; nil for those that have not come, and for shard 0
	remarks []string      // on those that were refused, the first few
	pending []net.Conn    // that have not said who they are
	changed chan struct{} // closed, and made anew, when any of this changes
	why     error         // of ended
	stopped time.Time     // when the load was stopped; zero before
	over    bool          // nothing is a loss any more
	begun   bool          // the clocks' estimates of the load are there
	last    bool          // no pause is answered by more requests any more
	left    string        // which shard is gone that had delivered; empty when none is
}

// errGone says that the connection to a shard has ended.
var errGone = errors.New("its connection was lost")

// mostHandshakes bounds the connections that have not said who they are, beside
// one of each shard.
const mostHandshakes = 64

// lead opens a run as shard 0.
func (j *Job) lead(cfg config, run meet.Run) (*root, error) {
	listener, err := cfg.listen()
	if err != nil {
		return nil, badField(envRendezvous, fmt.Sprintf("%q", cfg.address), fmt.Sprintf("shard 0 cannot listen there (%v): give it the address of shard 0's machine, and a port that is free there", err))
	}
	r := &root{
		cfg: cfg, run: run, job: j, listener: listener, ended: make(chan struct{}),
		peers: make([]*peer, run.Place.Count), changed: make(chan struct{}),
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	r.work.Go(r.accept)
	return r, nil
}

func (r *root) accept() {
	for {
		c, err := r.listener.Accept()
		switch {
		case err == nil:
		case r.ctx.Err() != nil || errors.Is(err, net.ErrClosed):
			return
		default: // no more files, for example: those that wait are taken later
			select {
			case <-time.After(retryEvery):
			case <-r.ctx.Done():
				return
			}
			continue
		}
		if !r.admit(c) {
			_ = c.Close()
			continue
		}
		r.work.Go(func() {
			taken := r.greet(c)
			r.forget(c)
			if !taken {
				_ = c.Close()
			}
		})
	}
}

// admit notes a connection that has not said yet who it is. The oldest one makes
// room: shards say it at once, so that strangers keep none of them out.
func (r *root) admit(c net.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() != nil {
		return false
	}
	if len(r.pending) >= mostHandshakes+r.run.Place.Count {
		_ = r.pending[0].Close()
		r.pending = r.pending[1:]
	}
	r.pending = append(r.pending, c)
	return true
}

func (r *root) forget(c net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pending = slices.DeleteFunc(r.pending, func(o net.Conn) bool { return o == c })
}

// greet finds out who a connection is from, and takes it or not.
func (r *root) greet(c net.Conn) (taken bool) {
	from := host(c)
	in := newConn(c, handshakeTimeout)
	challenge := newChallenge()
	if in.send(kindChallenge, challenge) != nil {
		return false
	}
	_, signed, err := in.receive(kindHello)
	if err != nil {
		return false
	}
	h, err := checkHello(r.cfg.token, challenge, signed)
	if err != nil {
		r.remark("a connection from %s was refused: %v", from, err)
		_ = in.sendJSON(kindRefuse, refusal{Reason: err.Error()})
		return false
	}
	p, no := r.take(h, in, from)
	if no != nil {
		_ = in.sendJSON(kindRefuse, no)
		if no.ends != nil { // now that the shard knows: the end closes its connection
			r.mu.Lock()
			r.end(no.ends)
			r.mu.Unlock()
		}
		return false
	}
	yes, err := json.Marshal(welcome{r.run.Nonce, proof(r.cfg.token, "root", h.Challenge, challenge)})
	if err == nil {
		err = in.write(kindWelcome, yes)
	}
	<-in.writing
	if err != nil {
		r.gone(p, err)
	}
	r.work.Go(func() { r.read(p) })
	r.work.Go(func() { r.beat(p) })
	return true
}

// host is where a connection comes from, without its port.
func host(c net.Conn) string {
	if name, _, err := net.SplitHostPort(c.RemoteAddr().String()); err == nil {
		return name
	}
	return c.RemoteAddr().String()
}

// take takes a shard that has proved that it knows the token, or says why not.
// What no waiting could mend ends the run.
func (r *root) take(h hello, in *conn, from string) (*peer, *refusal) {
	r.job.mu.Lock()
	defer r.job.mu.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	refuse := func(format string, args ...any) *refusal {
		return &refusal{Reason: cleaned(fmt.Sprintf(format, args...))}
	}
	place, n := r.run.Place, h.Index
	fatal := func(format string, args ...any) (*peer, *refusal) {
		no := refuse(format, args...)
		no.ends = fmt.Errorf("%s at %s: %s", shardName(n, place.Count), from, no.Reason)
		return nil, no
	}
	switch known := r.job.instances[n]; {
	case h.Protocol != protocol || h.Version != r.run.Version:
		return fatal("it is slogate %s, and shard 0 is %s: build all shards from the same code", cleaned(h.Version), r.run.Version)
	case h.Count != place.Count || n < 1 || n >= place.Count:
		return fatal("it is %s, and shard 0 is one of %d: give all the same number", shardName(n, h.Count), place.Count)
	case known != "" && known != h.Instance:
		no := refuse("it was restarted, and its requests would be counted twice: let nothing be restarted (Kubernetes: backoffLimitPerIndex 0, restartPolicy Never; Slurm: --no-requeue)")
		if r.peers[n] == nil {
			no.ends = fmt.Errorf("%s at %s: %s", shardName(n, place.Count), from, no.Reason)
		}
		return nil, no
	case h.Number > r.cfg.number:
		no := refuse("shard 0 is still at run %d (%s)", r.cfg.number, r.run.Test)
		if no.Later = true; r.peers[n] == nil {
			no.ends = fmt.Errorf("%s at %s has left it, and is at run %d (%s): see its log", shardName(n, place.Count), from, h.Number, cleaned(h.Test))
		}
		return nil, no
	case h.Number < r.cfg.number:
		return nil, refuse("it is at run %d (%s), and shard 0 at run %d (%s) already", h.Number, h.Test, r.cfg.number, r.run.Test)
	case r.peers[n] != nil:
		return nil, refuse("it has come already")
	case h.Test != r.run.Test:
		return fatal("its run %d is %s, and shard 0's is %s: run all shards with the same flags, and let no run depend on an assertion, since all pass but shard 0's", h.Number, cleaned(h.Test), r.run.Test)
	case string(h.Fingerprint) != string(r.run.Fingerprint):
		return fatal("its scenario is another than shard 0's: %s: give all shards the same test binary, flags and environment", difference(r.run.Fingerprint, h.Fingerprint))
	case r.why != nil:
		return nil, refuse("the run has ended: %v", r.why)
	}
	in.silence = r.cfg.silence
	in.writing <- struct{}{} // greet's, so that nothing is sent before its welcome
	p := &peer{conn: in, place: meet.Place{Index: n, Count: place.Count}, from: from, epoch: h.Epoch, pongs: make(chan received, exchanges), gone: make(chan struct{})}
	r.peers[n], r.job.instances[n] = p, h.Instance
	r.change()
	return p, nil
}

// remark keeps what may explain why a shard does not come.
func (r *root) remark(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	const most = 4
	if text := cleaned(fmt.Sprintf(format, args...)); len(r.remarks) < most && !slices.Contains(r.remarks, text) {
		r.remarks = append(r.remarks, text)
		r.change()
	}
}

// change wakes all that wait for one. The caller holds the lock.
func (r *root) change() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// end makes the run one that cannot go on. The caller holds the lock.
func (r *root) end(why error) {
	if r.why == nil && !r.over {
		r.why = why
		close(r.ended)
	}
	r.change()
}

// lose gives a shard up that has not delivered.
func (r *root) lose(p *peer, why string) {
	r.giveUp(p, why, func(err error) error { return err })
}

// gone gives up one whose connection has ended, and with it its process.
func (r *root) gone(p *peer, err error) {
	why := lossOf(err, r.cfg.silence)
	r.mu.Lock()
	if p.end != nil && p.lost == "" && !r.over {
		r.left = cmp.Or(r.left, cleaned(fmt.Sprintf("%s at %s: %s", shardName(p.place.Index, p.place.Count), p.from, why)))
	}
	r.mu.Unlock()
	r.giveUp(p, why, func(err error) error { return meet.Gone{Why: err} })
}

// Left implements [meet.Root].
func (r *root) Left() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.left
}

func (r *root) giveUp(p *peer, why string, as func(error) error) {
	_ = p.conn.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.end != nil || p.lost != "" || r.over {
		return
	}
	p.lost = cleaned(why)
	r.end(as(fmt.Errorf("%s at %s: %s", shardName(p.place.Index, p.place.Count), p.from, p.lost)))
}

// Nonce implements [meet.Meeting].
func (r *root) Nonce() uint64 { return r.run.Nonce }

// Ended implements [meet.Meeting].
func (r *root) Ended() <-chan struct{} { return r.ended }

// Why implements [meet.Meeting].
func (r *root) Why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.why
}

// makeDir makes the folder of a shard's records.
func (r *root) makeDir(p *peer) error {
	p.dir = shardDir(r.run.Dir, p.place.Index)
	return os.MkdirAll(p.dir, 0o755)
}
