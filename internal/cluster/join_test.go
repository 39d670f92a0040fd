package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/internal/meet"
	"github.com/stretchr/testify/require"
)

// What no waiting can mend ends the run at once, on both sides, by one line
// that names the shard and what differs.
func TestShardsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*config, *meet.Run)
		want   string
	}{
		"version":     {func(_ *config, r *meet.Run) { r.Version = "v2" }, "it is slogate v2, and shard 0 is v1: build all shards from the same code"},
		"count":       {func(_ *config, r *meet.Run) { r.Place.Count = 4 }, "it is shard 2 of 4, and shard 0 is one of 3"},
		"test":        {func(_ *config, r *meet.Run) { r.Test = "TestOther" }, "its run 1 is TestOther, and shard 0's is TestChat"},
		"fingerprint": {func(_ *config, r *meet.Run) { r.Fingerprint = []byte(`{"load":{"requests":9}}`) }, "its scenario is another than shard 0's: load.requests is 9, and shard 0's is 8: give all shards the same test binary, flags and environment"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShards(t, 3)
				begun := time.Now()
				r, err := s.meet(0, nil)
				require.NoError(t, err)
				m, err := s.meet(1, nil)
				require.NoError(t, err)
				_, err = s.meet(2, c.change)
				require.ErrorContains(t, err, "shard 0 at perf-0:7788 refused shard 2 of ")
				require.ErrorContains(t, err, c.want)
				noSecret(t, err.Error())
				for _, err := range begin(t.Context(), "load", r)[:1] {
					require.ErrorContains(t, err, "shard 2 of 3 at pipe: "+c.want)
				}
				closed := make(chan struct{})
				go func() { r.Close("it failed"); close(closed) }()
				require.ErrorContains(t, beginError(m.Begin(t.Context(), "load")), "shard 0 at perf-0:7788: shard 2 of 3 at pipe: "+c.want, "the shard that was there is told why")
				m.Close("")
				<-closed
				require.Zero(t, time.Since(begun))
			})
		})
	}
}

// A wrong token is refused, and said by both sides; a stranger with one cannot
// end the run, which goes on to wait for the shard.
func TestWrongToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		r, err := s.meet(0, nil)
		require.NoError(t, err)
		failed := make(chan error)
		go func() { failed <- beginError(r.Begin(t.Context(), "load")) }()
		time.Sleep(time.Second)
		_, err = s.meet(1, func(c *config, _ *meet.Run) { c.token = []byte("another-secret-of-some-length") })
		require.EqualError(t, err, "shard 0 at perf-0:7788 refused shard 1 of 2: its PERFTEST_TOKEN is another than shard 0's, and all need the same")
		require.NoError(t, r.Why())
		err = <-failed
		require.EqualError(t, err, "shard 1 has not come, of 2, within 1m0s; a connection from pipe was refused: its PERFTEST_TOKEN is another than shard 0's, and all need the same: see its log (was it started, with PERFTEST_RENDEZVOUS=perf-0:7788?), or wait longer with PERFTEST_RENDEZVOUS_WAIT")
		r.Close(err.Error())
	})
}

// Who answers without knowing the token is not taken for shard 0.
func TestAStrangerInShardZerosPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		done := make(chan struct{})
		go func() {
			defer close(done)
			c, err := s.net.Accept()
			if err != nil {
				return
			}
			defer c.Close()
			in := newConn(c, time.Second)
			_ = in.send(kindChallenge, newChallenge())
			_, _, _ = in.receive(kindHello)
			_ = in.sendJSON(kindWelcome, welcome{Nonce: 1, Proof: make([]byte, 32)})
		}()
		_, err := s.meet(1, nil)
		require.EqualError(t, err, "who answers at perf-0:7788 is not shard 0: it does not know the token")
		<-done
	})
}

// Another service at shard 0's port waits to be spoken to.
func TestSilenceInShardZerosPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		var held []net.Conn
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				c, err := s.net.Accept()
				if err != nil {
					return
				}
				held = append(held, c)
			}
		}()
		_, err := s.meet(1, nil)
		require.ErrorContains(t, err, "shard 0 at perf-0:7788 did not take shard 1 of 2 within 1m0s (what answers there says nothing, or nothing that shard 0 says: ")
		_ = s.net.Close()
		<-done
		for _, c := range held {
			_ = c.Close()
		}
	})
}

