// Package ownworkload sends what a test itself makes up: here, questions about
// the lines of a text, each with the whole text before it, as retrieval does.
//
//	go test -v ./examples/ownworkload
package ownworkload

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
)

func TestMain(m *testing.M) { os.Exit(perftest.Main(m)) }

// questions asks about each line of a text. It implements perftest.Workload:
// a plain struct that says what to send.
type questions struct {
	Text  string
	Lines int
}

// Open checks the workload before anything is sent, and starts it for one run.
func (q questions) Open(_ context.Context, _ perftest.RunInfo) (perftest.Source, error) {
	if q.Lines < 1 {
		return nil, fmt.Errorf("Lines is %d: set it to 1 or more", q.Lines)
	}
	return &asking{questions: q}, nil
}

// asking is one run's way through the lines. It implements perftest.Source,
// and is called from one goroutine, ahead of the sending.
type asking struct {
	questions
	line int
}

// Next gives the next request, or io.EOF, which ends the run.
func (a *asking) Next() (perftest.Request, error) {
	if a.line == a.Lines {
		return perftest.Request{}, io.EOF
	}
	a.line++
	return perftest.Request{
		Messages: []perftest.Message{
			{Role: "system", Content: a.Text},
			{Role: "user", Content: fmt.Sprintf("What does line %d say?", a.line)},
		},
		MaxTokens: 16,
		Row:       a.line, // it is written with the request's figures
	}, nil
}

func (*asking) Close() error { return nil }

func TestQuestions(t *testing.T) {
	res := perftest.Run(t, perftest.Scenario{
		Target:   fixtures.Server(t, simserver.Qwen3_32B),
		Workload: questions{Text: "All is well.\nNothing is lost.\n", Lines: 20},
		// As users come: independent of each other, four a second on average.
		Load: perftest.Open{Rate: 4, Requests: 20},
	})
	assert.SLOs(t, res,
		assert.TTFT(assert.P90).Below(2*time.Second),
		assert.ErrorRate().AtMost(0),
	)
}
