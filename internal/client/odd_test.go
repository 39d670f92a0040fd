package client

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"github.com/slogate/slogate/internal/record"
)

// seen is what a record says beside its stamps.
type seen struct {
	Class, Phase  string
	Status        int
	Finish        string
	Events        string // a letter for what each event carried, see letters
	Tokens        int    // token events
	In, Out       int64
	Cached, Think int64
}

// letters spells the kinds of events: a answer, r reasoning, c choices without
// output, f finish, u usage, e end mark, - nothing; several in brackets.
func letters(events []record.Event) string {
	var b strings.Builder
	for _, e := range events {
		var l string
		for _, k := range []struct {
			bit    record.Kind
			letter string
		}{
			{record.KindAnswer, "a"}, {record.KindReasoning, "r"}, {record.KindFinish, "f"},
			{record.KindUsage, "u"}, {record.KindEnd, "e"},
		} {
			if e.Kind&k.bit != 0 {
				l += k.letter
			}
		}
		switch {
		case l == "" && e.Kind&record.KindChoices != 0:
			l = "c"
		case l == "":
			l = "-"
		case len(l) > 1:
			l = "(" + l + ")"
		}
		b.WriteString(l)
	}
	return b.String()
}

func see(r *record.Record) seen {
	return seen{
		Class: r.Class, Phase: r.Phase, Status: r.Status, Finish: r.FinishReason,
		Events: letters(r.Events), Tokens: r.TokenEvents,
		In: r.InputTokens, Out: r.OutputTokens, Cached: r.CachedTokens, Think: r.ReasoningTokens,
	}
}

// How the connection goes on after an answer.
const (
	stays  = iota
	closes // after a proper farewell
	breaks // without one under TLS
	resets
)

// none is a count that no server told.
const none = record.Absent

type odd struct {
	name   string
	answer string
	after  int
	call   Call
	asked  int
	short  bool // ShortIsFailure
	want   seen
	says   string // part of the message
	fresh  bool   // the connection cannot carry another request
	either bool   // whether it can depends on how much was read
}

func ok(events, finish string, tokens int, in, out int64) seen {
	return seen{Status: 200, Events: events, Finish: finish, Tokens: tokens, In: in, Out: out, Cached: none, Think: none}
}

func failed(class, phase string, s seen) seen {
	s.Class, s.Phase = class, phase
	return s
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
func cr(s string) string   { return strings.ReplaceAll(s, "\n", "\r") }

func repeat(s string, n int) []string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = s
	}
	return parts
}

func joined(parts ...string) string { return strings.Join(parts, "") }

// zipped is a compressed stream, flushed after each part.
func zipped(coding string, parts ...string) string {
	var b bytes.Buffer
	var w interface {
		io.WriteCloser
		Flush() error
	}
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zlib":
		w = zlib.NewWriter(&b)
	default:
		w, _ = flate.NewWriter(&b, -1)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: " + strings.Replace(strings.Replace(coding, "zlib", "deflate", 1), "raw", "deflate", 1) + "\r\nTransfer-Encoding: chunked\r\n\r\n"
	for _, p := range parts {
		io.WriteString(w, p)
		w.Flush()
		head += chunk(b.String())
		b.Reset()
	}
	w.Close()
	return head + chunk(b.String()) + last
}

var (
	early = record.PhaseFirstToken
	later = record.PhaseBetweenTokens
	whole = ok("caafue", "stop", 2, 3, 2)
)

