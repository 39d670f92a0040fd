package wire

// Rerank ranks documents by a query, in the form of Cohere, Jina and vLLM
// ({"results":[{"index","relevance_score"}]}) or of Hugging Face's TEI (the
// list alone). Its answer is one JSON value, and its output is the scores.
// Sources: https://docs.cohere.com/reference/rerank, https://jina.ai/reranker,
// https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html.
var Rerank Dialect = rerank{}

type rerank struct{}

func (rerank) Name() string     { return "rerank" }
func (rerank) Path() string     { return "/rerank" }
func (rerank) Framing() Framing { return JSON }

// AppendBody implements [Dialect].
func (rerank) AppendBody(dst []byte, r *Request) ([]byte, error) {
	o := newBody(dst, r)
	o.set("query", r.Query)
	documents := r.Documents
	if documents == nil {
		documents = []string{}
	}
	o.set("documents", documents)
	return o.end()
}

// Decode implements [Dialect].
func (rerank) Decode(name, data []byte, e *Event) error {
	c := cursor{b: data}
	if c.peek() == '[' && string(name) != "error" {
		c.results(e)
		return c.close(false, e)
	}
	c, more, err := open(name, data, e)
	if !more {
		return err
	}
	failed := false
	for ok := c.enter('{'); ok; ok = c.next('}') {
		switch string(c.key()) {
		case "results":
			c.results(e)
		case "usage":
			c.inputUsage(e)
		case "meta": // Cohere
			c.meta(e)
		case "error":
			failed = c.isError() || failed
		case "object":
			failed = c.is("error") || failed
		default:
			c.skip()
		}
	}
	return c.close(failed, e)
}

// meta reads Cohere's counts: {"tokens":{"input_tokens":…}}.
func (c *cursor) meta(e *Event) {
	if !c.object() {
		return
	}
	for ok := c.enter('{'); ok; ok = c.next('}') {
		if string(c.key()) == "tokens" {
			c.inputUsage(e)
		} else {
			c.skip()
		}
	}
}
