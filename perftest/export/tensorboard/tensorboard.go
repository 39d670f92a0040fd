// Package tensorboard writes a run's figures as TensorBoard event files, which
// "wandb sync" and "swanlab convert -t tensorboard" take in, too:
//
//	exporter := tensorboard.Start(t, "runs")
//	perftest.Run(t, perftest.Scenario{Observers: []perftest.Observer{exporter}, …})
//
// Each run makes a folder runs/<test>/<time> with one file. The step of a
// figure is the second of the run in which it was taken:
//
//	live/requests_per_s, live/output_tokens_per_s, live/in_flight,
//	live/succeeded, live/failed, live/mean_ttft_s, live/mean_tpot_s  as on the progress line
//	requests/ttft_s, requests/tpot_s, requests/latency_s  means of the successes of that second
package tensorboard

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slogate/slogate/perftest"
)

// Exporter is a [perftest.Observer] of one run, or of several.
type Exporter struct {
	dir string

	mu      sync.Mutex
	files   map[string]*os.File // by run; nil for one that cannot be written
	warning string
}

// Start makes an exporter that writes below dir, a path from the test's own
// folder. A dir that cannot be made is a fatal error of the test.
func Start(t testing.TB, dir string) *Exporter {
	t.Helper()
	if dir == "" {
		t.Fatalf(`tensorboard: dir is "": set it to a folder, such as "runs"`)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatalf("tensorboard: dir is %q: it cannot be made (%v): set it to a folder that can be written to", dir, err)
	}
	e := &Exporter{dir: dir, files: map[string]*os.File{}}
	t.Cleanup(e.close)
	return e
}

// close ends the files of runs that did not end.
func (e *Exporter) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.files {
		if f != nil {
			_ = f.Close()
		}
	}
	clear(e.files)
}

// Observe implements [perftest.Observer].
func (e *Exporter) Observe(s perftest.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	run := s.Run.Test + " " + s.Run.Name + " " + s.Run.Started.String()
	f, ok := e.files[run]
	if !ok {
		f = e.create(&s)
		e.files[run] = f
	}
	if f == nil {
		return
	}
	at := s.Run.Time(s.At)
	if scalars := figures(&s); len(scalars) > 0 {
		e.note(writeRecord(f, scalarEvent(at, int64(math.Round(float64(s.At))), scalars)))
	}
	if s.Last {
		e.note(f.Close())
		delete(e.files, run)
	}
}

// create makes a run's file, by the name that TensorBoard looks for.
func (e *Exporter) create(s *perftest.Snapshot) *os.File {
	dir := filepath.Join(e.dir, fileName(s.Run.Name), s.Run.Started.UTC().Format("20060102T150405.000Z"))
	if e.note(os.MkdirAll(dir, 0o755)) {
		return nil
	}
	f, err := os.Create(filepath.Join(dir, fmt.Sprintf("events.out.tfevents.%d.slogate", s.Run.Started.Unix())))
	if e.note(err) || e.note(writeRecord(f, versionEvent(s.Run.Started))) {
		return nil
	}
	return f
}

// note keeps the first error, and reports whether there was one.
func (e *Exporter) note(err error) bool {
	if err != nil && e.warning == "" {
		e.warning = fmt.Sprintf("the event file is incomplete: %v", err)
	}
	return err != nil
}

// Warning implements [perftest.Warner].
func (e *Exporter) Warning() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := e.warning
	e.warning = ""
	return text
}

// fileName makes a run's name one that every system takes.
func fileName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c < ' ' || strings.ContainsRune(`<>:"/\|?*`, c) {
			return '_'
		}
		return c
	}, name)
	if name = strings.Trim(strings.ToValidUTF8(name[:min(len(name), 100)], ""), ". "); name == "" {
		return "_"
	}
	return name
}

// figures are those of a snapshot. During the warm-up there are none.
func figures(s *perftest.Snapshot) (all []scalar) {
	if s.Live.Warmup {
		return nil
	}
	add := func(tag string, v perftest.Value) {
		if v.Known() {
			all = append(all, scalar{tag, float64(v)})
		}
	}
	add("live/requests_per_s", s.Live.Requests)
	add("live/output_tokens_per_s", s.Live.Output)
	add("live/in_flight", perftest.Value(s.Live.InFlight))
	add("live/succeeded", perftest.Value(s.Live.Succeeded))
	add("live/failed", perftest.Value(s.Live.Failed))
	add("live/mean_ttft_s", s.Live.TTFT)
	add("live/mean_tpot_s", s.Live.TPOT)
	for _, m := range []struct {
		tag string
		of  func(*perftest.FinishedRequest) perftest.Value
	}{
		{"requests/ttft_s", func(f *perftest.FinishedRequest) perftest.Value { return f.TTFT }},
		{"requests/tpot_s", func(f *perftest.FinishedRequest) perftest.Value { return f.TPOT }},
		{"requests/latency_s", func(f *perftest.FinishedRequest) perftest.Value { return f.Latency }},
	} {
		sum, n := 0., 0.
		for i := range s.Finished {
			if f := &s.Finished[i]; f.Part == "measured" && f.OK() && m.of(f).Known() {
				sum, n = sum+float64(m.of(f)), n+1
			}
		}
		if n > 0 {
			add(m.tag, perftest.Value(sum/n))
		}
	}
	return all
}