// A shard that comes late is waited for, for a bounded time; one that comes
// before shard 0 waits for it.
func TestLateShards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 3)
		s.net.Close()
		early := make(chan meet.Meeting)
		go func() {
			m, _ := s.meet(1, nil)
			early <- m
		}()
		time.Sleep(30 * time.Second)
		r, err := s.meet(0, nil)
		require.NoError(t, err)
		m := <-early
		begun := time.Now()
		go func() { _, _ = m.Begin(context.Background(), "load") }()
		require.EqualError(t, beginError(r.Begin(t.Context(), "load")), "shard 2 has not come, of 3, within 1m0s: see its log (was it started, with PERFTEST_RENDEZVOUS=perf-0:7788?), or wait longer with PERFTEST_RENDEZVOUS_WAIT")
		require.Equal(t, time.Minute, time.Since(begun))
		go r.Close("")
		<-m.Ended()
		require.ErrorContains(t, m.Why(), "shard 2 has not come")
		require.ErrorAs(t, m.Why(), new(meet.Gone), "no further run waits for it")
		closeAll(r, m)
	})
}

// Without shard 0 a shard gives up, and names where it looked.
func TestNoShardZero(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		s.net.Close()
		begun := time.Now()
		var said []string
		_, err := s.meet(1, func(_ *config, r *meet.Run) { r.Waiting = func(text string) { said = append(said, text) } })
		require.Equal(t, []string{"waiting for shard 0 at perf-0:7788, for 1m0s at the most: use of closed network connection"}, said)
		require.ErrorAs(t, err, new(meet.Gone), "no further run waits for it")
		require.EqualError(t, err, "shard 0 at perf-0:7788 did not take shard 1 of 2 within 1m0s (use of closed network connection): see shard 0's log, and whether PERFTEST_RENDEZVOUS is its address")
		require.Equal(t, time.Minute, time.Since(begun))
	})
}

// A run that shard 0 does not come to is told by why that may be.
func TestNoFurtherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		s.net.Close()
		_, err := s.meet(1, func(c *config, _ *meet.Run) { c.number = 2 })
		require.ErrorContains(t, err, ": it may have ended without this run 2 (TestChat): see its log, and let no run depend on an assertion")
	})
}

// Who waits long says for whom, and of many not all.
func TestWaitingForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 30)
		var said []string
		r, err := s.meet(0, func(_ *config, r *meet.Run) { r.Waiting = func(text string) { said = append(said, text) } })
		require.NoError(t, err)
		m, err := s.meet(1, nil)
		require.NoError(t, err)
		err = beginError(r.Begin(t.Context(), "load"))
		const who = "shards 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17 and 12 more have not come; shard 1 at pipe is not ready for the load, of 30"
		require.Equal(t, []string{"waiting for all shards at perf-0:7788, for 1m0s at the most: " + who}, said)
		require.ErrorContains(t, err, who+", within 1m0s: see its log ")
		closed := make(chan struct{})
		go func() { r.Close(err.Error()); close(closed) }()
		_ = beginError(m.Begin(t.Context(), "load"))
		m.Close("")
		<-closed
	})
}

// A shard that is not ready is named, and so is Ctrl-C while waiting.
func TestNotReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		r, members := s.all()
		_, err := r.Begin(t.Context(), "warm-up")
		require.ErrorContains(t, err, "shard 1 at pipe is not ready for the warm-up, of 2, within 1m0s")
		closeAll(meetings(r, members)...)

		s = newShards(t, 2)
		r, members = s.all()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(errors.New("interrupted")) })
		require.ErrorContains(t, beginError(r.Begin(ctx, "warm-up")), "interrupted: shard 1 at pipe is not ready")
		closeAll(meetings(r, members)...)
	})
}

// A shard that comes twice, or was restarted, is refused; the first stays.
func TestRestartedShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		r, members := s.all()
		_, err := s.meet(1, nil)
		require.ErrorContains(t, err, "it has come already")
		_, err = s.meet(1, func(c *config, _ *meet.Run) { c.instance = instanceID() })
		require.ErrorContains(t, err, "it was restarted, and its requests would be counted twice")
		require.ErrorContains(t, err, "backoffLimitPerIndex 0", "backoffLimit 0 would end the others with it, and the verdict")
		require.Equal(t, []error{nil, nil}, begin(t.Context(), "load", r, members[0]))
		closeAll(r, members[0])

		// Between two runs, it ends the next one.
		again := func(number int, instance string) func(*config, *meet.Run) {
			return func(c *config, _ *meet.Run) {
				if c.number = number; instance != "" {
					c.instance = instance
				}
			}
		}
		r2, err := s.meet(0, again(2, ""))
		require.NoError(t, err)
		_, err = s.meet(1, again(1, instanceID()))
		require.ErrorContains(t, err, "it was restarted")
		require.ErrorContains(t, beginError(r2.Begin(t.Context(), "load")), "shard 1 of 2 at pipe: it was restarted")
		r2.Close("")
	})
}

