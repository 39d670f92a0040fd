package client

import (
	"slices"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// maxUsages bounds the choices whose usage is kept apart.
const maxUsages = 4096

// tally puts the usage objects of one answer together, count by count.
//
// The last count that is not zero wins: servers send zeros until the end
// (Ollama), or the input's count first and the output's last (Anthropic). Of
// the input the largest wins: a later object may leave out what the cache had.
//
// If several choices were asked for, usage may come for each of them: in events
// of its own (llama-server's chat), or in the events of the choice (its
// completions at the end, vLLM all the time). Output then adds up over the
// choices. Input adds up over the prompts, which the choices of one share. A
// single object in an event of its own is the sum already, and objects in
// events of their own go before those in events of choices.
type tally struct {
	last             wire.Usage // over all usage objects
	sum              wire.Usage // over those without choices, when there are several choices
	objects          int        // how many of those said something
	each             []wire.Usage
	choices, prompts int
}

var unknown = wire.Usage{
	Input: record.Absent, Output: record.Absent, Cached: record.Absent, Reasoning: record.Absent,
	Audio: record.Absent, InputAudio: record.Absent,
}

// reset begins an answer of so many choices over all its prompts. It keeps the
// memory.
func (t *tally) reset(choices, prompts int) {
	*t = tally{last: unknown, sum: unknown, each: t.each[:0], choices: max(choices, 1), prompts: max(prompts, 1)}
}

// perPrompt is the number of choices that share a prompt.
func (t *tally) perPrompt() int { return max(t.choices/t.prompts, 1) }

func (t *tally) add(e *wire.Event) {
	u := e.Usage
	latest(&t.last, u)
	switch {
	case t.choices == 1:
	case !e.Choices:
		if u.Input > 0 || u.Output > 0 {
			t.objects++
		}
		if t.prompts == 1 {
			atLeast(&t.sum, u)
		} else {
			plusInput(&t.sum, u)
		}
		plusOutput(&t.sum, u)
	case e.Choice > 0 && e.Choice <= min(t.choices, maxUsages):
		for len(t.each) < e.Choice {
			t.each = append(t.each, unknown)
		}
		latest(&t.each[e.Choice-1], u)
	}
}

// latest is the usage of one thing that was told of more than once.
func latest(to *wire.Usage, u wire.Usage) {
	atLeast(to, u)
	keep(&to.Output, u.Output)
	keep(&to.Reasoning, u.Reasoning)
	keep(&to.Audio, u.Audio)
}

func keep(to *int64, n int64) {
	if n > 0 || n == 0 && *to == record.Absent {
		*to = n
	}
}

// atLeast makes the counts of the input at least those of u.
func atLeast(to *wire.Usage, u wire.Usage) {
	to.Input, to.Cached, to.InputAudio = max(to.Input, u.Input), max(to.Cached, u.Cached), max(to.InputAudio, u.InputAudio)
}

func plusInput(to *wire.Usage, u wire.Usage) {
	plus(&to.Input, u.Input)
	plus(&to.Cached, u.Cached)
	plus(&to.InputAudio, u.InputAudio)
}

func plusOutput(to *wire.Usage, u wire.Usage) {
	plus(&to.Output, u.Output)
	plus(&to.Reasoning, u.Reasoning)
	plus(&to.Audio, u.Audio)
}

func plus(to *int64, n int64) {
	if n >= 0 {
		*to = max(*to, 0) + n
	}
}

// whole is the usage of the whole answer.
func (t *tally) whole() wire.Usage {
	switch {
	case t.objects > 0:
		u := t.sum
		if each := int64(t.perPrompt()); t.prompts > 1 && t.objects == t.choices { // one a choice: each prompt is there that often
			for _, n := range []*int64{&u.Input, &u.Cached, &u.InputAudio} {
				if *n > 0 {
					*n /= each
				}
			}
		}
		return u
	case len(t.each) == 0:
		return t.last
	}
	u := unknown
	for choices := range slices.Chunk(t.each, t.perPrompt()) {
		prompt := unknown
		for _, one := range choices {
			atLeast(&prompt, one)
			plusOutput(&u, one)
		}
		plusInput(&u, prompt)
	}
	return u
}

// fill writes the counts into rec. No tokens beside output are a count that the
// server does not take.
func (t *tally) fill(rec *record.Record) {
	u := t.whole()
	if u.Output == 0 && rec.TokenEvents > 0 {
		for _, n := range []*int64{&u.Output, &u.Reasoning, &u.Audio} {
			*n = uncounted(*n)
		}
		if u.Input == 0 {
			u.Input, u.Cached, u.InputAudio = record.Absent, uncounted(u.Cached), uncounted(u.InputAudio)
		}
	}
	rec.InputTokens, rec.OutputTokens = u.Input, u.Output
	rec.CachedTokens, rec.ReasoningTokens = u.Cached, u.Reasoning
	rec.AudioTokens, rec.InputAudio = u.Audio, u.InputAudio
	if u.Input >= 0 {
		rec.InputSource = record.SourceUsage
	}
	if u.Output >= 0 {
		rec.OutputSource = record.SourceUsage
	}
}

// uncounted takes a zero for no count.
func uncounted(n int64) int64 {
	if n == 0 {
		return record.Absent
	}
	return n
}
