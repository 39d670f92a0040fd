package perftest

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/client"
	"github.com/slogate/slogate/internal/health"
	"github.com/slogate/slogate/internal/load"
	"github.com/slogate/slogate/internal/meet"
	"github.com/slogate/slogate/internal/wire"
)

// run is one scenario under way.
type run struct {
	scenario Scenario
	settings settings
	test     string        // the test's own name
	bubble   bool          // it runs in a testing/synctest bubble
	grace    time.Duration // for requests in flight, when the run is stopped
	until    time.Time     // by which the parts of all shards have to be merged; zero without a deadline
	logf     func(string, ...any)
	warnings []string // of before the load
	lost     string   // why it was stopped, where it must fail

	plan     Plan
	timeouts Timeouts
	endpoint endpoint
	api      API
	dialect  wire.Dialect
	params   map[string]json.RawMessage
	model    string
	from     passage
	nonce    uint64 // tells this run's prompts from those of other runs
	epoch    time.Time
	client   *client.Client
	source   Source
	dir      string
	unlock   func()
	live     *liveRun // nil without a live page
	scraper  *scraper // nil where the server is not asked for its metrics

	cancel   context.CancelCauseFunc // ends the run
	meeting  meet.Meeting            // of the shards of the load; nil where they do not meet
	watching chan struct{}           // closed when nobody waits for the meeting's end
	number   int                     // of the runs in which shards meet
	place    meet.Place              // which shard this is of those that meet; its part of the load is the settings'
	looksOn  bool                    // it has none, in a step of a search that has too few slots
	whole    string                  // folder of the result of all shards, where they meet
	torn     error                   // of the writing of the records
	extent   int                     // requests that the load has come to, of all shards, where it may be extended
	all      *watchAll               // of the objectives of all shards, in the first one; else nil
}

// setUp checks everything that can be checked before any load is sent, takes
// the target's lock and asks the server for one token. What it has opened is
// closed by close, whether it failed or not.
func (r *run) setUp(ctx context.Context) error {
	s := &r.scenario
	if err := r.check(); err != nil {
		return err
	}
	if err := r.checkGate(); err != nil {
		return err
	}
	if end, ok := ctx.Deadline(); ok {
		if err := r.checkTime(time.Until(end)); err != nil {
			return err
		}
	}
	header, err := s.Target.header()
	if err != nil {
		return err
	}
	tls, err := s.Target.TLS.config()
	if err != nil {
		return err
	}
	if r.dir, err = makeResultDir(r.settings.results, s.Name, time.Now()); err != nil {
		return err
	}
	dial, proxy := s.Target.Dial, http.ProxyFromEnvironment
	if dial != nil {
		proxy = nil
	}
	r.epoch = time.Now()
	secrets := s.Target.secrets()
	if s.ServerMetrics != nil {
		secrets = append(secrets, s.ServerMetrics.secrets()...)
	}
	cfg := client.Config{
		URL: r.endpoint.post, Header: header, TLS: tls, Proxy: proxy, Dial: dial,
		Timeouts: client.Timeouts(r.timeouts), Dialect: r.dialect, Epoch: r.epoch,
		Secrets: secrets, ShortIsFailure: s.ShortIsFailure,
		KeepText: s.Tokenizer != nil,
	}
	if r.client, err = client.New(cfg); err != nil {
		return err
	}
	if err := r.checkLimits(); err != nil {
		return err
	}
	if !s.Target.Simulated && r.place.Index == 0 { // for whom the other shards wait, and not for each other
		r.unlock, err = lockTarget(ctx, r.endpoint.host, func() {
			r.logf("another scenario is measuring %s: waiting for it", r.endpoint.host)
		})
		if err != nil {
			return err
		}
	}
	if r.model, err = r.findModel(ctx); err != nil {
		return err
	}
	if r.nonce = cmp.Or(r.from.nonce, r.settings.nonce); r.nonce == 0 {
		r.nonce = 1 + rand.Uint64N(1<<53-1) // a number that JSON readers keep
	}
	if err := r.join(ctx); err != nil {
		return err
	}
	info := RunInfo{Model: r.model, API: r.api.Name(), Seed: s.Seed, Nonce: r.nonce, Skip: r.from.skip, Requests: r.asks()}
	info.Probe = func(ctx context.Context, req Request) (int, error) { return r.probe(ctx, cfg, req) }
	if r.source, err = s.Workload.Open(ctx, info); err != nil {
		return fmt.Errorf("workload: %w", err)
	}
	if err := r.preflight(ctx, cfg); err != nil {
		return err
	}
	if err := r.scrape(ctx, header, cfg); err != nil {
		return err
	}
	_, err = r.begin(ctx, phaseRun)
	return err
}

