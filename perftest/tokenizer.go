package perftest

import (
	"cmp"
	"fmt"

	"github.com/slogate/slogate/internal/record"
	"github.com/slogate/slogate/internal/wire"
)

// Tokenizer counts the tokens of a text as the target's model does, such as
// package fixtures/tokenizer has them. It is called from one goroutine, beside
// the load and not within it; its work takes CPU from the client all the same,
// and the texts of answers are kept for it in memory until they are counted.
//
// Output is counted where all of it is text: answers with calls of tools, with
// audio or of thoughts that the server keeps back are left out. Input is counted
// for [Completions] with a Prompt or PromptIDs only, since no one but the server
// knows what a chat template adds; a beginning-of-text token is not in it.
type Tokenizer interface {
	Count(text string) int
}

// TokenizerInfo is what a scenario's tokenizer counted.
type TokenizerInfo struct {
	Type   string     `json:"type"` // its Go type
	Output TokenCheck `json:"output"`
	Input  TokenCheck `json:"input"`
}

// TokenCheck compares the server's counts (usage) with the tokenizer's, over
// the successes.
type TokenCheck struct {
	// Counted is the number of those of which the server sent no count, so
	// that the tokenizer's stands.
	Counted int `json:"counted"`
	// Compared is the number of those with both counts, Differ of those whose
	// counts differ by more than 1 %, and by more than the tokens that stand in
	// no text.
	Compared int `json:"compared"`
	Differ   int `json:"differ"`
	// Usage and Tokenizer are the sums of the compared counts.
	Usage     int64 `json:"usage_tokens"`
	Tokenizer int64 `json:"tokenizer_tokens"`
}

// Deviation is by what share the tokenizer counts more than the server, below
// 0 for less; absent when nothing was compared.
func (c TokenCheck) Deviation() Value { return per(Value(c.Tokenizer-c.Usage), Value(c.Usage)) }

// Tokens that an answer or a prompt may have beside its text.
const (
	endTokens  = 1 // the end token, which some servers count; the one at a prompt's begin
	markTokens = 3 // the marks around thoughts; llama-server counts three for Qwen3's
	tolerance  = 0.01
)

// tokenCounter counts with a scenario's tokenizer. It runs in the goroutine
// that writes the records, ahead of the writing.
type tokenCounter struct {
	tokenizer Tokenizer // nil when there is none, or it has panicked
	info      TokenizerInfo
	differ    int    // successes of which either count differs
	fault     string // what it panicked with
}

// count adds the tokenizer's counts to r where the server sent none, and else
// compares them.
func (c *tokenCounter) count(r *record.Record) {
	if c.tokenizer == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.tokenizer, c.fault = nil, fmt.Sprint(p)
		}
	}()
	if c.info.Type == "" {
		c.info.Type = typeName(c.tokenizer)
	}
	output, beside := c.output(r)
	input := c.input(r)
	measured := r.OK() && r.Part == record.Measured
	differs := c.info.Output.settle(&r.OutputTokens, &r.OutputSource, output, beside, measured)
	if c.info.Input.settle(&r.InputTokens, &r.InputSource, input, endTokens, measured) || differs {
		c.differ++
	}
}

// output counts an answer; beside is how many tokens it may have beside that.
func (c *tokenCounter) output(r *record.Record) (n, beside int64) {
	if !r.WholeText || r.TokenEvents == 0 {
		return record.Absent, 0
	}
	each, thoughts := int64(endTokens), false
	for i := range r.Events {
		thoughts = thoughts || r.Events[i].Kind&record.KindReasoning != 0
	}
	switch {
	case thoughts:
		each += markTokens
	case r.ReasoningTokens > 0:
		return record.Absent, 0 // thoughts that the server keeps back
	}
	for _, text := range r.Texts {
		n += int64(max(c.tokenizer.Count(string(text)), 0))
	}
	return n, each * int64(len(r.Texts))
}

// input counts a prompt that is sent as it is.
func (c *tokenCounter) input(r *record.Record) int64 {
	switch {
	case r.PromptIDs > 0:
		return int64(r.PromptIDs)
	case r.Prompt != "":
		return int64(max(c.tokenizer.Count(r.Prompt), 0))
	}
	return record.Absent
}

// settle makes n the count where there is none, and reports whether it differs
// from the one that is there.
func (c *TokenCheck) settle(count *int64, source *string, n, beside int64, measured bool) (differs bool) {
	switch {
	case n == record.Absent:
	case *count == record.Absent:
		*count, *source = n, record.SourceTokenizer
		if measured {
			c.Counted++
		}
	case measured:
		c.Compared++
		c.Usage += *count
		c.Tokenizer += n
		apart := max(n-*count, *count-n)
		if differs = apart > beside && float64(apart) > tolerance*float64(*count); differs {
			c.Differ++
		}
	}
	return differs
}

// add takes over what another run's tokenizer counted.
func (c *tokenCounter) add(i TokenizerInfo, differ int) {
	c.info.Type = cmp.Or(c.info.Type, i.Type)
	c.info.Output, c.info.Input = c.info.Output.plus(i.Output), c.info.Input.plus(i.Input)
	c.differ += differ
}

func (c TokenCheck) plus(d TokenCheck) TokenCheck {
	return TokenCheck{c.Counted + d.Counted, c.Compared + d.Compared, c.Differ + d.Differ, c.Usage + d.Usage, c.Tokenizer + d.Tokenizer}
}

// finish tells r of it.
func (c *tokenCounter) finish(r *Result) {
	r.Tokenizer, r.Counts.TokenizerDiffers = c.info, c.differ
	say := func(yes bool, format string, args ...any) {
		if yes {
			r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	say(c.fault != "", "the Tokenizer panicked, and was asked no more: %.200s", c.fault)
	o, i := c.info.Output, c.info.Input
	say(o.Counted > 0, "%d of %d answers came without a token count (usage): the Tokenizer counted their tokens", o.Counted, r.Counts.Succeeded)
	const differ = "the server's count of %s tokens (usage) and the Tokenizer's differ by more than 1 %% in %d of %d requests: %d and %d in all (%+.1f %%): is Scenario.Tokenizer the model's own?"
	say(o.Differ > 0, differ, "output", o.Differ, o.Compared, o.Usage, o.Tokenizer, 100*o.Deviation())
	say(i.Differ > 0, differ, "input", i.Differ, i.Compared, i.Usage, i.Tokenizer, 100*i.Deviation())
}

// countsTokens reports whether the scenario's tokenizer can count the tokens
// of answers.
func (r *run) countsTokens() bool {
	_, texts := wire.AsTexter(r.dialect)
	return texts && r.scenario.Tokenizer != nil
}

// plainInput is a call's input where it is sent as it is: as text, or the
// number of token ids.
func (r *run) plainInput(c *Call) (prompt string, ids int) {
	if _, other := c.Fields["prompt"]; other || r.api != Completions || len(c.Inputs) > 0 && len(c.PromptIDs) == 0 {
		return "", 0
	}
	if n := len(c.PromptIDs); n > 0 {
		return "", n
	}
	return c.Prompt, 0
}
