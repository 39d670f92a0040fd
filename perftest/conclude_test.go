package perftest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

// arrived are the parts of three shards as shard 0 has them: its own, and those
// of the others with clocks that are 3 s apart, each changed.
func arrived(t *testing.T, change func(p *meet.Part)) (r *run, own *Result, parts []meet.Part, whole *Result) {
	t.Helper()
	return arrivedOf(t, 600, change)
}

func arrivedOf(t *testing.T, n int, change func(p *meet.Part)) (r *run, own *Result, parts []meet.Part, whole *Result) {
	t.Helper()
	records := manyRecords(n, 9, false)
	loop := func(r *Result) { r.Scenario.Load.Concurrency, r.Scenario.Load.Requests = 9, 573 } // of 600 the others are a warm-up
	whole = asRun(t, records, loop)
	shards := split(t, records, 3, bySlot(3), func(i int, r *Result) {
		loop(r)
		r.Scenario.Nonce += uint64(i) // shard 0's scenario, which was compared, stands for all
	})
	r = &run{whole: t.TempDir(), settings: settings{shard: load.Shard{Count: 3}}}
	schematest.AtEnd(t, r.whole)
	for i, s := range shards[1:] {
		data, err := json.Marshal(s)
		require.NoError(t, err)
		p := meet.Part{
			Place: meet.Place{Index: i + 1, Count: 3}, From: fmt.Sprint("10.0.0.", i+1), Dir: s.Dir, Result: data,
			Epoch:  time.Duration(i+1) * 7_000_000_001, // as split has it
			Offset: time.Duration(1-2*i) * 3 * time.Second, Bound: time.Millisecond, Drift: -2 * time.Millisecond,
		}
		change(&p)
		parts = append(parts, p)
	}
	return r, shards[0], parts, whole
}

// What three shards have sent is the result of one run, whatever their clocks.
func TestPartsAreTheWhole(t *testing.T) {
	r, own, parts, whole := arrived(t, func(*meet.Part) {})
	res, err := r.mergeParts(own, parts, r.whole)
	require.NoError(t, err)
	if d := cmp.Diff([]any{whole.Counts, whole.Metrics, whole.Rates, whole.Window}, []any{res.Counts, res.Metrics, res.Rates, res.Window}); d != "" {
		t.Errorf("merged (-whole +merged):\n%s", d)
	}
	require.False(t, res.Partial)
	require.Empty(t, r.lost)
	s := res.Shards[2]
	require.Equal(t, []any{"10.0.0.2", Value(-3), Value(0.001), Value(-0.002), ""}, []any{s.From, s.ClockAhead, s.ClockBound, s.ClockDrift, s.Lost})

	apart, err := res.Apart()
	require.NoError(t, err)
	for i, part := range apart {
		alone, err := ReadResult([]string{own.Dir, parts[0].Dir, parts[1].Dir}[i])
		require.NoError(t, err)
		if d := cmp.Diff(alone.Metrics, part.Metrics); d != "" {
			t.Errorf("shard %d (-alone +apart):\n%s", i, d)
		}
		require.Equal(t, alone.Counts, part.Counts)
		require.Equal(t, fmt.Sprintf("chat, shard %d of 3", i), part.Name)
	}
	dir := t.TempDir()
	require.NoError(t, Compare(dir, append([]*Result{res}, apart...)...))
	page, err := os.ReadFile(filepath.Join(dir, pageFile))
	require.NoError(t, err)
	for _, want := range []string{"chat, shard 2 of 3", "The shards that the load was sent by", "3.00s ± 1.00ms"} {
		require.Contains(t, string(page), want)
	}
	_, err = own.Apart()
	require.ErrorContains(t, err, "Result.Shards is empty")
}

// Of a shard that was lost within a line there is what came before it, the run
// cannot pass, and it is said by name; so it is of one whose disk was full.
func TestPartsThatAreNotWhole(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *meet.Part)
		cpu    Value
	}{
		"lost": {func(p *meet.Part) {
			file := filepath.Join(p.Dir, requestsFile)
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			lines := strings.SplitAfter(string(data), "\n")
			require.NoError(t, os.WriteFile(file, []byte(strings.Join(lines[:100], "")+lines[100][:50]), 0o644))
			require.NoError(t, os.Remove(filepath.Join(p.Dir, resultFile)))
			p.Result, p.Lost = nil, "its connection was lost"
		}, Absent},
		"never sent": {func(p *meet.Part) {
			p.Dir, p.Result, p.Lost = "", nil, "its connection was lost"
		}, Absent},
		"disk full": {func(p *meet.Part) {
			require.NoError(t, os.Truncate(filepath.Join(p.Dir, requestsFile), 1000))
			require.NoError(t, os.Remove(filepath.Join(p.Dir, resultFile)))
			p.Lost = "writing the requests, 9 of 200 are missing: no space left on device"
		}, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			r, own, parts, whole := arrived(t, func(p *meet.Part) {
				if p.Place.Index == 1 {
					c.change(p)
				}
			})
			res, err := r.mergeParts(own, parts, r.whole)
			require.NoError(t, err)
			require.Equal(t, []any{true, endedLost}, []any{res.Partial, res.Ended})
			s := res.Shards[1]
			require.Equal(t, parts[0].Lost, s.Lost)
			require.Equal(t, fmt.Sprint(c.cpu), fmt.Sprint(s.Health.CPU))
			require.Equal(t, res.Counts.Sent, res.Shards[0].Counts.Sent+s.Counts.Sent+res.Shards[2].Counts.Sent)
			require.Equal(t, wholeLines(t, parts[0].Dir), s.Counts.Sent)
			require.Less(t, res.Counts.Sent, whole.Counts.Sent)
			require.Equal(t, []int{573, 191}, []int{res.Counts.Planned, s.Counts.Planned}, "what was planned in all")
			require.Contains(t, res.Warnings, fmt.Sprintf("shard 1 of 3 at 10.0.0.1: %s: %d of its 191 requests are in the figures", parts[0].Lost, s.Counts.Sent))
			require.Contains(t, res.VerdictTable(res.Judge(SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 60})),
				fmt.Sprintf("PARTIAL: lost shard 1 of 3 after %d of 573 requests", res.begun()))
			require.Contains(t, r.lost, "shard 1 of 3")
			require.Equal(t, Invalid, res.Judge(SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 60})[0].Point)
			res.Shards[0].Ended = endedLost // which was stopped with it
			v := view{title: res.Name, runs: []viewed{{Result: res}}}
			var ends, machines []string
			for _, row := range v.shardTable().Rows {
				ends, machines = append(ends, row[7].Text), append(machines, row[8].Text)
			}
			require.Equal(t, []string{"stopped, since another was lost", s.Ended + ": " + s.Lost, "complete"}, ends)
			require.Equal(t, []string{"-", "-", "-"}, machines, "which are not known of these")
			res.Shards[0].Ended = endedComplete
			again, err := ReadResult(r.whole)
			require.NoError(t, err)
			if d := cmp.Diff(res, again, cmpopts.IgnoreUnexported(Result{})); d != "" {
				t.Errorf("read again (-written +read):\n%s", d)
			}
		})
	}
}

