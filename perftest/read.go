package perftest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/slogate/slogate/internal/record"
)

// ReadResult reads a stored result from its folder or its result.json, and the
// requests beside it, so that other SLOs can be judged on it without sending
// anything. A folder without result.json (the run was killed) gives what its
// requests.jsonl holds, marked partial. Of a repeated scenario the runs before
// are read too, where they lie beside it as they were written. The files stay as
// they are, whatever is judged.
func ReadResult(path string) (*Result, error) {
	runs.Add(1)
	dir := path
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	} else if !info.IsDir() {
		dir = filepath.Dir(path)
	}
	r := &Result{Schema: ResultSchema, Version: ResultVersion, Partial: true, Ended: endedError,
		Window: Absent, Duration: Absent, Failures: []Failure{}, Warnings: []string{}, Verdicts: []Verdict{}}
	data, err := os.ReadFile(filepath.Join(dir, resultFile))
	whole := err == nil
	switch {
	case whole:
		if r, err = decodeResult(data); err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, resultFile), err)
		}
	case !errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("read result: %w", err)
	}
	r.Dir, r.stored = dir, true
	c := newCollector()
	c.whole = r.Target.API == string(Embeddings) || r.Target.API == string(Rerank)
	torn, err := eachRecord(filepath.Join(dir, requestsFile), c.add)
	if err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	switch {
	case !whole:
		c.finish(r, 0)
		r.Warnings = append(r.Warnings, "result.json is missing: the run did not end by itself")
	case c.counts.Sent != r.Counts.Sent:
		return nil, fmt.Errorf("read result: %s holds %d measured requests, %s says %d", requestsFile, c.counts.Sent, resultFile, r.Counts.Sent)
	case c.counts.Succeeded != r.Counts.Succeeded || c.counts.Failed != r.Counts.Failed:
		return nil, fmt.Errorf("read result: %s holds %d successes and %d failures, %s says %d and %d: one of them was changed",
			requestsFile, c.counts.Succeeded, c.counts.Failed, resultFile, r.Counts.Succeeded, r.Counts.Failed)
	default:
		r.samples = c.samples
	}
	if r.server, err = readServerLog(filepath.Join(dir, serverFile)); err != nil {
		return nil, fmt.Errorf("read result: %w", err)
	}
	if !whole && r.server != nil {
		r.Server.fill(r.server)
	}
	for _, rel := range r.EarlierRuns {
		run, err := ReadResult(filepath.Join(dir, filepath.FromSlash(rel)))
		if err != nil || len(run.EarlierRuns) > 0 {
			r.earlier = nil
			r.Warnings = append(r.Warnings, fmt.Sprintf("the run before it in %s cannot be read: objectives are judged on the last of %d runs alone", rel, len(r.Runs)))
			break
		}
		r.earlier = append(r.earlier, run)
	}
	if torn {
		r.Warnings = append(r.Warnings, "the last line of "+requestsFile+" is cut off")
	}
	return r, nil
}

func decodeResult(data []byte) (*Result, error) {
	var r Result
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Schema != ResultSchema:
		return nil, badField("schema", fmt.Sprintf("%q", r.Schema), fmt.Sprintf("this reads %q", ResultSchema))
	case r.Version < 1 || r.Version > ResultVersion:
		return nil, badField("version", r.Version, fmt.Sprintf("this reads 1 to %d: use a newer slogate", ResultVersion))
	}
	if r.Version == 1 { // which knew the figure's outcome alone
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			v.Point, v.MeasuredBound, v.ShareLower, v.ShareUpper, v.DesignEffect, v.Effective = v.Outcome, Absent, Absent, Absent, Absent, Absent
			if v.Outcome != Invalid {
				v.Outcome = Inconclusive
			}
		}
	}
	for _, raw := range []*json.RawMessage{&r.Scenario.Workload, &r.Scenario.Load.Config, &r.Target.Params} {
		var compact bytes.Buffer // they were written with the file's indentation
		if err := json.Compact(&compact, *raw); err == nil {
			*raw = compact.Bytes()
		}
	}
	return &r, nil
}

// eachRecord hands out the records of a file, and says whether its last line
// was cut off.
func eachRecord(name string, add func(*record.Record)) (torn bool, err error) {
	f, err := os.Open(name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	rd := record.NewReader(bufio.NewReaderSize(f, 1<<20))
	var rec record.Record
	for {
		rec.Reset()
		switch err := rd.Next(&rec); {
		case err == io.EOF:
			return false, nil
		case errors.Is(err, record.ErrTorn):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("%s: %w", name, err)
		}
		add(&rec)
	}
}
