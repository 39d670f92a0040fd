package perftest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The identity of a baseline's lines. A reader of one version takes all
// earlier ones.
const (
	baselineSchema  = "slogate/baseline"
	baselineVersion = 1
)

// baselineRun is a line of a baseline: one run.
type baselineRun struct {
	Schema  string    `json:"schema"`
	Version int       `json:"version"`
	Time    time.Time `json:"time"`
	Commit  string    `json:"commit"`
	Test    string    `json:"test"`
	// Series names the runs that belong together: those of one update, and of
	// later ones that found nothing changed.
	Series      string      `json:"series"`
	Fingerprint Fingerprint `json:"fingerprint"`
	Figures     RunFigures  `json:"figures"`
}

// readBaseline reads a baseline's lines; there are none where there is no file.
// The error names the line that is no run.
func readBaseline(file, shown string) (runs []baselineRun, err error) {
	data, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("baseline %s: it cannot be read (%s)", shown, cause(err))
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var run baselineRun
		wrong := ""
		switch err := json.Unmarshal(line, &run); {
		case bytes.HasPrefix(line, []byte("<<<<<<<")) || bytes.HasPrefix(line, []byte("|||||||")) || bytes.HasPrefix(line, []byte("=======")) || bytes.HasPrefix(line, []byte(">>>>>>>")):
			wrong = "it is the mark of a merge conflict: keep the lines of both sides and remove the marks"
		case err != nil:
			wrong = "it is no run (" + err.Error() + "): restore the line, or remove it"
		case run.Schema != baselineSchema:
			wrong = fmt.Sprintf("its schema is %.40q and not %q: restore the line, or remove it", run.Schema, baselineSchema)
		case run.Version < 1 || run.Version > baselineVersion:
			wrong = fmt.Sprintf("its version is %d, and this reads 1 to %d: use a newer slogate", run.Version, baselineVersion)
		default:
			runs = append(runs, run)
			continue
		}
		return nil, fmt.Errorf("baseline %s:%d: %s", shown, number, wrong)
	}
	return runs, nil
}

// latest are the runs to compare with: of those with the fingerprint, the
// series of the last one.
func latest(runs []baselineRun, f Fingerprint) []baselineRun {
	same := slices.DeleteFunc(slices.Clone(runs), func(r baselineRun) bool { return !f.same(r.Fingerprint) })
	if len(same) == 0 {
		return nil
	}
	series := same[len(same)-1].Series
	return slices.DeleteFunc(same, func(r baselineRun) bool { return r.Series != series })
}

// appendBaseline adds runs to a baseline's file, which it makes, with a note for
// git to keep both sides' lines when branches meet.
func appendBaseline(file string, runs []baselineRun) error {
	var lines bytes.Buffer
	for _, run := range runs {
		data, err := json.Marshal(run)
		if err != nil {
			return err
		}
		lines.Write(append(data, '\n'))
	}
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if before, err := os.ReadFile(file); err == nil && len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		lines = *bytes.NewBuffer(append([]byte("\n"), lines.Bytes()...))
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(lines.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return unionMerge(dir)
}

// unionMerge tells git to merge a folder's baselines by keeping all lines.
func unionMerge(dir string) error {
	attributes := filepath.Join(dir, ".gitattributes")
	if _, err := os.Stat(attributes); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.WriteFile(attributes, []byte("*.jsonl merge=union\n"), 0o644)
}

// newRuns are r's runs as lines of a baseline.
func (r *Result) newRuns(f Fingerprint, series string) []baselineRun {
	if series == "" {
		series = r.Started.UTC().Format("20060102T150405.000Z")
		if c := r.Environment.Commit; c != "" {
			series += "-" + strings.ToLower(c[:min(len(c), 12)])
		}
	}
	started := []time.Time{}
	for _, e := range r.earlier {
		started = append(started, e.Started)
	}
	started = append(started, r.Started)
	var lines []baselineRun
	for i, figures := range r.runs() {
		lines = append(lines, baselineRun{
			Schema: baselineSchema, Version: baselineVersion, Time: started[min(i, len(started)-1)].UTC().Truncate(time.Millisecond),
			Commit: r.Environment.Commit, Test: r.Test, Series: series, Fingerprint: f, Figures: figures,
		})
	}
	return lines
}
