package perftest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/slogate/slogate/internal/record"
)

// mostAhead bounds the records that wait for the writer.
const mostAhead = 1000

// merge reads the requests of all shards side by side, in the order in which
// they ended, writes them as those of one run, and makes the figures of them.
func (m *merger) merge() (err error) {
	r := m.res
	c := newCollector()
	c.whole = r.Target.API == string(Embeddings) || r.Target.API == string(Rerank)
	for _, p := range m.parts {
		c.tokens.add(p.Tokenizer, p.Counts.TokenizerDiffers)
	}
	w, err := record.Create(filepath.Join(r.Dir, requestsFile), c.add)
	if err != nil {
		return err
	}
	sent, err := m.copyRecords(w)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	for i, p := range m.parts {
		if sent[i] != p.Counts.Sent {
			return fmt.Errorf("%s holds %d measured requests, and its result says %d", filepath.Join(p.Dir, requestsFile), sent[i], p.Counts.Sent)
		}
	}
	c.finish(r, r.Scenario.Load.Concurrency)
	m.health()
	m.warnings()
	return m.serverMetrics()
}

// head is the next record of a shard.
type head struct {
	part int
	rec  *record.Record
	file *os.File
	read *record.Reader
}

// copyRecords writes all records, and says how many measured ones each part has.
func (m *merger) copyRecords(w *record.Writer) (sent []int, err error) {
	var heads []*head
	defer func() {
		for _, h := range heads {
			h.file.Close()
		}
	}()
	for i, p := range m.parts {
		f, err := os.Open(filepath.Join(p.Dir, requestsFile))
		if err != nil {
			return nil, err
		}
		heads = append(heads, &head{part: i, file: f, read: record.NewReader(bufio.NewReaderSize(f, 256<<10))})
	}
	sent = make([]int, len(m.parts))
	live := slices.Clone(heads)
	for i := 0; i < len(live); {
		more, err := m.next(live[i], w, sent)
		if err != nil {
			return nil, err
		}
		if !more {
			live = slices.Delete(live, i, i+1)
			continue
		}
		i++
	}
	for n := 1; len(live) > 0; n++ {
		first := 0
		for i, h := range live {
			if before(h.rec, live[first].rec) {
				first = i
			}
		}
		w.Put(live[first].rec)
		if n%mostAhead == 0 {
			w.Sync()
			if !m.until.IsZero() && time.Now().After(m.until) {
				return nil, fmt.Errorf("the test's deadline came when %d requests were merged: raise go test's -timeout, or merge them without sending (PERFTEST_REPLAY)", n)
			}
		}
		more, err := m.next(live[first], w, sent)
		if err != nil {
			return nil, err
		}
		if !more {
			live = slices.Delete(live, first, first+1)
		}
	}
	return sent, nil
}

// before reports whether a ended before b.
func before(a, b *record.Record) bool {
	return a.Done < b.Done || a.Done == b.Done && a.Index < b.Index
}

// next reads a shard's next record, and makes it one of the whole. A last line
// that is cut off is left out, as ReadResult does.
func (m *merger) next(h *head, w *record.Writer, sent []int) (more bool, err error) {
	p := &m.parts[h.part]
	h.rec = w.Get()
	switch err := h.read.Next(h.rec); {
	case err == io.EOF || errors.Is(err, record.ErrTorn):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", h.file.Name(), err)
	}
	if h.rec.Part == record.Measured {
		sent[h.part]++
		if h.rec.Turn <= 1 && !m.seen.add(uint(h.rec.Index)) { // all turns of a conversation have its index
			return false, fmt.Errorf("%s: request %d is in another shard's part too: the builds of the shards deal requests out in different ways; let all of them run one build", h.file.Name(), h.rec.Index)
		}
	}
	h.rec.Shift(p.shift)
	h.rec.Slot = h.rec.Slot*m.count + p.index
	return true, nil
}

// indexes are numbers from 0, 64 to a word.
type indexes map[uint]uint64

// add reports false when n is there already.
func (s indexes) add(n uint) bool {
	word, bit := s[n/64], uint64(1)<<(n%64)
	s[n/64] = word | bit
	return word&bit == 0
}

// serverMetrics copies what one shard scraped of the server: all ask the same
// one, and its counters are no sum over who asks.
func (m *merger) serverMetrics() error {
	if m.server == nil {
		return nil
	}
	in, err := os.Open(filepath.Join(m.server.Dir, serverFile))
	if err != nil {
		return err
	}
	defer in.Close()
	name := filepath.Join(m.res.Dir, serverFile)
	out, err := os.Create(name)
	if err != nil {
		return err
	}
	err = errors.Join(m.moveScrapes(in, out), out.Close())
	if err != nil {
		return err
	}
	if m.res.server, err = readServerLog(name); err != nil {
		return err
	}
	m.res.Server.URL, m.res.Server.Interval = m.server.Server.URL, m.server.Server.Interval
	m.res.Server.fill(m.res.server)
	return nil
}

// moveScrapes copies the whole lines of server.jsonl, at the merged times.
func (m *merger) moveScrapes(in io.Reader, out io.Writer) error {
	rd, w := bufio.NewReader(in), bufio.NewWriter(out)
	for n := 1; ; n++ {
		line, err := rd.ReadBytes('\n')
		if err == io.EOF {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		var l serverLine
		if err := json.Unmarshal(line, &l); err != nil {
			return fmt.Errorf("%s: line %d: %w", serverFile, n, err)
		}
		l.At += seconds(m.server.shift)
		if err := l.write(w); err != nil {
			return err
		}
	}
}
