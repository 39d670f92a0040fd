package wire

// Chat is OpenAI's chat completions API, as vLLM, SGLang, llama.cpp, Ollama,
// TGI and others serve it. Source: https://platform.openai.com/docs/api-reference/chat.
//
// A server may send usage more than once, also with zeros: the largest counts
// are the true ones.
var Chat Dialect = chat{}

type chat struct{}

func (chat) Name() string     { return "chat" }
func (chat) Path() string     { return "/chat/completions" }
func (chat) Framing() Framing { return SSE }

// AppendBody implements [Dialect].
func (chat) AppendBody(dst []byte, r *Request) ([]byte, error) {
	o := newBody(dst, r.Fields)
	if r.Model != "" {
		o.set("model", r.Model)
	}
	o.set("messages", messages(r.Messages))
	o.base(r, "max_tokens")
	return o.end()
}

// Decode implements [Dialect].
func (chat) Decode(name, data []byte, e *Event) error { return decodeOpenAI(name, data, e) }

// messages gives a list that is never null, and roles that are never empty.
func messages(in []Message) []Message {
	out := make([]Message, len(in))
	for i, m := range in {
		if m.Role == "" {
			m.Role = "user"
		}
		out[i] = m
	}
	return out
}
