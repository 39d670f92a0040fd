package client

import (
	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// tally puts the usage objects of one answer together, count by count.
//
// The last count that is not zero wins: servers send zeros until the end
// (Ollama), or the input's count first and the output's last (Anthropic). If
// several choices were asked for, usage that comes in events of its own is
// taken for one object a choice (llama-server) when there are several: output
// and reasoning tokens add up, and the largest input counts, since the choices
// share their prompt. A single one of its own is the sum already.
type tally struct {
	last wire.Usage // over all usage objects
	sum  wire.Usage // over those without choices, when N > 1
	many bool       // several choices were asked for
}

var unknown = wire.Usage{Input: record.Absent, Output: record.Absent, Cached: record.Absent, Reasoning: record.Absent, Audio: record.Absent}

func newTally(choices int) tally { return tally{last: unknown, sum: unknown, many: choices > 1} }

func (t *tally) add(e *wire.Event) {
	u := e.Usage
	keep(&t.last.Input, u.Input)
	keep(&t.last.Output, u.Output)
	keep(&t.last.Cached, u.Cached)
	keep(&t.last.Reasoning, u.Reasoning)
	if t.many && !e.Choices {
		t.sum.Input = max(t.sum.Input, u.Input)
		t.sum.Cached = max(t.sum.Cached, u.Cached)
		plus(&t.sum.Output, u.Output)
		plus(&t.sum.Reasoning, u.Reasoning)
	}
}

func keep(to *int64, n int64) {
	if n > 0 || n == 0 && *to == record.Absent {
		*to = n
	}
}

func plus(to *int64, n int64) {
	if n >= 0 {
		*to = max(*to, 0) + n
	}
}

func (t *tally) fill(rec *record.Record) {
	u := t.last
	if t.sum != unknown {
		u = t.sum
	}
	rec.InputTokens, rec.OutputTokens = u.Input, u.Output
	rec.CachedTokens, rec.ReasoningTokens = u.Cached, u.Reasoning
	if u.Input >= 0 {
		rec.InputSource = record.SourceUsage
	}
	if u.Output >= 0 {
		rec.OutputSource = record.SourceUsage
	}
}
