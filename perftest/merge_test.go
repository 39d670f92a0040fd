package perftest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/perftest/schema/schematest"
	"github.com/stretchr/testify/require"
)

var mergeEpoch = time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC)

// manyRecords are a run's: a warm-up, a start burst, measured requests of all
// sorts and padding, in the order of their ends. An open loop has neither burst
// nor padding.
func manyRecords(n, slots int, open bool) (all []record.Record) {
	random := rand.New(rand.NewPCG(1, 2))
	free := make([]int64, slots)
	for i := range n {
		var r record.Record
		r.Reset()
		r.Index, r.Slot = i, i%slots
		r.Scheduled = free[r.Slot]
		if open {
			r.Scheduled = int64(i) * 3e6
		}
		switch {
		case i < slots:
			r.Part = record.Warmup
		case !open && i < 2*slots:
			r.Part = record.Start
		case !open && i >= n-slots:
			r.Part = record.Padding
		}
		r.Ready = r.Scheduled + random.Int64N(1e5)
		r.Sent = r.Ready + random.Int64N(1e5)
		r.Connected, r.Reused = r.Sent+1e5, i >= slots
		r.InputSource, r.OutputSource = record.SourceUsage, record.SourceUsage
		r.InputTokens, r.PlannedInput, r.Tag = 100+random.Int64N(20), 100, []string{"", "long", "short"}[i%3]
		at := r.Sent + 50e6 + random.Int64N(50e6)
		r.FirstEvent, r.FirstToken, r.FirstAnswer = at, at, at
		events := 2 + random.IntN(20)
		for k := range events {
			e := record.Event{At: at, Kind: record.KindAnswer | record.KindChoices, Tokens: int32(k % 3)}
			if k == 1 {
				r.SecondToken = at
			}
			if k > 0 && random.IntN(9) == 0 {
				e.Kind |= record.KindCoalesced
			}
			r.Events = append(r.Events, e)
			r.LastToken = at
			at += 1e6 + random.Int64N(20e6)
		}
		r.OutputTokens, r.DataEvents, r.TokenEvents, r.MaxGap = int64(events), events, events, 20e6
		r.Done = at
		switch i % 50 {
		case 7:
			r.Class, r.Phase, r.Message = record.ClassTimeout, record.PhaseTotal, fmt.Sprintf("it took too long (%d)", i)
		case 8:
			r.Class, r.Status, r.Message = record.ClassStatus, 503, "busy"
		case 9:
			r.Class, r.Message = record.ClassCancelled, "given up"
		case 10:
			r.OutputTokens, r.OutputSource = record.Absent, record.SourceNone
		}
		free[r.Slot] = r.Done
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b record.Record) int { return int(a.Done - b.Done) })
	return all
}

// asRun writes records as a run leaves them, by the change to the result of a
// whole load of eight slots.
func asRun(t *testing.T, records []record.Record, change func(*Result)) *Result {
	t.Helper()
	dir := t.TempDir()
	schematest.AtEnd(t, dir)
	c := newCollector()
	w, err := record.Create(filepath.Join(dir, requestsFile), c.add)
	require.NoError(t, err)
	for _, r := range records {
		rec := w.Get()
		*rec = r
		rec.Events, rec.FirstTokens = slices.Clone(r.Events), slices.Clone(r.FirstTokens)
		w.Put(rec)
	}
	require.NoError(t, w.Close())
	r := &Result{
		Schema: ResultSchema, Version: ResultVersion, Name: "chat", Test: "TestChat", Package: "example.com/p", Ended: endedComplete,
		Started: mergeEpoch, Dir: dir, Duration: 100, Warnings: []string{}, Verdicts: []Verdict{},
		Target:   TargetInfo{Model: "m", URL: "http://server", API: "chat", Params: []byte(`{"n":1}`)},
		Scenario: ScenarioInfo{Nonce: 5, Seed: 6, WorkloadType: "fixtures.Prompts", Load: LoadInfo{Type: "perftest.Closed", Concurrency: 8, ShardCount: 1, Rate: Absent, Duration: Absent}},
	}
	r.Health = Health{CPU: 0.1, GCPause: 0.001, Lines: []string{"well"}, Limits: ClientLimits{SendLag: time.Minute}}
	change(r)
	c.finish(r, r.Scenario.Load.Concurrency)
	r.Counts.Planned = r.Counts.Sent
	q := r.requestsHealth(0)
	r.Health.SendLag, r.Health.SlotGap = lagOf(q.SendLag), lagOf(q.SlotGap)
	r.Health.SlotGapShare = per(Value(q.GapTotal.Seconds()), Value(q.WorkerTime.Seconds()))
	require.NoError(t, r.save())
	again, err := ReadResult(dir)
	require.NoError(t, err)
	again.Dir = dir
	return again
}

