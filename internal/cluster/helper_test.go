package cluster

import (
	"context"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "0123456789abcdef-the-secret"

// network is an in-memory one, whose machines have clocks and delays of their
// own. It belongs to one bubble.
type network struct {
	accepted chan net.Conn

	mu     sync.Mutex
	closed chan struct{} // when nobody listens
	cut    bool          // nothing arrives any more, and nobody is told
}

func newNetwork() *network {
	return &network{accepted: make(chan net.Conn), closed: make(chan struct{})}
}

// open listens, again.
func (n *network) open() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.closed = make(chan struct{})
}

// listening is closed when nobody listens.
func (n *network) listening() chan struct{} {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.closed
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.accepted:
		return c, nil
	case <-n.listening():
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	select {
	case <-n.closed:
	default:
		close(n.closed)
	}
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects with a delay of each write, in either direction.
func (n *network) dial(there, back func() time.Duration) func(context.Context) (net.Conn, error) {
	return func(ctx context.Context) (net.Conn, error) {
		mine, theirs := net.Pipe()
		select {
		case n.accepted <- &slow{theirs, n, back}:
		case <-n.listening():
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return &slow{mine, n, there}, nil
	}
}

func (n *network) isCut() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.cut
}

type slow struct {
	net.Conn
	net   *network
	delay func() time.Duration
}

func (s *slow) Write(p []byte) (int, error) {
	if s.delay != nil {
		time.Sleep(s.delay())
	}
	if s.net.isCut() {
		return len(p), nil // it is lost on the way
	}
	return s.Conn.Write(p)
}

// shards are the processes of a test.
type shards struct {
	t    *testing.T
	net  *network
	n    int
	jobs []*Job
	cfgs []config // templates, changed by the test
	run  meet.Run
}

// newShards are n shards whose clocks are exact and whose network takes no time.
func newShards(t *testing.T, n int) *shards {
	s := &shards{t: t, net: newNetwork(), n: n, run: meet.Run{
		Test: "TestChat", Version: "v1", Fingerprint: []byte(`{"load":{"requests":8}}`), Nonce: 42, Grace: 2 * time.Second,
	}}
	base := time.Now()
	for range n {
		j := New(func(string) string { return "" })
		s.jobs = append(s.jobs, j)
		s.cfgs = append(s.cfgs, config{
			address: "perf-0:7788", token: []byte(secret), patience: time.Minute, silence: defaultSilence, number: 1,
			listen:   func() (net.Listener, error) { s.net.open(); return s.net, nil },
			dial:     s.net.dial(nil, nil),
			clock:    func() int64 { return int64(time.Since(base)) },
			instance: j.instance,
		})
	}
	return s
}

// meet joins shard i, after change.
func (s *shards) meet(i int, change func(*config, *meet.Run)) (meet.Meeting, error) {
	cfg, run := s.cfgs[i], s.run
	run.Place = meet.Place{Index: i, Count: s.n}
	run.Epoch = time.Now()
	if i == 0 {
		run.Dir = s.t.TempDir()
	}
	if change != nil {
		change(&cfg, &run)
	}
	return s.jobs[i].meet(s.t.Context(), cfg, run)
}

// all joins all shards.
func (s *shards) all() (*root, []*member) {
	m, err := s.meet(0, nil)
	require.NoError(s.t, err)
	var members []*member
	for i := 1; i < s.n; i++ {
		m, err := s.meet(i, nil)
		require.NoError(s.t, err)
		members = append(members, m.(*member))
	}
	return m.(*root), members
}

// begin lets all begin a phase, and gives each one's error.
func begin(ctx context.Context, phase string, all ...meet.Meeting) []error {
	errs := make([]error, len(all))
	var work sync.WaitGroup
	for i, m := range all {
		work.Go(func() { _, errs[i] = m.Begin(ctx, phase) })
	}
	work.Wait()
	return errs
}

func beginError(_ time.Time, err error) error { return err }

func meetings(r *root, members []*member) []meet.Meeting {
	all := []meet.Meeting{r}
	for _, m := range members {
		all = append(all, m)
	}
	return all
}

func closeAll(all ...meet.Meeting) {
	var work sync.WaitGroup
	for _, m := range all {
		work.Go(func() { m.Close("the test is over") })
	}
	work.Wait()
}

// jittered gives delays of least plus an exponential one of the mean jitter.
func jittered(seed uint64, least, jitter time.Duration) func() time.Duration {
	random := rand.New(rand.NewPCG(seed, 1))
	var mu sync.Mutex
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return least + time.Duration(random.ExpFloat64()*float64(jitter))
	}
}

func noSecret(t *testing.T, text string) {
	t.Helper()
	require.False(t, strings.Contains(text, secret), "the token is in %q", text)
	require.NotContains(t, text, "\n")
}