// wholeLines is how many measured requests the whole lines of a folder are.
func wholeLines(t *testing.T, dir string) (n int) {
	t.Helper()
	if dir == "" {
		return 0
	}
	data, err := os.ReadFile(filepath.Join(dir, requestsFile))
	require.NoError(t, err)
	for line := range strings.Lines(string(data)) {
		if strings.HasSuffix(line, "}\n") && strings.Contains(line, `"phase":"measured"`) {
			n++
		}
	}
	return n
}

// noDisk is a meeting of which shard 0 cannot merge the parts.
type noDisk struct {
	meet.Root
	why error
}

func (noDisk) Stop(string)          {}
func (noDisk) Collect() []meet.Part { return nil }
func (d noDisk) Why() error         { return d.why }

// When the parts cannot be merged the others hear no more than that: all go on
// with the next test, unless one of them is gone.
func TestShardsGoOnTogether(t *testing.T) {
	for _, gone := range []bool{false, true} {
		r, own, _, _ := arrived(t, func(*meet.Part) {})
		d := noDisk{why: errors.New("its records cannot be kept")}
		if gone {
			d.why = meet.Gone{Why: d.why}
		}
		r.meeting = d
		own.Partial, own.Ended = true, endedLost
		half := filepath.Join(r.whole, requestsFile)
		require.NoError(t, os.WriteFile(half, nil, 0o644))
		res, err := r.conclude(t.Context(), t, own, nil)
		require.ErrorContains(t, err, "INVALID: ")
		require.Same(t, own, res)
		require.NoFileExists(t, half, "it looks like a whole one")
		require.Equal(t, gone, lost.Swap(nil) != nil)
	}
}

// When the test's deadline comes before all is merged, that is said while there
// is time, and the parts can be merged later as they lie there.
func TestNoTimeToMerge(t *testing.T) {
	r, own, parts, whole := arrivedOf(t, 3*mostAhead, func(*meet.Part) {})
	r.until = time.Now()
	_, err := r.mergeParts(own, parts, r.whole)
	require.ErrorContains(t, err, "the test's deadline came when 1000 requests were merged: raise go test's -timeout")
	later := Shards{}
	for _, dir := range []string{own.Dir, parts[0].Dir, parts[1].Dir} {
		part, err := ReadResult(dir)
		require.NoError(t, err)
		later.Results = append(later.Results, part)
	}
	res, err := Merge(filepath.Join(t.TempDir(), "later"), later)
	require.NoError(t, err)
	if d := cmp.Diff([]any{whole.Counts, whole.Metrics, whole.Rates, whole.Window}, []any{res.Counts, res.Metrics, res.Rates, res.Window}); d != "" {
		t.Errorf("merged later (-whole +merged):\n%s", d)
	}
}

// A disk of shard 0 that was full makes the run one that cannot pass, too.
func TestShardZerosDiskWasFull(t *testing.T) {
	r, own, parts, _ := arrived(t, func(*meet.Part) {})
	require.NoError(t, os.Truncate(filepath.Join(own.Dir, requestsFile), 20_000))
	r.torn = errors.New("writing the requests, 9 of 200 are missing: no space left on device")
	res, err := r.mergeParts(own, parts, r.whole)
	require.NoError(t, err)
	require.Equal(t, []any{true, endedLost, "lost shard 0 of 3"}, []any{res.Partial, res.Ended, res.endedHow()})
	s := res.Shards[0]
	require.Equal(t, wholeLines(t, own.Dir), s.Counts.Sent)
	require.Positive(t, s.Counts.Sent)
	require.Equal(t, []any{r.torn.Error(), Value(0.1), 191, 573}, []any{s.Lost, s.Health.CPU, s.Counts.Planned, res.Counts.Planned})
	require.Contains(t, res.Warnings, fmt.Sprintf("shard 0 of 3: %s: %d of its 191 requests are in the figures", s.Lost, s.Counts.Sent))
	res.Shards[2].Lost = "its connection was lost"
	require.Equal(t, "lost shards 0, 2 of 3", res.endedHow())
	_, err = ReadResult(r.whole)
	require.NoError(t, err)
}