// split gives each of n shards its records, as the shard's own run would have
// them: its slots count from 0, and its stamps from its own start.
func split(t *testing.T, records []record.Record, n int, of func(r *record.Record) (shard, slot int), change func(i int, r *Result)) (parts []*Result) {
	t.Helper()
	for i := range n {
		var mine []record.Record
		for _, r := range records {
			shard, slot := of(&r)
			if shard != i {
				continue
			}
			r.Slot = slot
			r.Events = slices.Clone(r.Events)
			r.Shift(-int64(i) * 7_000_000_001)
			mine = append(mine, r)
		}
		parts = append(parts, asRun(t, mine, func(r *Result) {
			r.Scenario.Load.ShardIndex, r.Scenario.Load.ShardCount = i, n
			r.Started = mergeEpoch.Add(time.Duration(i) * 7_000_000_001)
			r.Duration -= Value(i) * 7.000000001
			change(i, r)
		}))
	}
	return parts
}

func bySlot(n int) func(*record.Record) (int, int) {
	return func(r *record.Record) (int, int) { return r.Slot % n, r.Slot / n }
}

// The result of the parts is that of the whole, to the last bit: a closed loop
// cut by its slots, and an open one by the positions of its requests.
func TestMergeIsTheWhole(t *testing.T) {
	slos := []SLO{
		{Metric: TTFT, Stat: "p90", Op: Below, Limit: 0.095}, {Metric: TPOT, Stat: Mean, Op: Below, Limit: 0.05}, {Metric: ErrorRate, Op: AtMost, Limit: 0.01},
		{Metric: ITL, Stat: "p99", Op: Below, Limit: 0.02}, {Metric: OutputRate, Op: AtLeast, Limit: 10}, {Metric: TTFT, Stat: "p50", Op: Below, Limit: 0.07, Tag: "long"},
	}
	for name, c := range map[string]struct {
		open bool
		of   func(n int) func(*record.Record) (int, int)
	}{
		"closed": {false, bySlot},
		"open": {true, func(n int) func(*record.Record) (int, int) {
			return func(r *record.Record) (int, int) { return r.Index % n, 0 }
		}},
	} {
		for _, n := range []int{1, 3, 8} {
			t.Run(fmt.Sprintf("%s/%d", name, n), func(t *testing.T) {
				t.Parallel()
				records := manyRecords(750, 8, c.open)
				load := func(r *Result) {
					if c.open {
						r.Scenario.Load.Type, r.Scenario.Load.Concurrency = "perftest.Open", 0
					}
				}
				whole := asRun(t, records, load)
				parts := split(t, records, n, c.of(n), func(_ int, r *Result) { load(r) })
				slices.Reverse(parts)
				before := snapshot(t, parts)
				dir := filepath.Join(t.TempDir(), "merged")
				schematest.AtEnd(t, dir)
				merged, err := Merge(dir, Shards{Results: parts})
				require.NoError(t, err)
				ignored := cmp.Options{
					cmpopts.IgnoreUnexported(Result{}), cmpopts.IgnoreFields(Result{}, "Shards", "Dir"), cmpopts.IgnoreFields(Health{}, "Lines"),
					cmp.Transformer("seconds", func(v Value) string { return fmt.Sprintf("%.14g", float64(v)) }), // 100 - 7.000000001 + 7.000000001
				}
				if d := cmp.Diff(whole, merged, ignored); d != "" {
					t.Errorf("merged (-whole +merged):\n%s", d)
				}
				if d := cmp.Diff(whole.Metrics, merged.Metrics); d != "" {
					t.Errorf("figures (-whole +merged):\n%s", d)
				}
				if d := cmp.Diff(whole.Judge(slos...), merged.Judge(slos...)); d != "" {
					t.Errorf("verdicts (-whole +merged):\n%s", d)
				}
				require.Len(t, merged.Shards, n)
				require.Equal(t, []int{0, n, whole.Counts.Sent}, []int{merged.Shards[0].Index, merged.Shards[0].Count, sumOf(merged.Shards)})
				require.Contains(t, merged.Health.Lines, fmt.Sprintf("shard %d: well", n-1))
				again, err := ReadResult(dir)
				require.NoError(t, err)
				if d := cmp.Diff(merged, again, cmpopts.IgnoreUnexported(Result{})); d != "" {
					t.Errorf("read again (-written +read):\n%s", d)
				}
				page, err := os.ReadFile(filepath.Join(dir, pageFile))
				require.NoError(t, err)
				require.Contains(t, string(page), fmt.Sprintf("%d of %d</th>", n-1, n))
				require.Equal(t, before, snapshot(t, parts), "the shards stay as they are")
			})
		}
	}
}

