//go:build linux && (amd64 || arm64)

package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// link is a connection of a client with a peer, over network.
func link(t testing.TB, network string) (ours *conn, theirs net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = filepath.Join(t.TempDir(), "s")
	}
	l, err := net.Listen(network, addr)
	require.NoError(t, err)
	defer l.Close()
	c := start(t, Config{URL: "http://model.example", Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
	}})
	nc, err := c.dial(t.Context(), "", "", new(lags))
	require.NoError(t, err)
	theirs, err = l.Accept()
	require.NoError(t, err)
	t.Cleanup(func() { nc.Close(); theirs.Close() })
	return nc, theirs
}

// stamped is a link whose stamps are the kernel's.
func stamped(t testing.TB) (*conn, net.Conn) {
	t.Helper()
	ours, theirs := link(t, "tcp")
	// The first sockets' stamps may come a moment after they were asked for.
	buf := make([]byte, 16)
	for range 1000 {
		before := ours.lags.others.Load()
		write(t, theirs, "x")
		_, err := ours.Read(buf)
		require.NoError(t, err)
		if ours.kernel != nil && ours.lags.others.Load() == before {
			return ours, theirs
		}
		if ours.kernel == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	t.Skip("the system gives no receive stamps")
	return nil, nil
}

func write(t testing.TB, w io.Writer, s string) {
	t.Helper()
	_, err := io.WriteString(w, s)
	require.NoError(t, err)
}

// catchUp sends s to a reader that waits for it.
func catchUp(t testing.TB, ours *conn, theirs net.Conn, s string) {
	t.Helper()
	buf := make([]byte, len(s)+1)
	for range 100 {
		written := make(chan error)
		go func() {
			time.Sleep(5 * time.Millisecond) // time for the reader to begin; if it is not enough, once more
			_, err := io.WriteString(theirs, s)
			written <- err
		}()
		got, waited := 0, false
		for got < len(s) {
			n, err := ours.Read(buf)
			require.NoError(t, err)
			if got == 0 {
				waited = ours.kernel.backlog == 0
			}
			got += n
		}
		require.NoError(t, <-written)
		if waited {
			return
		}
	}
	t.Skip("this machine is too busy")
}

// A client that is late is no part of its stamps.
func TestStampsOfALateClient(t *testing.T) {
	ours, theirs := stamped(t)
	now := func() int64 { return int64(time.Since(ours.epoch)) }
	buf := make([]byte, 4096)
	var late, off []int64
	previous := int64(0)
	for range 41 {
		wrote := now()
		write(t, theirs, "data: x\n\n")
		time.Sleep(time.Millisecond)
		_, err := ours.Read(buf)
		handled := now()
		require.NoError(t, err)
		at := ours.last.Load()
		require.LessOrEqual(t, at, handled)
		require.GreaterOrEqual(t, at, previous)
		require.GreaterOrEqual(t, at, wrote-int64(stepBound))
		previous = at
		late, off = append(late, handled-wrote), append(off, at-wrote)
	}
	slices.Sort(late)
	slices.Sort(off)
	require.Less(t, 5*off[20], late[20], "the stamp is nearer to the write than its handling")
}

// What came at once counts as one read, in however many it is fetched: events
// in it share a stamp, and are marked so.
func TestOneArrivalInSeveralReads(t *testing.T) {
	ours, theirs := stamped(t)
	catchUp(t, ours, theirs, strings.Repeat("x", 100))
	reads := ours.reads.Load()
	write(t, theirs, strings.Repeat("x", 300))
	buf := make([]byte, 4096)
	for range 3 {
		n, err := ours.Read(buf)
		require.NoError(t, err)
		require.Equal(t, 100, n)
	}
	require.Equal(t, reads+1, ours.reads.Load())
	write(t, theirs, "y")
	_, err := ours.Read(buf)
	require.NoError(t, err)
	require.Equal(t, reads+2, ours.reads.Load())
}

// A client that is behind reads all it can, and bounds its reads again when it
// has caught up.
func TestBoundOfReads(t *testing.T) {
	ours, theirs := stamped(t)
	buf := make([]byte, 64<<10)
	read := func() int {
		n, err := ours.Read(buf)
		require.NoError(t, err)
		return n
	}
	frame := strings.Repeat("x", 100)
	catchUp(t, ours, theirs, frame)
	require.Equal(t, 100, ours.kernel.bound)
	write(t, theirs, strings.Repeat(frame, 100))
	total := 0
	for i := 1; i < backlogBound; i++ {
		n := read()
		require.Equal(t, 100, n, "read %d", i)
		total += n
	}
	for total < 10_000 {
		total += read()
	}
	require.LessOrEqual(t, ours.kernel.backlog, backlogBound+2)
	catchUp(t, ours, theirs, frame)
	require.LessOrEqual(t, ours.kernel.backlog, 1)
	require.Equal(t, 100, ours.kernel.bound)
}

// A client that is far behind reads more than it is asked for, and hands it out
// in order with one stamp a read; it has given the memory back when it waits.
func TestReadsFarBehind(t *testing.T) {
	ours, theirs := stamped(t)
	sent := make([]byte, 1<<20)
	for i := range sent {
		sent[i] = byte(i ^ i>>8)
	}
	written := make(chan error, 1)
	go func() {
		_, err := theirs.Write(sent)
		written <- err
	}()
	var got []byte
	buf := make([]byte, 4096)
	var lent, inOne int
	for reads := int64(0); len(got) < len(sent); {
		n, err := ours.Read(buf)
		require.NoError(t, err)
		got = append(got, buf[:n]...)
		if ours.reads.Load() == reads {
			inOne++
		}
		if reads = ours.reads.Load(); ours.kernel.block != nil {
			lent++
		}
	}
	require.NoError(t, <-written)
	require.Equal(t, sent, got)
	if lent == 0 {
		t.Skip("the peer was too slow")
	}
	require.GreaterOrEqual(t, inOne, lent/2, "reads that needed no system call")

	frame := strings.Repeat("x", 100)
	catchUp(t, ours, theirs, frame)
	require.Nil(t, ours.kernel.block)
	require.False(t, ours.kernel.far())

	// The end comes after what was read ahead of it.
	ours.kernel.full, ours.kernel.backlog = fullBound, backlogBound
	write(t, theirs, strings.Repeat(frame, 100))
	theirs.Close()
	rest, err := io.ReadAll(ours)
	require.NoError(t, err)
	require.Equal(t, strings.Repeat(frame, 100), string(rest))
	require.Nil(t, ours.kernel.block)
}

func TestEventSizesAreLearnt(t *testing.T) {
	type read struct {
		waited  bool
		n, room int
		bound   int // afterwards
	}
	for name, reads := range map[string][]read{
		"one":                  {{true, 300, 4096, 300}, {true, 200, 300, 200}},
		"a larger one":         {{true, 100, 4096, 100}, {true, 100, 100, 100}, {false, 60, 100, 160}},
		"one that fits":        {{true, 100, 4096, 100}, {true, 100, 100, 100}, {true, 100, 100, 100}},
		"a tiny one":           {{true, 5, 4096, 64}},
		"several in the queue": {{true, 100, 4096, 100}, {true, 100, 100, 100}, {false, 100, 100, 100}, {false, 50, 100, 100}},
	} {
		var k eventSize
		for i, r := range reads {
			k.learn(r.waited, r.n, r.room)
			require.Equal(t, r.bound, k.bound, "%s, read %d", name, i)
		}
	}
}

func TestReadsWithoutTheKernel(t *testing.T) {
	ours, theirs := link(t, "unix")
	require.Nil(t, ours.kernel)
	write(t, theirs, "x")
	before := time.Since(ours.epoch)
	n, err := ours.Read(make([]byte, 10))
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.GreaterOrEqual(t, ours.last.Load(), int64(before))
	require.EqualValues(t, 1, ours.lags.others.Load())
}

func TestEndsOfKernelReads(t *testing.T) {
	ours, theirs := link(t, "tcp")
	n, err := ours.Read(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, ours.SetReadDeadline(time.Now().Add(-1)))
	_, err = ours.Read(make([]byte, 1))
	require.ErrorContains(t, err, "read tcp")
	require.ErrorContains(t, err, "i/o timeout")
	require.NoError(t, ours.SetReadDeadline(time.Time{}))
	(&peer{Conn: theirs}).reset()
	_, err = ours.Read(make([]byte, 1))
	require.True(t, lost(err))
	require.ErrorContains(t, err, "read: connection reset by peer")

	ours, theirs = link(t, "tcp")
	theirs.Close()
	_, err = ours.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err)
	ours.Close()
	_, err = ours.Read(make([]byte, 1))
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorContains(t, err, "read tcp")
}