// scrape makes ready to ask the server for its metrics.
func (r *run) scrape(ctx context.Context, header http.Header, cfg client.Config) error {
	s := &r.scenario
	if s.ServerMetrics == nil {
		return nil
	}
	if !s.ServerMetrics.sameHost(r.endpoint) {
		header = http.Header{} // the target's key is for the target
	}
	r.scraper = newScraper(*s.ServerMetrics, header, cfg.TLS, cfg.Proxy, cfg.Dial, r.client.Redact, r.epoch)
	return r.scraper.try(ctx)
}

// checkLimits refuses a load that needs more connections than this system lets
// one process open, and makes the process ready for them.
func (r *run) checkLimits() error {
	field, need := "Load.Concurrency", health.Need{Connections: r.slots()}
	if r.plan.open() {
		field, need.Connections = "Load.InFlight", r.plan.InFlight
	}
	if n := r.settings.shard.Requests(r.plan.Requests); n > 0 && (r.plan.open() || r.scenario.ColdConnections) {
		need.Connections = min(need.Connections, n)
	}
	if n := r.warmupConnections(); n > need.Connections {
		field, need.Connections = "Warmup.Concurrency", n
	}
	if r.scenario.Target.Dial != nil {
		return nil // connections of the test's own
	}
	if r.scenario.Target.Simulated {
		need.FilesEach = 2 // its server is in this process
	}
	if err := health.CheckLimits(need); err != nil {
		return badField(field, need.Connections, strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	health.ReserveFiles(need)
	return nil
}

// asks is the most requests that the run will ask its workload for, all shards,
// the warm-up and both ends of a closed loop included; 0 when time or a trace
// bounds it.
func (r *run) asks() int {
	w := r.scenario.Warmup
	if r.plan.Requests == 0 || r.plan.paired || w.Requests == 0 && w.Duration > 0 {
		return 0
	}
	n := max(r.plan.Requests, r.scenario.Extend.Requests) + w.Requests
	if r.plan.steady() {
		if r.plan.RampUp.Duration > 0 {
			return 0 // time bounds its start
		}
		n += (1 + load.PaddingASlot) * r.plan.Concurrency * max(1, r.scenario.looks(r.plan))
	}
	return n
}

// check refuses a scenario that cannot be run.
func (r *run) check() (err error) {
	s := &r.scenario
	switch {
	case s.Load == nil:
		return badField("Load", "nil", "set it, for example to perftest.Closed{Concurrency: 8, Requests: 512}")
	case s.Workload == nil:
		return badField("Workload", "nil", "set it, for example to fixtures.Builtin{Output: 128}")
	case s.Target.Accelerators < 0:
		return badField("Target.Accelerators", s.Target.Accelerators, "set it to 0 (unknown) or more")
	}
	for i, o := range s.Observers {
		if v := reflect.ValueOf(o); o == nil || (v.Kind() == reflect.Pointer || v.Kind() == reflect.Func) && v.IsNil() {
			return badField(fmt.Sprintf("Observers[%d]", i), "nil", "leave it out")
		}
	}
	for _, part := range []struct {
		name  string
		value any
	}{{"Load", s.Load}, {"Workload", s.Workload}, {"Target.API", s.Target.API}, {"Tokenizer", s.Tokenizer}} {
		if v := reflect.ValueOf(part.value); v.Kind() == reflect.Pointer && v.IsNil() {
			return badField(part.name, fmt.Sprintf("a nil %T", part.value), "set it to a value")
		}
	}
	if r.plan, err = s.Load.Plan(); err != nil {
		return err
	}
	if err = firstError(
		r.plan.check(),
		counts("Warmup.Requests", s.Warmup.Requests, 0, mostRequests, "none"),
		lasts("Warmup.Duration", s.Warmup.Duration, "no limit"),
		counts("Warmup.Concurrency", s.Warmup.Concurrency, 0, mostSlots, "the load's"),
		counts("Repeat", s.Repeat, 0, mostRuns, "one run"),
		counts("TurnsInFlight", s.TurnsInFlight, 0, mostSlots, "no limit"),
		s.ClientLimits.check(),
	); err != nil {
		return err
	}
	if r.settings.nonce, err = parseNonce(r.settings.nonceText); err != nil {
		return err
	}
	if _, err = parseCharts(r.settings.chartsText); err != nil {
		return err
	}
	if err = r.findPlace(); err != nil {
		return err
	}
	if b := r.settings.bottleneck; b != "" && b != bottleneckWarns {
		return badField("PERFTEST_BOTTLENECK", fmt.Sprintf("%q", b), `set it to "warn", or not at all`)
	}
	if r.settings.shard, err = parseShard(r.settings.shardText); err != nil {
		return err
	}
	if err = r.takeShard(); err != nil {
		return err
	}
	if r.timeouts, err = s.Timeouts.withDefaults(); err != nil {
		return err
	}
	if r.api, r.dialect, err = s.Target.speaks(); err != nil {
		return err
	}
	if s.Target.NoStream && r.api == TGIGenerate {
		return badField("Target.NoStream", true, "leave it out: generate_stream, to which TGIGenerate sends, always streams")
	}
	s.Target.API = r.api
	if r.endpoint, err = parseURL(s.Target.URL, wire.Base(r.dialect), r.dialect.Path()); err != nil {
		return err
	}
	if r.bubble && s.Target.Dial == nil {
		return badField("Target.Dial", "nil", "set it in a testing/synctest bubble, where no time passes while a network is waited for: simserver.StartPipe and fixtures.Server have targets with one; or run outside of the bubble")
	}
	if s.ServerMetrics != nil {
		m, err := s.ServerMetrics.check(r.endpoint)
		if err != nil {
			return err
		}
		s.ServerMetrics = &m
	}
	for _, name := range []string{"stream", "stream_options", "model", "messages", "prompt"} {
		if _, ok := s.Target.Params[name]; ok {
			return badField("Target.Params", fmt.Sprintf("%q", name), "leave it out: Target.Model, Target.NoStream and the workload say it")
		}
	}
	r.params = map[string]json.RawMessage{}
	for _, k := range slices.Sorted(maps.Keys(s.Target.Params)) {
		if r.params[k], err = json.Marshal(s.Target.Params[k]); err != nil {
			return badField(fmt.Sprintf("Target.Params[%q]", k), fmt.Sprintf("a %T", s.Target.Params[k]), "it is no JSON value ("+err.Error()+"): use strings, numbers, booleans, lists and maps")
		}
	}
	return nil
}

// withDefaults fills in what is zero and refuses what is negative.
func (t Timeouts) withDefaults() (Timeouts, error) {
	for _, f := range []struct {
		name    string
		value   *time.Duration
		instead time.Duration
	}{
		{"Connect", &t.Connect, 10 * time.Second},
		{"FirstToken", &t.FirstToken, 5 * time.Minute},
		{"BetweenTokens", &t.BetweenTokens, time.Minute},
		{"Total", &t.Total, 30 * time.Minute},
	} {
		if err := lasts("Timeouts."+f.name, *f.value, "the default, "+f.instead.String()); err != nil {
			return t, err
		}
		if *f.value == 0 {
			*f.value = f.instead
		}
	}
	return t, nil
}

// resultRoot is the folder of all results, which stays.
func (r *run) resultRoot() string {
	root, _ := filepath.Abs(cmp.Or(r.settings.results, stateRoot()))
	return root
}

// close ends what setUp opened.
func (r *run) close() {
	r.leave("its test ended within the run: see its log")
	r.all.close()
	if r.source != nil {
		if err := r.source.Close(); err != nil {
			r.logf("workload: %v", err)
		}
	}
	if r.scraper != nil {
		r.scraper.close()
	}
	if r.client != nil {
		r.client.Close()
	}
	if r.unlock != nil {
		r.unlock()
	}
	// Nothing was measured where the folder is empty; else it stays, and with
	// it those above.
	for dir := r.dir; dir != "" && dir != r.resultRoot() && os.Remove(dir) == nil; {
		dir = filepath.Dir(dir)
	}
}