func sumOf(shards []ShardInfo) (n int) {
	for _, s := range shards {
		n += s.Counts.Sent
	}
	return n
}

// snapshot is what the folders of results hold.
func snapshot(t *testing.T, results []*Result) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, r := range results {
		entries, err := os.ReadDir(r.Dir)
		require.NoError(t, err)
		for _, e := range entries {
			name := filepath.Join(r.Dir, e.Name())
			data, err := os.ReadFile(name)
			require.NoError(t, err)
			all[name] = string(data)
		}
	}
	return all
}

// A clock that is ahead is put right: the merged stamps are as if it were not.
func TestMergePutsClocksRight(t *testing.T) {
	records := manyRecords(300, 8, false)
	whole := asRun(t, records, func(*Result) {})
	parts := split(t, records, 2, bySlot(2), func(i int, r *Result) { r.Started = r.Started.Add(time.Duration(i) * time.Hour) })
	wrong, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts})
	require.NoError(t, err)
	require.Greater(t, float64(wrong.Window), 3600.0)
	require.Contains(t, strings.Join(wrong.Warnings, "\n"), "shards 0 and 1 sent nothing at the same time")
	require.Equal(t, []any{true, "shards apart"}, []any{wrong.Partial, wrong.Ended})
	v := wrong.Judge(SLO{Metric: ErrorRate, Op: AtMost, Limit: 0.5})[0]
	require.Equal(t, Invalid, v.Point)
	require.Contains(t, v.Reason, "shards apart")
	right, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts, ClocksAhead: []time.Duration{0, time.Hour}})
	require.NoError(t, err)
	require.Equal(t, whole.Window, right.Window)
	require.Equal(t, whole.Rates.Requests, right.Rates.Requests)
	require.True(t, whole.Started.Equal(right.Started))
	require.Equal(t, Value(3600), right.Shards[1].ClockAhead)
}

// Of shards that sent nothing, or a single request each, it is not known that
// they were never at work together.
func TestMergeOfHardlyAnyRequests(t *testing.T) {
	noChange := func(int, *Result) {}
	records := manyRecords(300, 8, true)
	for i := range records {
		if r := &records[i]; r.Slot%2 == 0 {
			unsent := record.Record{}
			unsent.Reset()
			unsent.Index, unsent.Slot, unsent.Part, unsent.Scheduled, unsent.Ready = r.Index, r.Slot, r.Part, r.Scheduled, r.Ready
			unsent.Done, unsent.Class, unsent.Phase, unsent.Message = r.Done, record.ClassConnect, record.PhaseConnect, "no route"
			*r = unsent
		}
	}
	var two []record.Record // which the plan has one after the other
	for i, r := range manyRecords(10, 8, true) {
		if r.Index > 7 {
			r.Part = record.Measured
			r.Shift(int64(i) * 1e9)
			two = append(two, r)
		}
	}
	require.Len(t, two, 2)
	for name, all := range map[string][]record.Record{"unsent": records, "single": two} {
		merged, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: split(t, all, 2, bySlot(2), noChange)})
		require.NoError(t, err)
		require.NotContains(t, strings.Join(merged.Warnings, "\n"), "at the same time", name)
		require.Equal(t, []any{false, "complete"}, []any{merged.Partial, merged.Ended}, name)
	}
}