func oddStreams() []odd {
	errorEvent := "event: error\ndata: {\"error\":{\"message\":\"out of memory\",\"code\":500}}\n\n"
	return []odd{
		{name: "plain", answer: streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "four tokens an event", answer: streamOf(tok("a b c d"), tok("e f g h"), stop, use(3, 8), done), want: ok("aafue", "stop", 2, 3, 8)},
		{name: "reasoning first", answer: streamOf(role, think("h"), think("m"), tok("a"), stop, done), want: ok("crrafe", "stop", 3, none, none)},
		{name: "reasoning takes all tokens", answer: streamOf(think("h"), think("m"), strings.Replace(stop, "stop", "length", 1), use(3, 2), done), want: ok("rrfue", "length", 2, 3, 2)},
		{name: "usage in the last choices event", answer: streamOf(tok("a"), `data: {"choices":[{"delta":{"content":"b"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}`+"\n\n", done), want: ok("a(afu)e", "stop", 2, 3, 2)},
		{name: "usage in every event", answer: streamOf(
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`+"\n\n",
			`data: {"choices":[{"delta":{"content":"b c"}}],"usage":{"prompt_tokens":3,"completion_tokens":3}}`+"\n\n", stop, done), want: ok("(au)(au)fe", "stop", 2, 3, 3)},
		{name: "zero usage but in the last", answer: streamOf(
			`data: {"choices":[{"delta":{"content":"a"}}],"usage":{"prompt_tokens":0,"completion_tokens":0}}`+"\n\n", stop, use(3, 1), done), want: ok("(au)fue", "stop", 1, 3, 1)},
		{name: "zero usage in the last", answer: streamOf(tok("a"), stop, use(3, 1), use(0, 0), done), want: ok("afuue", "stop", 1, 3, 1)},
		{name: "cached and reasoning tokens", answer: streamOf(think("h"), tok("a"), stop,
			`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":1}}}`+"\n\n", done),
			want: seen{Status: 200, Events: "rafue", Finish: "stop", Tokens: 2, In: 9, Out: 2, Cached: 8, Think: 1}},
		{name: "completion tokens over events", answer: streamOf(tok("a"), stop, use(3, 4), done), want: ok("afue", "stop", 1, 3, 4)},
		{name: "no usage", answer: streamOf(tok("a"), stop, done), want: ok("afe", "stop", 1, none, none)},
		{name: "finish, usage and end mark in one chunk", answer: streamOf(role+tok("a"), tok("b"), stop+use(3, 2)+done), want: whole},
		{name: "64 tokens", answer: streamOf(append(repeat(tok("a"), 64), stop, use(3, 64), done)...), want: ok(strings.Repeat("a", 64)+"fue", "stop", 64, 3, 64)},
		{name: "one token", answer: streamOf(tok("a"), stop, use(3, 1), done), want: ok("afue", "stop", 1, 3, 1)},
		{name: "no token", answer: streamOf(role, stop, use(3, 0), done), want: failed("empty", early, ok("cfue", "stop", 0, 3, 0)), says: "without any output, finish reason stop"},
		{name: "short, allowed", answer: streamOf(tok("a"), stop, use(3, 1), done), call: Call{IgnoreEOS: true}, asked: 128, want: ok("afue", "stop", 1, 3, 1)},
		{name: "short, not allowed", answer: streamOf(tok("a"), stop, use(3, 1), done), call: Call{IgnoreEOS: true}, asked: 128, short: true, want: failed("short", later, ok("afue", "stop", 1, 3, 1)), says: "1 of 128 tokens"},
		{name: "short by EOS", answer: streamOf(tok("a"), stop, use(3, 1), done), asked: 128, short: true, want: ok("afue", "stop", 1, 3, 1)},
		{name: "short, not known", answer: streamOf(tok("a"), stop, done), call: Call{IgnoreEOS: true}, asked: 128, short: true, want: ok("afe", "stop", 1, none, none)},
		{name: "two choices, short", answer: streamOf(tok("a"), tok("b"), stop, use(3, 9), done), call: Call{IgnoreEOS: true, N: 2}, asked: 5, short: true, want: failed("short", later, ok("aafue", "stop", 2, 3, 9)), says: "9 of 10 tokens"},

		{name: "CRLF", answer: streamOf(crlf(role), crlf(tok("a")), crlf(tok("b")), crlf(stop), crlf(use(3, 2)), crlf(done)), want: whole},
		{name: "CRLF in one burst", answer: streamOf(crlf(joined(role, tok("a"), tok("b"), stop, use(3, 2), done))), want: whole},
		{name: "CR", answer: streamOf(cr(joined(role, tok("a"), tok("b"), stop, use(3, 2), done))), want: whole},
		{name: "mixed line ends", answer: streamOf(crlf(role), tok("a"), cr(tok("b")), crlf(stop), use(3, 2), cr(done)), want: whole},
		{name: "no space after data:", answer: streamOf(strings.ReplaceAll(joined(role, tok("a"), tok("b"), stop, use(3, 2), done), "data: ", "data:")), want: whole},
		{name: "comments", answer: streamOf(":\n\n", role, ": ping\n\n", tok("a"), ":\n\n:\n\n", tok("b"), stop, use(3, 2), ": ping\n\n", done), want: whole},
		{name: "event, id and retry lines", answer: streamOf("retry: 100\n\n", "event: message\nid: 1\n"+role, "id: 2\n"+tok("a"), "event: message\n"+tok("b"), stop, use(3, 2), done), want: whole},
		{name: "an event over three data lines", answer: streamOf(role, "data: {\"choices\":[{\"index\":0,\ndata: \"delta\":\ndata: {\"content\":\"a\"}}]}\n\n", tok("b"), stop, use(3, 2), done), want: whole},
		{name: "byte-order mark", answer: streamOf("\ufeff"+role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "U+2028 in a string", answer: streamOf(role, tok("a\u2028\u0085b"), "data: {\"choices\":[{\"delta\":{\"content\":\"\u2028\u0085\"}}]}\n\n", stop, use(3, 2), done), want: whole},
		{name: "blank lines first", answer: streamOf("\n", "\r\n\n", role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "no final blank line", answer: streamOf(role, tok("a"), tok("b"), stop, use(3, 2), "data: [DONE]"), want: whole},
		{name: "no Content-Type", answer: strings.Replace(streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), "Content-Type: text/event-stream\r\n", "", 1), want: whole},
		{name: "wrong Content-Type", answer: strings.Replace(streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), "text/event-stream", "application/json", 1), want: whole},
		{name: "status 201", answer: strings.Replace(streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), "200 OK", "201 Created", 1), want: func() seen { s := whole; s.Status = 201; return s }()},
		{name: "interim answers", answer: "HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n" + streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "trailers", answer: strings.TrimSuffix(streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done), "\r\n") + "X-Time: 1\r\n\r\n", want: whole},
		{name: "Content-Length", answer: plainAnswer("200 OK", "Content-Type: text/event-stream\r\n", joined(role, tok("a"), tok("b"), stop, use(3, 2), done)), want: whole},
		{name: "HTTP/1.0, ended by closing", answer: "HTTP/1.0 200 OK\r\n\r\n" + joined(role, tok("a"), tok("b"), stop, use(3, 2), done), after: closes, want: whole, fresh: true},
		{name: "HTTP/1.0, no end mark", answer: "HTTP/1.0 200 OK\r\n\r\n" + joined(role, tok("a"), tok("b"), stop, use(3, 2)), after: closes, want: ok("caafu", "stop", 2, 3, 2), fresh: true},
		{name: "HTTP/1.0, cut in an event", answer: "HTTP/1.0 200 OK\r\n\r\n" + joined(role, tok("a"), tok("b")[:30]), after: closes, want: failed("truncated", later, ok("ca-", "", 1, none, none)), says: "ended inside an event", fresh: true},
		{name: "closed after the end mark", answer: head + chunk(joined(role, tok("a"), tok("b"), stop, use(3, 2), done)), after: breaks, want: whole, fresh: true},
		{name: "clean end with finish reason, no end mark", answer: streamOf(role, tok("a"), tok("b"), stop, use(3, 2)), want: ok("caafu", "stop", 2, 3, 2)},
		{name: "data after the end mark", answer: streamOf(role, tok("a"), tok("b"), stop, use(3, 2), done, tok("c"), "garbage\n\n", done), want: whole},
		{name: "data null first", answer: streamOf("data: null\n\n", tok("a"), stop, done), want: ok("-afe", "stop", 1, none, none)},
		{name: "delta null", answer: streamOf(`data: {"choices":[{"index":0,"delta":null}]}`+"\n\n", tok("a"), stop, done), want: ok("cafe", "stop", 1, none, none)},
		{name: "choices null", answer: streamOf(`data: {"choices":null}`+"\n\n", tok("a"), stop, done), want: ok("-afe", "stop", 1, none, none)},
		{name: "content null", answer: streamOf(`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":null}}]}`+"\n\n", tok("a"), stop, done), want: ok("cafe", "stop", 1, none, none)},
		{name: "tool calls only", answer: streamOf(role,
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"x","type":"function","function":{"name":"f","arguments":""}}]}}]}`+"\n\n",
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}`+"\n\n",
			strings.Replace(stop, "stop", "tool_calls", 1), use(3, 2), done), want: ok("ccafue", "tool_calls", 1, 3, 2)},
		{name: "a tool's name only", answer: streamOf(role,
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"now","arguments":""}}]}}]}`+"\n\n",
			strings.Replace(stop, "stop", "tool_calls", 1), use(3, 2), done), want: ok("ccfue", "tool_calls", 0, 3, 2)},
		{name: "zero usage beside output", answer: streamOf(tok("a"), stop, use(0, 0), done), want: ok("afue", "stop", 1, none, none)},
		{name: "zero output beside output", answer: streamOf(tok("a"), stop, use(3, 0), done), want: ok("afue", "stop", 1, 3, none)},
		{name: "the engine gives up", answer: streamOf(tok("a"), strings.Replace(stop, "stop", "abort", 1), use(3, 1), done), want: failed("stream-error", later, ok("af", "abort", 1, none, none)), says: "finish reason abort"},
		{name: "the engine gives up with an error", answer: streamOf(tok("a"), strings.Replace(stop, "stop", "error", 1), done), want: failed("stream-error", later, ok("af", "error", 1, none, none)), says: "finish reason error"},
		{name: "the engine gives up at once", answer: streamOf(strings.Replace(stop, "stop", "aborted", 1), done), want: failed("stream-error", early, ok("f", "aborted", 0, none, none)), says: "finish reason aborted"},
		{name: "two choices, one unfinished", answer: streamOf(tok("a"), second(tok("b")), stop, use(3, 2)), call: Call{N: 2}, want: failed("truncated", later, ok("aafu", "stop", 2, 3, 2)), says: "after 4 events, without finish reason of each choice and end mark"},
		{name: "two choices, both finished", answer: streamOf(tok("a"), second(tok("b")), stop, second(stop), use(3, 2)), call: Call{N: 2}, want: ok("aaffu", "stop", 2, 3, 2)},
		{name: "two choices, one unfinished, end mark", answer: streamOf(tok("a"), second(tok("b")), stop, use(3, 2), done), call: Call{N: 2}, want: ok("aafue", "stop", 2, 3, 2)},
		{name: "two choices, one without output", answer: streamOf(tok("a"), stop, use(3, 2)), call: Call{N: 2}, want: ok("afu", "stop", 1, 3, 2)},
		{name: "two choices, one sum", answer: streamOf(tok("a"), strings.Replace(tok("b"), `"index":0`, `"index":1`, 1), stop, stop, use(3, 2), done), call: Call{N: 2}, want: ok("aaffue", "stop", 2, 3, 2)},
		{name: "two choices, usage of each", answer: streamOf(tok("a"), strings.Replace(tok("b c"), `"index":0`, `"index":1`, 1), stop, stop, use(3, 1), use(3, 2), done), call: Call{N: 2}, want: ok("aaffuue", "stop", 2, 3, 3)},
		{name: "event of 1 MiB", answer: streamOf(role, tok(strings.Repeat("a", 1<<20)), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "gzip", answer: zipped("gzip", role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "deflate", answer: zipped("zlib", role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},
		{name: "deflate without zlib", answer: zipped("raw", role, tok("a"), tok("b"), stop, use(3, 2), done), want: whole},

		{name: "error event at half", answer: streamOf(role, tok("a"), errorEvent), want: failed("stream-error", later, ok("ca-", "", 1, none, none)), says: "out of memory"},
		{name: "error object in an event", answer: streamOf(role, tok("a"), `data: {"error":{"message":"slow down"}}`+"\n\n", done), want: failed("stream-error", later, ok("ca-", "", 1, none, none)), says: "slow down"},
		{name: "error object as the body", answer: plainAnswer("200 OK", "Content-Type: application/json\r\n", "\n {\n\"error\": {\"message\": \"no such model\"}}"), want: failed("stream-error", early, ok("", "", 0, none, none)), says: "no such model"},
		{name: "error object in a chunked event stream", answer: streamOf(`{"error":{"message":"Sending stream chunk failed"}}`), want: failed("stream-error", early, ok("", "", 0, none, none)), says: "Sending stream chunk failed"},
		{name: "error beside the events", answer: streamOf(tok("a"), `error: {"error":{"message":"slot is gone"}}`+"\n\n"), want: failed("stream-error", later, ok("a", "", 1, none, none)), says: "slot is gone"},
		{name: "error line of llama-server", answer: streamOf(tok("a"), `error: {"code":500,"message":"slot is gone","type":"server_error"}`+"\n\n"), want: failed("stream-error", later, ok("a", "", 1, none, none)), says: "slot is gone"},
		{name: "error line before the end mark", answer: streamOf(tok("a"), `error: {"code":500,"message":"slot is gone","type":"server_error"}`+"\n\n", done), want: failed("stream-error", later, ok("ae", "", 1, none, none)), says: "slot is gone"},
		{name: "nothing but an error line", answer: streamOf(`error: {"code":500,"message":"slot is gone"}`+"\n\n", done), want: failed("stream-error", early, ok("e", "", 0, none, none)), says: "slot is gone"},
		{name: "lines beside the events", answer: streamOf(tok("a"), "warning: hot\n\nerror: cold\n"), want: failed("truncated", later, ok("a", "", 1, none, none)), says: "after 1 events, without finish reason and end mark, with 2 lines that are no event: warning: hot\\nerror: cold"},
		{name: "lines beside an empty answer", answer: streamOf(role, "warning: hot\n\n", stop, done), want: failed("empty", early, ok("cfe", "stop", 0, none, none)), says: "without any output, finish reason stop, with 1 lines that are no event: warning: hot"},
		{name: "lines beside a whole answer", answer: streamOf(role, tok("a"), "error: cold\n\n", tok("b"), stop, use(3, 2), done), want: whole},
		{name: "whole answer", answer: plainAnswer("200 OK", "Content-Type: application/json\r\n", `{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}`), want: failed("malformed", early, ok("", "", 0, none, none)), says: `the server did not stream (Content-Type "application/json"): {"choices"`},
		{name: "200 with HTML", answer: plainAnswer("200 OK", "Content-Type: text/html\r\n", "<html><body><h1>It works!</h1></body></html>"), want: failed("malformed", early, ok("", "", 0, none, none)), says: `no event stream (Content-Type "text/html"): It works!`},
		{name: "200 with text", answer: plainAnswer("200 OK", "Content-Type: text/plain\r\n", "come back later\n"), want: failed("malformed", early, ok("", "", 0, none, none)), says: "come back later"},
		{name: "event that is no JSON", answer: streamOf(role, tok("a"), "data: oops\n\n", tok("b"), done), want: failed("malformed", later, ok("ca-", "", 1, none, none)), says: "oops"},
		{name: "event over the bound", answer: streamOf(role, "data: "+strings.Repeat("a", 9<<20)), want: failed("malformed", early, ok("c", "", 0, none, none)), says: "event too large", either: true},
		{name: "bad chunk length", answer: head + chunk(tok("a")) + "zz\r\n", want: failed("malformed", later, ok("a", "", 1, none, none)), says: "invalid byte in chunk length", fresh: true},
		{name: "bad gzip", answer: strings.Replace(streamOf("this is no gzip, is it"), "\r\n", "\r\nContent-Encoding: gzip\r\n", 1), want: failed("malformed", early, ok("", "", 0, none, none)), says: "gzip: invalid header"},
		{name: "unknown coding", answer: strings.Replace(streamOf(tok("a")), "\r\n", "\r\nContent-Encoding: br\r\n", 1), want: failed("malformed", early, ok("", "", 0, none, none)), says: `Content-Encoding "br"`},
		{name: "no HTTP", answer: "SSH-2.0-OpenSSH_9.6\r\n", want: failed("malformed", "headers", seen{In: none, Out: none, Cached: none, Think: none}), says: "the answer is no HTTP", fresh: true},

		{name: "clean end at half", answer: streamOf(role, tok("a")), want: failed("truncated", later, ok("ca", "", 1, none, none)), says: "ended after 2 events, without finish reason"},
		{name: "nothing at all", answer: streamOf(), want: failed("truncated", early, ok("", "", 0, none, none)), says: "ended after 0 events"},
		{name: "no content", answer: "HTTP/1.1 204 No Content\r\n\r\n", want: failed("truncated", early, func() seen { s := ok("", "", 0, none, none); s.Status = 204; return s }()), says: "ended after 0 events"},
		{name: "connection cut at half", answer: head + chunk(role) + chunk(tok("a")), after: breaks, want: failed("truncated", later, ok("ca", "", 1, none, none)), says: "broke after 2 events", fresh: true},
		{name: "reset at half", answer: head + chunk(role) + chunk(tok("a")), after: resets, want: failed("truncated", later, ok("ca", "", 1, none, none)), says: "broke after 2 events", fresh: true},
		{name: "cut after the finish reason", answer: head + chunk(tok("a")) + chunk(stop), after: breaks, want: failed("truncated", later, ok("af", "stop", 1, none, none)), says: "broke after 2 events", fresh: true},
		{name: "cut below the length", answer: strings.TrimSuffix(plainAnswer("200 OK", "", tok("a")+done), done), after: breaks, want: failed("truncated", later, ok("a", "", 1, none, none)), fresh: true},
		{name: "gzip cut", answer: shorter(zipped("gzip", tok("a"), tok("b")), len(last)+10), after: breaks, want: failed("truncated", later, ok("aa", "", 2, none, none)), says: "broke after 2 events", fresh: true},
		{name: "gzip ends early", answer: shorter(zipped("gzip", tok("a"), tok("b")), len(last)+len(chunk("0123456789abc"))) + last, want: failed("truncated", later, ok("aa", "", 2, none, none)), says: "broke after 2 events"},

		{name: "429", answer: plainAnswer("429 Too Many Requests", "Retry-After: 7\r\n", `{"error":{"message":"queue is full"}}`), want: refusal(429), says: "HTTP 429 Too Many Requests, Retry-After: 7: queue is full"},
		{name: "503 with HTML", answer: plainAnswer("503 Service Unavailable", "Content-Type: text/html\r\n", "<html><title>503</title><p>nginx</p></html>"), want: refusal(503), says: "HTTP 503 Service Unavailable: 503 nginx"},
		{name: "404 without body", answer: plainAnswer("404 Not Found", "", ""), want: refusal(404), says: "HTTP 404 Not Found"},
		{name: "unknown status", answer: plainAnswer("529 Whatever", "", "overloaded"), want: refusal(529), says: "HTTP 529: overloaded"},
		{name: "redirect", answer: plainAnswer("307 Temporary Redirect", "Location: https://other.example/v1\r\n", ""), want: refusal(307), says: "HTTP 307 Temporary Redirect to https://other.example/v1, not followed"},
		{name: "status and cut", answer: "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 99\r\n\r\nboom", after: breaks, want: refusal(500), says: "HTTP 500 Internal Server Error: boom", fresh: true},
		{name: "switching protocols", answer: "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nwhatever", want: refusal(101), says: "HTTP 101", fresh: true},
		{name: "closed before an answer", after: breaks, want: failed("reset", "headers", seen{In: none, Out: none, Cached: none, Think: none}), says: "closed before an answer", fresh: true},
		{name: "reset before an answer", after: resets, want: failed("reset", "headers", seen{In: none, Out: none, Cached: none, Think: none}), says: "closed before an answer", fresh: true},
		{name: "cut in the headers", answer: "HTTP/1.1 200 OK\r\nContent-Ty", after: breaks, want: failed("reset", "headers", seen{In: none, Out: none, Cached: none, Think: none}), says: "closed before an answer", fresh: true},
	}
}

// second is an event of choice 0 as one of choice 1.
func second(event string) string { return strings.Replace(event, `"index":0`, `"index":1`, 1) }

func shorter(s string, by int) string { return s[:len(s)-by] }

func refusal(status int) seen {
	return seen{Class: "status", Phase: "headers", Status: status, In: none, Out: none, Cached: none, Think: none}
}

// TestOddStreams sends each answer in one block and cut into small pieces,
// with and without TLS, and then asks once more on the same slot.
func TestOddStreams(t *testing.T) {
	for _, c := range oddStreams() {
		for _, secure := range []bool{false, true} {
			for _, pieces := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/tls=%v,cut=%v", c.name, secure, pieces), func(t *testing.T) {
					t.Parallel()
					reused, took := c.run(t, secure, pieces)
					// See idleTries; not in less than those 50 ms.
					for again := 1; again < idleTries && !reused && !c.fresh && !c.either && took >= 50*time.Millisecond; again++ {
						reused, took = c.run(t, secure, pieces)
					}
					if !c.either {
						require.Equal(t, !c.fresh, reused)
					}
				})
			}
		}
	}
}

// run reports whether the second request went over the connection of the first,
// and how long that one took with its end.
func (c odd) run(t *testing.T, secure, pieces bool) (reused bool, took time.Duration) {
	parts := []string{c.answer}
	if pieces && c.after != resets { // a reset drops what is still to be sent
		parts = cutAll(c.answer, 1+len(c.answer)/10_000)
	}
	second := streamOf(tok("a"), stop, done)
	srv := serve(t, secure, func(p *peer) {
		if p.n == 1 {
			if _, ok := p.request(); !ok {
				return
			}
			p.send(parts...)
			switch c.after {
			case closes:
				return
			case breaks:
				p.cut()
				return
			case resets:
				p.reset()
				return
			}
		}
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.send(second)
		}
	})
	client := start(t, Config{URL: srv.url, TLS: srv.tls, ShortIsFailure: c.short})
	s := client.NewSlot()
	began := time.Now()
	rec := do(t.Context(), s, c.call, c.asked)
	if diff := cmp.Diff(c.want, see(rec)); diff != "" {
		t.Errorf("(-want +got)\n%s%s", diff, rec.Message)
	}
	require.Contains(t, rec.Message, c.says)
	require.Equal(t, rec.Class == "", rec.Message == "")
	checkStamps(t, rec)

	s.c.Settle()
	took = time.Since(began)
	next := do(t.Context(), s, Call{}, 0)
	require.Empty(t, next.Message)
	require.Zero(t, next.Resent)
	return next.Reused, took
}

// cutAll cuts s into pieces of a size.
func cutAll(s string, size int) []string {
	var parts []string
	for ; len(s) > size; s = s[size:] {
		parts = append(parts, s[:size])
	}
	return append(parts, s)
}

// checkStamps checks the order that any record's stamps have.
func checkStamps(t *testing.T, r *record.Record) {
	t.Helper()
	prev, name := int64(0), "epoch"
	for _, x := range []struct {
		name string
		at   int64
	}{
		{"Sent", r.Sent}, {"Connected", r.Connected}, {"Wrote", r.Wrote}, {"Headers", r.Headers}, {"FirstEvent", r.FirstEvent},
		{"FirstToken", r.FirstToken}, {"SecondToken", r.SecondToken}, {"LastToken", r.LastToken}, {"Done", r.Done},
	} {
		if x.at == record.Absent || x.name == "LastToken" && r.TokenEvents == 1 {
			continue
		}
		require.GreaterOrEqual(t, x.at, prev, "%s before %s", x.name, name)
		prev, name = x.at, x.name
	}
	require.NotEqual(t, record.Absent, r.Sent)
	require.NotEqual(t, record.Absent, r.Done)
	require.Equal(t, r.TokenEvents > 0, r.FirstToken != record.Absent)
	require.Equal(t, r.TokenEvents > 1, r.SecondToken != record.Absent)
	require.Equal(t, r.DataEvents > 0, r.FirstEvent != record.Absent)
	require.Equal(t, r.DataEvents, len(r.Events))
}
