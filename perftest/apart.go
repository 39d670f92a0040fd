package perftest

import (
	"fmt"
	"path/filepath"

	"github.com/slogate/slogate/internal/record"
)

// Apart gives the parts of a merged result, one result a shard in their order,
// whose figures are of its requests alone: for [Compare], which draws them side
// by side, when one shard is to be told from the others. Stamps stay those of
// the whole. Nothing is written. The error is one of the merged requests.jsonl,
// or says that r is not of several shards.
func (r *Result) Apart() ([]*Result, error) {
	if len(r.Shards) == 0 {
		return nil, badField("Result.Shards", "empty", "only a merged result has parts: see perftest.Merge and package perftest/cluster")
	}
	count := r.Shards[0].Count
	byIndex := make([]*collector, count)
	for i := range byIndex {
		byIndex[i] = newCollector()
		byIndex[i].whole = r.Target.API == string(Embeddings) || r.Target.API == string(Rerank)
	}
	if _, err := eachRecord(filepath.Join(r.Dir, requestsFile), func(rec *record.Record) { byIndex[rec.Slot%count].add(rec) }); err != nil {
		return nil, fmt.Errorf("apart: %w", err)
	}
	var parts []*Result
	for _, s := range r.Shards {
		part := &Result{
			Schema: r.Schema, Version: r.Version, Name: fmt.Sprintf("%s, shard %d of %d", r.Name, s.Index, s.Count), Test: r.Test, Package: r.Package,
			Simulated: r.Simulated, Partial: s.Ended != endedComplete, Ended: s.Ended, Started: r.Started, Scenario: r.Scenario, Target: r.Target,
			Environment: s.Environment, Health: s.Health, Duration: r.Duration, Warnings: []string{}, Verdicts: []Verdict{}, Dir: r.Dir, stored: true, cut: true,
		}
		part.Scenario.Load.ShardIndex, part.Scenario.Load.ShardCount = s.Index, s.Count
		part.Counts.Planned, part.Counts.Dropped, part.Counts.Unsent = s.Counts.Planned, s.Counts.Dropped, s.Counts.Unsent
		byIndex[s.Index].finish(part, (r.Scenario.Load.Concurrency+count-1-s.Index)/count)
		parts = append(parts, part)
	}
	return parts, nil
}

// has reports whether a record of r's folder is one of r's.
func (r *Result) has(rec *record.Record) bool {
	load := r.Scenario.Load
	return !r.cut || rec.Slot%load.ShardCount == load.ShardIndex
}