// A request that two shards have sent is refused: builds that deal them out in
// different ways would have sent some twice and left others out.
func TestMergeRefusesARequestSentTwice(t *testing.T) {
	records := manyRecords(100, 8, false)
	again := records[60]
	again.Turn = 2
	parts := split(t, append(records, again), 2, bySlot(2), func(int, *Result) {})
	_, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts})
	require.NoError(t, err, "the turns of a conversation have one index")
	again.Slot, again.Turn = (again.Slot+1)%8, 0
	parts = split(t, append(records, again), 2, bySlot(2), func(int, *Result) {})
	_, err = Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts})
	require.ErrorContains(t, err, fmt.Sprintf("request %d is in another shard's part too: the builds of the shards deal requests out in different ways; let all of them run one build", again.Index))
}

// What is no set of shards of one plan is refused, with what differs.
func TestMergeRefuses(t *testing.T) {
	records := manyRecords(100, 8, false)
	shards := func(change func(i int, r *Result)) []*Result {
		return split(t, records, 3, bySlot(3), change)
	}
	none := func(int, *Result) {}
	second := func(f func(r *Result)) []*Result {
		return shards(func(i int, r *Result) {
			if i == 1 {
				f(r)
			}
		})
	}
	good := shards(none)
	merged, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: good})
	require.NoError(t, err)
	for want, of := range map[string]Shards{
		"Shards.Results is empty": {},
		"Shards.Results[1] is nil: give it a result of Run or ReadResult":    {Results: []*Result{good[0], nil}},
		"Shards.ClocksAhead is of 1 entries: give one for each of the 3":     {Results: good, ClocksAhead: []time.Duration{0}},
		"are both shard 1 of 3: give each once":                              {Results: []*Result{good[0], good[1], good[1]}},
		"of 3 shards these are missing: 0, 2; find them, or set Shards.Allo": {Results: good[1:2]},
		"are whole runs, and no shards of one (PERFTEST_SHARD)":              {Results: split(t, records, 2, bySlot(2), func(_ int, r *Result) { r.Scenario.Load.ShardIndex, r.Scenario.Load.ShardCount = 0, 1 })},
		"Shards.Results[0] is merged already":                                {Results: []*Result{merged}},
		"scenario.nonce is 5 and 9 (set PERFTEST_NONCE to one number for al": {Results: second(func(r *Result) { r.Scenario.Nonce = 9 })},
		"scenario.seed is 6 and 7":                                           {Results: second(func(r *Result) { r.Scenario.Seed = 7 })},
		`target.model is "m" and "n"`:                                        {Results: second(func(r *Result) { r.Target.Model = "n" })},
		`target.params.n is 1 and 2`:                                         {Results: second(func(r *Result) { r.Target.Params = []byte(`{"n":2}`) })},
		`test is "TestChat" and "TestOther"`:                                 {Results: second(func(r *Result) { r.Test = "TestOther" })},
		`slogate is "" and "v9"`:                                             {Results: second(func(r *Result) { r.Environment.Version = "v9" })},
		"scenario.load.shard_count is 3 and 4":                               {Results: second(func(r *Result) { r.Scenario.Load.ShardCount = 4 })},
		"scenario.load.concurrency is 8 and 9, scenario.load.requests is 0 and 1, scenario.nonce is 5 and 9 (set PERFTEST_NONCE to one number for all shards of a run), and 1 more": {Results: second(func(r *Result) {
			r.Scenario.Load.Concurrency, r.Scenario.Load.Requests, r.Scenario.Nonce, r.Scenario.Seed = 9, 1, 9, 9
		})},
	} {
		dir := filepath.Join(t.TempDir(), "m")
		_, err := Merge(dir, of)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "\n")
		require.NoDirExists(t, dir)
	}
	_, err = Merge(merged.Dir, Shards{Results: good})
	require.ErrorContains(t, err, "it holds a result already: name a new one")
}

