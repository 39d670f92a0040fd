package perftest_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/assert"
	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// Every API runs end to end against the simulated server, whose model is 100
// ms to the first token and 10 ms for each further one, and holds its SLOs.
func TestRunSpeaksEveryAPI(t *testing.T) {
	for _, c := range []struct {
		api     perftest.StandardAPI
		request perftest.Request
	}{
		{perftest.Chat, perftest.Request{Messages: []perftest.Message{{Content: "Hello"}}, MaxTokens: 8}},
		{perftest.Completions, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
		{perftest.Completions, perftest.Request{PromptIDs: []int{1, 2, 3}, MaxTokens: 8}},
		{perftest.Responses, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
		{perftest.AnthropicMessages, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
		{perftest.OllamaChat, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
		{perftest.OllamaGenerate, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
		{perftest.TGIGenerate, perftest.Request{Prompt: "Hello", MaxTokens: 8}},
	} {
		for _, whole := range []bool{false, true} {
			if whole && c.api == perftest.TGIGenerate {
				continue // its endpoint always streams
			}
			t.Run(fmt.Sprintf("%s/whole=%t", c.api, whole), func(t *testing.T) {
				inResults(t)
				synctest.Test(t, func(t *testing.T) {
					s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond, TPOT: 10 * time.Millisecond})
					target := s.Target()
					target.API, target.NoStream = c.api, whole
					res := perftest.Run(t, perftest.Scenario{
						Target:   target,
						Workload: same{c.request},
						Load:     perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 20},
					})
					require.Equal(t, 20, res.Counts.Succeeded)
					require.Equal(t, string(c.api), res.Target.API)
					slos := []perftest.SLO{
						assert.Latency(assert.Max).AtMost(170 * time.Millisecond),
						assert.ErrorRate().AtMost(0),
						assert.OutputTokens(assert.Mean).AtLeast(8),
						assert.InputTokens(assert.Mean).AtLeast(1),
					}
					if !whole {
						slos = append(slos,
							assert.TTFT(assert.Max).AtMost(100*time.Millisecond),
							assert.TPOT(assert.Max).AtMost(10*time.Millisecond),
							assert.ITL(assert.Max).AtMost(10*time.Millisecond))
					}
					assert.SLOs(t, res, slos...)
					require.Empty(t, res.Warnings)
					if whole {
						require.Zero(t, res.Metrics.TTFT.Count, "an answer in one piece has no time to first token")
						require.Zero(t, res.Metrics.ITL.Count)
					}
				})
			})
		}
	}
}

// Embeddings and rerank have a latency and input tokens, and no others.
func TestRunWithoutOutput(t *testing.T) {
	for api, request := range map[perftest.StandardAPI]perftest.Request{
		perftest.Embeddings: {Inputs: []string{"one", "two"}},
		perftest.Rerank:     {Query: "one", Documents: []string{"two", "three"}},
	} {
		t.Run(string(api), func(t *testing.T) {
			inResults(t)
			synctest.Test(t, func(t *testing.T) {
				s := simserver.StartPipe(t, simserver.Profile{TTFT: 100 * time.Millisecond})
				target := s.Target()
				target.API = api
				res := perftest.Run(t, perftest.Scenario{Target: target, Workload: same{request}, Load: perftest.Closed{KeepEnds: true, Concurrency: 2, Requests: 10}})
				require.Equal(t, 10, res.Counts.Succeeded, res.Failures)
				assert.SLOs(t, res, assert.Latency(assert.Max).AtMost(100*time.Millisecond), assert.ErrorRate().AtMost(0), assert.InputTokens(assert.Mean).AtLeast(1))
				require.Zero(t, res.Metrics.TTFT.Count)
				require.Zero(t, res.Metrics.OutputTokens.Count)
				// Two items a request, two requests each 100 ms.
				require.InDelta(t, 40, float64(res.Rates.Items), 1e-9)
				require.Contains(t, res.Summary(), "40 items/s")
				require.Zero(t, res.Counts.NoUsage)
				require.Empty(t, res.Warnings)
				require.True(t, res.Rates.Input.Known())
			})
		})
	}
}

// A URL that names an endpoint chooses its API.
func TestURLChoosesTheAPI(t *testing.T) {
	for path, want := range map[string]string{
		"/v1/completions": "completions", "/v1/messages": "anthropic", "/api/chat": "ollama-chat", "/v1": "chat", "": "chat",
	} {
		inResults(t)
		s := simserver.Start(t, simserver.Profile{})
		target := s.Target()
		target.URL = s.URL() + path
		res := perftest.Run(t, perftest.Scenario{Target: target, Workload: same{perftest.Request{Prompt: "Hello", MaxTokens: 2}}, Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 2}})
		require.Equal(t, want, res.Target.API, path)
		require.Equal(t, 2, res.Counts.Succeeded, path)
	}
}

// shouting is an API of a test's own: a chat whose prompts are upper case.
type shouting struct{ perftest.StandardAPI }

func (shouting) Name() string { return "shouting" }

func (s shouting) AppendBody(dst []byte, c *perftest.Call) ([]byte, error) {
	loud := *c
	loud.Prompt = strings.ToUpper(c.Prompt)
	return s.StandardAPI.AppendBody(dst, &loud)
}

func TestOwnAPI(t *testing.T) {
	inResults(t)
	var bodies bytes.Buffer
	s := simserver.Start(t, simserver.Profile{TPOT: time.Millisecond, Observe: observeInto(&bodies)})
	target := s.Target()
	target.API = shouting{perftest.Chat}
	res := perftest.Run(t, perftest.Scenario{Target: target, Workload: same{perftest.Request{Prompt: "hello", MaxTokens: 2}}, Load: perftest.Closed{KeepEnds: true, Concurrency: 1, Requests: 2}})
	require.Equal(t, "shouting", res.Target.API)
	require.Equal(t, 2, res.Counts.Succeeded)
	require.Equal(t, 2, res.Metrics.TPOT.Count)
	require.Equal(t, 3, strings.Count(bodies.String(), `"HELLO"`), bodies.String()) // and the preflight
}
