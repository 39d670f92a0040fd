package perftest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slogate/slogate/internal/report"
)

// The files of a result's folder.
const (
	resultFile   = "result.json"
	requestsFile = "requests.jsonl"
)

// makeResultDir makes a new folder for one run below root, or below the
// package's state folder when root is empty: name, then the time of the start.
func makeResultDir(root, name string, now time.Time) (string, error) {
	field, shown := "PERFTEST_RESULTS", fmt.Sprintf("%q", root)
	if root != "" && !filepath.IsAbs(root) {
		root = filepath.Join(packageDir, root)
	}
	if root == "" {
		field, shown, root = "results folder", stateRoot(), stateRoot()
		if err := makeStateDir(); err != nil {
			return "", badField(field, shown, "it cannot be made ("+cause(err)+"): set PERFTEST_RESULTS to a folder that can be written to")
		}
	}
	base := filepath.Join(root, filepath.FromSlash(safePath(name)))
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", badField(field, shown, "it cannot be made ("+cause(err)+"): set it to a folder that can be written to")
	}
	stamp := now.UTC().Format("20060102T150405.000Z")
	for i := range 1000 {
		dir := filepath.Join(base, stamp)
		if i > 0 {
			dir = fmt.Sprintf("%s-%d", dir, i)
		}
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			return filepath.Abs(dir)
		}
		if !errors.Is(err, os.ErrExist) {
			return "", badField(field, shown, "it cannot be written to ("+cause(err)+"): set it to a folder that can be")
		}
	}
	return "", badField(field, shown, "a thousand runs started in one millisecond: set another folder")
}

// longestPart bounds a folder's name, in bytes; file systems take 255.
const longestPart = 100

// safePath makes a test's name a path that every system and every artifact
// store takes.
func safePath(name string) string {
	parts := strings.Split(name, "/")
	for i, p := range parts {
		p = strings.Map(func(c rune) rune {
			if c < ' ' || strings.ContainsRune(`<>:"\|?*`, c) {
				return '_'
			}
			return c
		}, p)
		if p = strings.TrimRight(p, ". "); p == "" || p[0] == '.' {
			p = "_" + strings.TrimLeft(p, ".")
		}
		if len(p) > longestPart {
			p = fmt.Sprintf("%s-%.8x", strings.ToValidUTF8(p[:longestPart-9], ""), sha256.Sum256([]byte(p)))
		}
		parts[i] = p
	}
	return strings.Join(parts, "/")
}

// save writes result.json, whole or not at all.
func (r *Result) save() error {
	if r.Dir == "" || r.stored {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("results: %w", err)
	}
	name := filepath.Join(r.Dir, resultFile)
	if err := os.WriteFile(name+".tmp", append(data, '\n'), 0o644); err != nil {
		_ = os.Remove(name + ".tmp")
		return fmt.Errorf("results: %w", err)
	}
	if err := os.Rename(name+".tmp", name); err != nil {
		return fmt.Errorf("results: %w", err)
	}
	return nil
}

// SaveVerdicts adds verdicts to the result, writes result.json again, and shows
// their table on the terminal where go test hides what a passing test says. A
// result that was read back, or that has no folder, is not written.
func (r *Result) SaveVerdicts(verdicts []Verdict) error {
	r.Verdicts = append(r.Verdicts, verdicts...)
	r.noteMisses(r.misses(verdicts))
	if !testing.Verbose() && (!r.stored || r.replayed) {
		report.ToTerminal(r.VerdictTable(verdicts) + "\n\n")
	}
	if r.stored {
		return nil
	}
	if r.reported { // judged after its test has ended: the page has no verdicts yet
		v := view{title: r.Name, runs: []viewed{{Result: r}}}
		return errors.Join(r.save(), v.write(r.Dir, time.Time{}))
	}
	return r.save()
}

// result is the run's result before anything is measured.
func (r *run) result() *Result {
	s := &r.scenario
	res := &Result{
		Schema: ResultSchema, Version: ResultVersion,
		Name: s.Name, Test: r.test, Package: testPackage(), Simulated: s.Target.Simulated,
		Ended: endedComplete, Started: r.epoch.UTC(), Dir: r.dir,
		Environment: environment(),
		Counts:      Counts{Planned: r.settings.shard.Requests(r.plan.Requests)},
		Window:      Absent, Duration: Absent,
		Failures: []Failure{}, Warnings: append([]string{}, r.warnings...), Verdicts: []Verdict{},
	}
	res.Target = TargetInfo{
		URL: r.endpoint.shown, Model: r.client.Redact(r.model), API: r.api.Name(), NoStream: s.Target.NoStream,
		Params: r.shownParams(), Headers: slices.Sorted(maps.Keys(s.Target.Headers)),
		Accelerators: s.Target.Accelerators, Labels: r.shownLabels(),
	}
	if req, err := http.NewRequest(http.MethodPost, r.endpoint.post, nil); err == nil && s.Target.Dial == nil {
		if proxy, err := http.ProxyFromEnvironment(req); err == nil && proxy != nil {
			res.Target.Proxy = proxy.Host
		}
	}
	orAbsent := func(d time.Duration) Value {
		if d == 0 {
			return Absent
		}
		return Value(d.Seconds())
	}
	res.Scenario = ScenarioInfo{
		Load: LoadInfo{
			Type: typeName(s.Load), Config: describe(s.Load), Concurrency: r.plan.slots(), Rate: Absent, Requests: r.plan.Requests, Duration: orAbsent(r.plan.Duration),
			ShardIndex: r.settings.shard.Index, ShardCount: max(1, r.settings.shard.Count),
		},
		Workload:       describe(s.Workload),
		WorkloadType:   typeName(s.Workload),
		WarmupRequests: s.Warmup.Requests, WarmupDuration: orAbsent(s.Warmup.Duration),
		SLOs: append([]SLO{}, s.SLOs...), Looks: s.looks(r.plan),
		Seed: s.Seed, Nonce: r.nonce, ShortIsFailure: s.ShortIsFailure, ColdConnections: s.ColdConnections, TurnsInFlight: s.TurnsInFlight,
		Timeouts: TimeoutsInfo{
			Connect: Value(r.timeouts.Connect.Seconds()), FirstToken: Value(r.timeouts.FirstToken.Seconds()),
			BetweenTokens: Value(r.timeouts.BetweenTokens.Seconds()), Total: Value(r.timeouts.Total.Seconds()),
		},
	}
	if r.plan.rate > 0 {
		res.Scenario.Load.Rate = Value(r.plan.rate)
	}
	if w := s.Warmup; w.Requests > 0 || w.Duration > 0 {
		res.Scenario.WarmupSlots = r.warmupSlots()
	}
	return res
}

// typeName is a type's name with its package, such as "fixtures.Prompts".
func typeName(v any) string {
	return strings.TrimPrefix(reflect.TypeOf(v).String(), "*")
}

// joinErrors is errors.Join on one line.
func joinErrors(errs ...error) error {
	var first error
	for _, err := range errs {
		switch {
		case err == nil:
		case first == nil:
			first = err
		default:
			first = fmt.Errorf("%w; %v", first, err)
		}
	}
	return first
}