// Shards that are missing make the result one that cannot pass.
func TestMergeWithoutAShard(t *testing.T) {
	parts := split(t, manyRecords(300, 8, false), 3, bySlot(3), func(_ int, r *Result) { r.Scenario.Load.Requests = 276 })
	m, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts[:2], AllowMissing: true})
	require.NoError(t, err)
	require.Equal(t, []any{true, "missing shards", 276}, []any{m.Partial, m.Ended, m.Counts.Planned})
	require.Contains(t, m.Warnings, "1 of 3 shards are missing: their requests are in no figure")
	v := m.Judge(SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 60}, SLO{Metric: ErrorRate, Op: AtMost, Limit: 0})
	require.Equal(t, []Outcome{Invalid, Fail}, []Outcome{v[0].Point, v[1].Point})
	require.Contains(t, v[0].Reason, "missing shards")
}

// One client that was the bottleneck spoils the verdicts on all.
func TestMergeOfASlowClient(t *testing.T) {
	parts := split(t, manyRecords(1500, 8, false), 2, bySlot(2), func(i int, r *Result) {
		if i == 1 {
			r.Health = Health{CPU: 0.99, CPUs: 2, Watched: 60}
		}
	})
	m, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts})
	require.NoError(t, err)
	v := m.Judge(SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 60})
	require.Equal(t, Invalid, v[0].Outcome)
	require.Contains(t, v[0].Reason, "shard 1 of 2: the client was the bottleneck: ")
	require.Equal(t, Value(0.99), m.Health.CPU)
	m.Shards[1].Health.OnlyWarns = true
	require.Equal(t, Pass, m.Judge(SLO{Metric: TTFT, Stat: "p50", Op: Below, Limit: 60})[0].Point)
}

// The server's metrics are those that one shard scraped, at the merged times.
func TestMergeKeepsOneScrapeOfTheServer(t *testing.T) {
	parts := split(t, manyRecords(100, 8, false), 2, bySlot(2), func(i int, r *Result) {
		if i == 0 {
			return
		}
		r.Server = ServerInfo{URL: "http://server/metrics", Interval: 1}
		lines := `{"at_s":1,"load":"before","samples":[{"name":"done","labels":{},"kind":"counter","value":5}]}
{"at_s":2,"load":"during","samples":[{"name":"done","labels":{},"kind":"counter","value":7}]}
{"at_s":3,"load":"after","samples":[{"name":"done","labels":{},"kind":"counter","value":9}]}
`
		require.NoError(t, os.WriteFile(filepath.Join(r.Dir, serverFile), []byte(lines), 0o644))
	})
	m, err := Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: parts})
	require.NoError(t, err)
	require.Equal(t, "http://server/metrics", m.Server.URL)
	require.Equal(t, Value(4), m.Server.Metrics[0].Last)
	points := m.ServerSeries()[0].Points
	require.InDelta(t, 8.000000001, float64(points[0].At), 1e-9, "the second shard began 7.000000001 s later")
	again, err := ReadResult(m.Dir)
	require.NoError(t, err)
	require.Equal(t, m.ServerSeries()[0].Points, again.ServerSeries()[0].Points)
}

// Of a repeated scenario all runs are merged, and judged together.
func TestMergeOfRepeatedRuns(t *testing.T) {
	none := func(int, *Result) {}
	records := manyRecords(200, 8, false)
	first, second := split(t, records, 2, bySlot(2), none), split(t, records, 2, bySlot(2), none)
	for i := range second {
		second[i].standFor([]*Result{first[i], second[i]})
	}
	dir := filepath.Join(t.TempDir(), "m")
	m, err := Merge(dir, Shards{Results: second})
	require.NoError(t, err)
	require.Len(t, m.Runs, 2)
	require.Equal(t, []string{"run-1"}, m.EarlierRuns)
	again, err := ReadResult(dir)
	require.NoError(t, err)
	slo := SLO{Metric: TTFT, Stat: "p90", Op: Below, Limit: 0.095}
	require.Equal(t, 2*m.earlier[0].Judge(slo)[0].Samples, again.Judge(slo)[0].Samples)
	require.Equal(t, m.Judge(slo), again.Judge(slo))

	second[1].earlier = nil
	_, err = Merge(filepath.Join(t.TempDir(), "m"), Shards{Results: second})
	require.ErrorContains(t, err, "stands for 2 runs, and ")
}