// Each run is met anew, by its number: who is ahead waits, who is behind is
// told, and who is ahead without having come ends the run that it has left.
func TestRunsMeetByTheirNumber(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		numbered := func(n int, test string) func(*config, *meet.Run) {
			return func(c *config, r *meet.Run) { c.number, r.Test = n, test }
		}
		first, members := s.all()
		ahead := make(chan meet.Meeting)
		go func() {
			m, _ := s.meet(1, numbered(2, "TestB"))
			ahead <- m
		}()
		time.Sleep(5 * time.Second)
		require.NoError(t, first.Why())
		closeAll(first, members[0])
		r, err := s.meet(0, numbered(2, "TestB"))
		require.NoError(t, err)
		m := <-ahead
		require.NotNil(t, m)
		require.Equal(t, uint64(42), m.Nonce())
		_, err = s.meet(1, numbered(1, "TestA"))
		require.ErrorContains(t, err, "it is at run 1 (TestA), and shard 0 at run 2 (TestB) already")
		require.Equal(t, []error{nil, nil}, begin(t.Context(), "load", r, m))
		closeAll(r, m)

		r, err = s.meet(0, numbered(3, "TestC"))
		require.NoError(t, err)
		go func() {
			m, _ := s.meet(1, numbered(4, "TestD"))
			ahead <- m
		}()
		require.EqualError(t, beginError(r.Begin(t.Context(), "load")), "shard 1 of 2 at pipe has left it, and is at run 4 (TestD): see its log")
		r.Close("")
		r, err = s.meet(0, numbered(4, "TestD"))
		require.NoError(t, err)
		closeAll(r, <-ahead)
	})
}

// The hello is read only when its proof has held, for each of its bytes.
func TestHelloIsProved(t *testing.T) {
	challenge := newChallenge()
	h := hello{Protocol: protocol, Index: 1, Count: 2, Test: "T", Challenge: newChallenge()}
	signed, err := h.signed([]byte(secret), challenge)
	require.NoError(t, err)
	require.NotContains(t, string(signed), secret)
	got, err := checkHello([]byte(secret), challenge, signed)
	require.NoError(t, err)
	require.Equal(t, h, got)
	for i := range signed {
		bad := bytes.Clone(signed)
		bad[i] ^= 1
		_, err := checkHello([]byte(secret), challenge, bad)
		require.ErrorIs(t, err, errToken)
	}
	_, err = checkHello([]byte(secret), newChallenge(), signed)
	require.ErrorIs(t, err, errToken, "a hello that was overheard")
}

// Connections that never say who they are are bounded, and let go.
func TestStrangersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShards(t, 2)
		r, err := s.meet(0, nil)
		require.NoError(t, err)
		var silent []net.Conn
		for range mostHandshakes + 20 {
			c, err := s.cfgs[1].dial(t.Context())
			require.NoError(t, err)
			silent = append(silent, c)
		}
		synctest.Wait()
		r.(*root).mu.Lock()
		require.Len(t, r.(*root).pending, mostHandshakes+2)
		r.(*root).mu.Unlock()
		begun := time.Now()
		m, err := s.meet(1, nil)
		require.NoError(t, err)
		require.Zero(t, time.Since(begun), "they keep no shard out")
		time.Sleep(handshakeTimeout + time.Second)
		r.(*root).mu.Lock()
		require.Empty(t, r.(*root).pending)
		r.(*root).mu.Unlock()
		closeAll(r, m)
		for _, c := range silent {
			c.Close()
		}
	})
}

