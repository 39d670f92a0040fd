package perftest

import (
	"cmp"
	"errors"
	"path/filepath"
	"time"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/report/gather"
)

// mostBars bounds the bars of a page's timelines, which are most of its size:
// 25 bytes each, and a third more as base64.
const mostBars = 50_000

// mostForPeers bounds the runs of which a page holds the other tools' readings:
// their percentiles need some 200 bytes a request.
const mostForPeers = 200_000

// gathered is what one pass over a run's requests gives to its page.
type gathered struct {
	*gather.Run
	peers PeerTable // without readings when there were too many requests
}

var errPageDeadline = errors.New("the test's deadline is near: render it later with Compare and ReadResult")

// gather reads the requests of r.
func (r *Result) gather(bars int, deadline time.Time) (*gathered, error) {
	if r.Dir == "" {
		return nil, errors.New("the result has no folder, and so no " + requestsFile)
	}
	end := r.Duration.duration()
	for i := range r.samples.all {
		end = max(end, time.Duration(r.samples.all[i].done))
	}
	g := &gathered{Run: gather.New(gather.Options{End: int64(end), Requests: r.Counts.Sent + r.Counts.Warmup + r.Counts.Start + r.Counts.Padding, Bars: bars})}
	var peers []*peerReader
	if r.Counts.Succeeded <= mostForPeers {
		for i := range allPeers {
			peers = append(peers, newPeerReader(&allPeers[i]))
		}
	}
	n, late := 0, false
	_, err := eachRecord(filepath.Join(r.Dir, requestsFile), func(rec *record.Record) {
		if n++; n%1000 == 0 && !deadline.IsZero() && time.Now().After(deadline) {
			late = true
		}
		if late || !r.has(rec) {
			return
		}
		g.Add(rec)
		if rec.Part != record.Measured || !rec.OK() {
			return
		}
		for _, p := range peers {
			p.add(rec)
		}
	})
	if late {
		err = cmp.Or(errPageDeadline, err)
	}
	if err != nil {
		return nil, err
	}
	g.peers.Result = r
	for _, p := range peers {
		g.peers.Readings = append(g.peers.Readings, p.reading())
	}
	return g, nil
}
