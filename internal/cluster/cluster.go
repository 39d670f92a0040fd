// Package cluster lets the processes that send one plan together, the shards of
// a job, meet for each run: one plan, one start, one result.
//
// The protocol, over one TCP connection from each shard to shard 0 a run:
//
//  1. A frame is a byte that says what it is, four bytes of length (big
//     endian) and so many bytes, bounded for each kind.
//  2. Shard 0 sends a challenge of 32 random bytes.
//  3. The shard sends hello: version, shard i of n, its process, number and
//     test of the run, fingerprint of the scenario, epoch, a challenge of its
//     own, and the HMAC-SHA256 of all that and of both challenges by the token.
//  4. Shard 0 sends welcome (the run's nonce, and an HMAC of the challenges, so
//     that the shard knows it too) or refuse: for ever, or until later.
//  5. From then on each side sends something at least once a second (live
//     figures of the shard, a beat of shard 0); silence is a loss.
//  6. The shard sends ready; when all are, shard 0 sends pings, whose
//     pongs carry the shard's clock, and then start: an instant on that clock.
//  7. The shard sends records: the bytes of its requests.jsonl, as its disk has
//     them.
//  8. Where a run may be prolonged, the shard sends pause with its result so far;
//     when all have, shard 0 sends resume with the number of requests by which
//     all go on, from a start on, or 0.
//  9. Shard 0 sends stop when no shard is to start any more requests.
//  10. The shard sends end with its result; shard 0 pings again, and sends merged.
//  11. Either side sends failed, with a reason, when it leaves before that, or
//     shard 0 sends gone, when the process of a shard is.
//
// The token authenticates who joins; what is sent is neither encrypted nor
// authenticated by itself, so that the network between shards has to be one
// that nobody else can write to.
package cluster

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/meet"
)

// The environment that a job is found by.
const (
	envRendezvous = "PERFTEST_RENDEZVOUS"
	envToken      = "PERFTEST_TOKEN"
	envWait       = "PERFTEST_RENDEZVOUS_WAIT"
	envShards     = "PERFTEST_SHARDS"
)

// How long is waited.
const (
	defaultPatience  = 5 * time.Minute  // for the others, at the start: a cluster's engine may have to fetch images
	defaultSilence   = 20 * time.Second // after which a shard that says nothing is lost
	handshakeTimeout = 10 * time.Second
	beatEvery        = time.Second
	retryEvery       = 200 * time.Millisecond
	wonderAfter      = 10 * time.Second // it is said who is waited for
)

// config is how shards reach each other.
type config struct {
	address  string // of shard 0, as shown
	token    []byte
	patience time.Duration
	silence  time.Duration
	listen   func() (net.Listener, error)
	dial     func(context.Context) (net.Conn, error)
	clock    func() int64 // of this machine, nanoseconds
	instance string       // of this process
	number   int          // of the run, from 1
}

// stamp is a moment on c's clock.
func (c *config) stamp(t time.Time) int64 { return c.clock() - int64(time.Since(t)) }

// Job is this process's part of a job.
type Job struct {
	getenv   func(string) string
	instance string
	clock    func() int64

	mu        sync.Mutex
	instances map[int]string // of the shards that shard 0 has met
}

// New is the job that an environment describes, which is read at each meeting.
func New(getenv func(string) string) *Job {
	base := time.Now()
	wall := base.UnixNano()
	return &Job{
		getenv: getenv, instance: instanceID(), instances: map[int]string{},
		clock: func() int64 { return wall + int64(time.Since(base)) },
	}
}

func instanceID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	return hex.EncodeToString(id[:])
}

// Meet implements [meet.Job].
func (j *Job) Meet(ctx context.Context, r meet.Run) (meet.Meeting, error) {
	cfg, err := j.config(r.Number)
	if err != nil {
		return nil, err
	}
	return j.meet(ctx, cfg, r)
}

func (j *Job) meet(ctx context.Context, cfg config, r meet.Run) (meet.Meeting, error) {
	if r.Place.Index == 0 {
		root, err := j.lead(cfg, r)
		if err != nil {
			return nil, err // a nil of the interface's own
		}
		return root, nil
	}
	m, err := join(ctx, cfg, r)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// config reads the environment.
func (j *Job) config(run int) (config, error) {
	address := j.getenv(envRendezvous)
	host, port, err := net.SplitHostPort(address)
	number, bad := strconv.ParseUint(port, 10, 16)
	if err != nil || bad != nil || number == 0 || host == "" || strings.ContainsAny(host, " /") || net.ParseIP(host).IsUnspecified() {
		return config{}, badField(envRendezvous, fmt.Sprintf("%q", address), `set it to "host:port" at which the others find shard 0, such as "perf-0.perf:7788" or "[fd00::1]:7788"`)
	}
	token := strings.TrimSpace(j.getenv(envToken)) // a secret that was read from a file has a line's end
	if len(token) < leastToken {
		return config{}, fmt.Errorf("%s is %s: set it, in all shards, to the same secret of %d bytes or more (openssl rand -hex 32)", envToken, tokenState(token), leastToken)
	}
	patience := defaultPatience
	if text := j.getenv(envWait); text != "" {
		if patience, err = time.ParseDuration(text); err != nil || patience <= 0 {
			return config{}, badField(envWait, fmt.Sprintf("%q", text), `set it to how long to wait for all shards, such as "10m"`)
		}
	}
	dialer := net.Dialer{Timeout: handshakeTimeout} // a name may lead elsewhere by then
	return config{
		address: address, token: []byte(token), patience: patience, silence: defaultSilence,
		listen:   func() (net.Listener, error) { return net.Listen("tcp", listenAddress(host, port)) },
		dial:     func(ctx context.Context) (net.Conn, error) { return dialer.DialContext(ctx, "tcp", address) },
		clock:    j.clock,
		instance: j.instance, number: run,
	}, nil
}

// leastToken is the least length of a token that is worth the name.
const leastToken = 16

func tokenState(token string) string {
	if token == "" {
		return "empty"
	}
	return "shorter than that"
}

// listenAddress is where shard 0 listens: at the address itself where it is
// one, else on all of the machine's, since a stable name may not lead to it yet.
func listenAddress(host, port string) string {
	if ip := net.ParseIP(host); ip != nil {
		return net.JoinHostPort(host, port)
	}
	if strings.EqualFold(host, "localhost") {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return net.JoinHostPort("", port)
}

func badField(field, value, remedy string) error {
	return fmt.Errorf("%s is %s: %s", field, value, remedy)
}

// shardName names a shard in messages.
func shardName(i, n int) string { return fmt.Sprintf("shard %d of %d", i, n) }

// sleepUntil waits for a moment on a clock, which it gives, unless one of the
// two comes first.
func sleepUntil(ctx context.Context, ended <-chan struct{}, clock func() int64, at int64) time.Time {
	now := time.Now()
	left := time.Duration(at - clock())
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ended:
	case <-ctx.Done():
	}
	return now.Add(left)
}