// Writes wait for room, whole and in order, whatever their size.
func TestKernelWrites(t *testing.T) {
	ours, theirs := link(t, "tcp")
	sent := make([]byte, 16<<20) // more than the socket takes at once
	for i := range sent {
		sent[i] = byte(i ^ i>>8)
	}
	written := make(chan error, 1)
	go func() {
		for at, n := 0, 1; at < len(sent); n = n*7%(2*maxUnheard) + 1 {
			n = min(n, len(sent)-at)
			m, err := ours.Write(sent[at : at+n])
			if err != nil || m != n {
				written <- fmt.Errorf("%d of %d bytes: %w", m, n, err)
				return
			}
			at += n
		}
		written <- nil
	}()
	got := make([]byte, len(sent))
	_, err := io.ReadFull(theirs, got)
	require.NoError(t, err)
	require.NoError(t, <-written)
	require.True(t, bytes.Equal(sent, got))
	n, err := ours.Write(nil)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestEndsOfKernelWrites(t *testing.T) {
	ours, theirs := link(t, "tcp")
	block := make([]byte, maxUnheard)
	require.NoError(t, ours.SetWriteDeadline(time.Now().Add(-1)))
	_, err := ours.Write(block)
	require.ErrorContains(t, err, "write tcp")
	require.ErrorContains(t, err, "i/o timeout")
	require.NoError(t, ours.SetWriteDeadline(time.Time{}))
	(&peer{Conn: theirs}).reset()
	require.Eventually(t, func() bool {
		_, err = ours.Write(block)
		return err != nil
	}, time.Minute, time.Millisecond)
	require.True(t, lost(err))
	require.ErrorContains(t, err, "write tcp")
	require.ErrorContains(t, err, "write: ")
	ours.Close()
	_, err = ours.Write(block)
	require.ErrorIs(t, err, net.ErrClosed)
	require.ErrorContains(t, err, "write tcp")
}

func TestKernelReadsAndWritesAllocateNothing(t *testing.T) {
	ours, theirs := stamped(t)
	buf := make([]byte, 4096)
	require.Zero(t, testing.AllocsPerRun(200, func() {
		theirs.Write(buf[:200])
		ours.Read(buf)
		ours.Write(buf[:200])
		theirs.Read(buf)
	}))
}

// The stamps are the socket's under TLS too.
func TestClockUnderTLS(t *testing.T) {
	stamped(t)
	for _, secure := range []bool{false, true} {
		srv := serve(t, secure, answerAll)
		c := start(t, Config{URL: srv.url, TLS: srv.tls})
		s := c.NewSlot()
		for range 20 {
			rec := do(t.Context(), s, Call{}, 0)
			require.Empty(t, rec.Message)
			checkStamps(t, rec)
		}
		require.True(t, strings.HasPrefix(c.Clock(), clockKernel), c.Clock())
		lag := c.ReadLag()
		require.Greater(t, lag.Reads, lag.Others)
		require.LessOrEqual(t, lag.P50, lag.P99)
		require.LessOrEqual(t, lag.P99, lag.Max)
	}
}
