package cluster

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// peer is another shard, as shard 0 has it.
type peer struct {
	conn  *conn
	place meet.Place
	from  string
	epoch int64 // on its clock
	pongs chan received
	gone  chan struct{} // closed when nothing comes from it any more
	pings uint64        // of who measures its clock

	// Its reading goroutine's, until gone.
	dir   string
	file  *os.File
	bytes int64

	// Under the root's lock.
	ready       string // phase that it waits for
	live        meet.Live
	paused      *end // what it had where it waits for a resume; nil where it does not
	end         *end
	first, last estimate
	lost        string
}

// recordsFile is the name of what is kept of a shard's records.
const recordsFile = "requests.jsonl"

func shardDir(dir string, index int) string {
	return filepath.Join(dir, "shards", strconv.Itoa(index))
}

// read takes what a shard sends, until nothing comes any more.
func (r *root) read(p *peer) {
	defer close(p.gone)
	defer func() {
		if p.file != nil {
			if err := p.file.Close(); err != nil {
				r.lose(p, fmt.Sprintf("its records cannot be kept: %v", err))
			}
		}
	}()
	for {
		k, data, err := p.conn.receive()
		if err != nil {
			r.gone(p, err)
			return
		}
		at := r.cfg.clock()
		message, err := decode(k, data)
		if err != nil {
			r.lose(p, fmt.Sprintf("it sent what is no message: %v", err))
			return
		}
		if why := r.handle(p, k, message, at); why != "" {
			if k != kindFailed { // it does not know yet
				_ = p.conn.send(kindFailed, fmt.Appendf(nil, "it gave %s up: %s", shardName(p.place.Index, p.place.Count), cleaned(why)))
			}
			r.lose(p, why)
			return
		}
	}
}

// handle takes one message, and says why the shard is lost where it is.
func (r *root) handle(p *peer, k kind, message any, at int64) (lost string) {
	if p.end != nil && (k == kindRecords || k == kindEnd) { // which nobody but this goroutine sets
		return "it sent more after its end"
	}
	switch m := message.(type) {
	case pong:
		select {
		case p.pongs <- received{m, at}:
		default: // nobody has asked
		}
	case []byte:
		if err := r.keep(p, m); err != nil {
			return fmt.Sprintf("its records cannot be kept: %v", err)
		}
	case string:
		if k == kindFailed {
			return m
		}
		r.mu.Lock()
		p.ready = m
		r.change()
		r.mu.Unlock()
	case meet.Live:
		r.mu.Lock()
		p.live = m
		r.mu.Unlock()
	case end:
		if m.Bytes != p.bytes {
			return fmt.Sprintf("%d of the %d bytes of its records came", p.bytes, m.Bytes)
		}
		m.Problem = cleaned(m.Problem)
		if k == kindPause {
			return r.pause(p, &m)
		}
		r.mu.Lock()
		p.end = &m
		if m.Problem != "" && r.stopped.IsZero() {
			r.end(fmt.Errorf("%s at %s: %s", shardName(p.place.Index, p.place.Count), p.from, m.Problem))
		}
		r.change()
		r.mu.Unlock()
	}
	return ""
}

// keep appends to a shard's records.
func (r *root) keep(p *peer, data []byte) (err error) {
	if p.file == nil {
		if err = r.makeDir(p); err != nil {
			return err
		}
		if p.file, err = os.Create(filepath.Join(p.dir, recordsFile)); err != nil {
			return err
		}
	}
	n, err := p.file.Write(data)
	p.bytes += int64(n)
	return err
}

// beat tells a shard that shard 0 is there.
func (r *root) beat(p *peer) {
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := p.conn.send(kindBeat, nil); err != nil {
				r.gone(p, err)
				return
			}
		case <-p.gone:
			return
		case <-r.ctx.Done():
			return
		}
	}
}

// part is what there is of the shard.
func (r *root) part(i int) meet.Part {
	out := meet.Part{Place: meet.Place{Index: i, Count: r.run.Place.Count}, Lost: "it has not come"}
	p := r.peers[i]
	if p == nil {
		return out
	}
	select {
	case <-p.gone: // its file is closed
		out.Dir = p.dir
	default:
		if p.end != nil || p.paused != nil { // after which nothing is written
			out.Dir = p.dir
		}
	}
	out.From, out.Lost = p.from, p.lost
	out.Offset, out.Bound = p.first.offset, p.first.bound
	if p.last != (estimate{}) {
		out.Drift = p.last.offset - p.first.offset
	}
	out.Epoch = r.since(p)
	if e := cmp.Or(p.end, p.paused); e != nil {
		out.Result, out.Taken, out.Lost = e.Result, e.Taken, cmp.Or(p.lost, e.Problem)
	}
	return out
}
