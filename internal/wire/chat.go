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
	list, err := messages(r, chatParts)
	if err != nil {
		return nil, err
	}
	o := newBody(dst, r)
	o.set("messages", list)
	o.stream(r)
	o.limit(r, "max_tokens")
	return o.end()
}

// Decode implements [Dialect].
func (d chat) Decode(name, data []byte, e *Event) error {
	_, err := d.decode(name, data, e)
	return err
}

func (chat) decode(name, data []byte, e *Event) (span, error) { return decodeOpenAI(name, data, e) }

// chatParts writes a content's images as OpenAI's chat takes them.
func chatParts(_ string, parts []part) (any, error) {
	for i := range parts {
		if parts[i].image != nil {
			parts[i].raw = struct {
				Type string    `json:"type"`
				URL  imagePart `json:"image_url"`
			}{"image_url", imagePart{parts[i].image.url()}}
		}
	}
	return raws(parts), nil
}

type imagePart struct {
	URL string `json:"url"`
}