func TestPlace(t *testing.T) {
	for _, c := range []struct {
		shard string
		env   map[string]string
		want  string
	}{
		{"2/5", map[string]string{"JOB_COMPLETION_INDEX": "1"}, "2/5"},
		{"", map[string]string{"JOB_COMPLETION_INDEX": "3", "PERFTEST_SHARDS": "4", "SLURM_PROCID": "1"}, "3/4"},
		{"", map[string]string{"SLURM_PROCID": "0", "SLURM_NTASKS": "16"}, "0/16"},
		{"5/5", nil, `PERFTEST_SHARD is "5/5": set it to "i/n" with i from 0 to n-1, such as "0/4"`},
		{"x", nil, `PERFTEST_SHARD is "x": set it to "i/n" with i from 0 to n-1, such as "0/4"`},
		{"", map[string]string{"JOB_COMPLETION_INDEX": "3"}, `PERFTEST_SHARDS is "" with JOB_COMPLETION_INDEX "3": set it to the Job's completions`},
		{"", map[string]string{"JOB_COMPLETION_INDEX": "3", "PERFTEST_SHARDS": "3"}, `PERFTEST_SHARDS is "3" with JOB_COMPLETION_INDEX "3": set it to the Job's completions`},
		{"", map[string]string{"SLURM_PROCID": "1"}, `SLURM_NTASKS is "" with SLURM_PROCID "1": start the shards with srun`},
		{"", map[string]string{"PERFTEST_RENDEZVOUS": "a:1"}, `PERFTEST_RENDEZVOUS is "a:1": and nothing says which shard this is: set PERFTEST_SHARD=i/n, or run as a Kubernetes Indexed Job or under srun`},
	} {
		p, err := New(func(k string) string { return c.env[k] }).Place(c.shard)
		got := fmt.Sprintf("%d/%d", p.Index, p.Count)
		if err != nil {
			got = err.Error()
		}
		require.Equal(t, c.want, got)
	}
}

func TestConfig(t *testing.T) {
	good := map[string]string{"PERFTEST_RENDEZVOUS": "perf-0.perf:7788", "PERFTEST_TOKEN": secret, "PERFTEST_RENDEZVOUS_WAIT": "90s"}
	cfg, err := New(func(k string) string { return good[k] }).config(1)
	require.NoError(t, err)
	require.Equal(t, 90*time.Second, cfg.patience)
	good["PERFTEST_TOKEN"] = secret + "\n"
	cfg, err = New(func(k string) string { return good[k] }).config(1)
	require.NoError(t, err)
	require.Equal(t, secret, string(cfg.token), "as read from a file")
	for want, change := range map[string][2]string{
		`PERFTEST_RENDEZVOUS is "perf-0": set it to "host:port" at which the others find shard 0, such as "perf-0.perf:7788" or "[fd00::1]:7788"`: {"PERFTEST_RENDEZVOUS", "perf-0"},
		`PERFTEST_RENDEZVOUS is "perf-0:65536": set it to "host:port"`:                                                                            {"PERFTEST_RENDEZVOUS", "perf-0:65536"},
		`PERFTEST_RENDEZVOUS is "perf-0:http": set it to "host:port"`:                                                                             {"PERFTEST_RENDEZVOUS", "perf-0:http"},
		`PERFTEST_RENDEZVOUS is "perf-0:7788/": set it to "host:port"`:                                                                            {"PERFTEST_RENDEZVOUS", "perf-0:7788/"},
		`PERFTEST_RENDEZVOUS is "perf 0:7788": set it to "host:port"`:                                                                             {"PERFTEST_RENDEZVOUS", "perf 0:7788"},
		`PERFTEST_RENDEZVOUS is "fd00::1:7788": set it to "host:port"`:                                                                            {"PERFTEST_RENDEZVOUS", "fd00::1:7788"},
		`PERFTEST_RENDEZVOUS is "0.0.0.0:7788": set it to "host:port"`:                                                                            {"PERFTEST_RENDEZVOUS", "0.0.0.0:7788"},
		`PERFTEST_RENDEZVOUS is "[::]:7788": set it to "host:port"`:                                                                               {"PERFTEST_RENDEZVOUS", "[::]:7788"},
		`PERFTEST_RENDEZVOUS is ":1": set it to "host:port"`:                                                                                      {"PERFTEST_RENDEZVOUS", ":1"},
		`PERFTEST_TOKEN is empty: set it, in all shards`:                                                                                          {"PERFTEST_TOKEN", strings.Repeat(" ", 20) + "\n"},
		`PERFTEST_TOKEN is empty: set it, in all shards, to the same secret`:                                                                      {"PERFTEST_TOKEN", ""},
		`PERFTEST_TOKEN is shorter than that: set it, in all shards, to the same secret of 16 bytes`:                                              {"PERFTEST_TOKEN", "hidden-but-bad"},
		`PERFTEST_RENDEZVOUS_WAIT is "soon": set it to how long`:                                                                                  {"PERFTEST_RENDEZVOUS_WAIT", "soon"},
	} {
		_, err := New(func(k string) string {
			if k == change[0] {
				return change[1]
			}
			return good[k]
		}).config(1)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hidden")
	}
	for _, c := range [][3]string{{"10.0.0.1", "7", "10.0.0.1:7"}, {"::1", "7", "[::1]:7"}, {"localhost", "7", "127.0.0.1:7"}, {"perf-0.perf", "7", ":7"}} {
		require.Equal(t, c[2], listenAddress(c[0], c[1]))
	}
}
