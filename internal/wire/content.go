package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Image is a picture in a message: its bytes, sent as a data URL or whatever
// the dialect has for it, or the address of it.
type Image struct {
	Type string // media type of Data; empty means "image/png"
	Data []byte
	URL  string // used when there is no Data; a data URL is as good as Data
}

func (i Image) mime() string {
	if i.Type == "" {
		return "image/png"
	}
	return i.Type
}

// url gives the image as a URL (RFC 2397 for its bytes).
func (i Image) url() string {
	if len(i.Data) == 0 {
		return i.URL
	}
	return "data:" + i.mime() + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// base64 gives the image's type and its bytes in base64.
func (i Image) base64() (mime, data string, ok bool) {
	if len(i.Data) > 0 {
		return i.mime(), base64.StdEncoding.EncodeToString(i.Data), true
	}
	rest, isData := strings.CutPrefix(i.URL, "data:")
	mime, data, cut := strings.Cut(rest, ";base64,")
	return mime, data, isData && cut
}

// part is one part of a message's content: a text, an image, or something that
// is passed on as it is.
type part struct {
	text  string
	image *Image
	raw   any // what is sent
}

// parts takes a message's content apart.
func (m Message) parts() ([]part, error) {
	var out []part
	switch raw := bytes.TrimSpace(m.Content); {
	case len(raw) == 0 || string(raw) == "null":
	case raw[0] == '[':
		var list []json.RawMessage
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("message content: %w", err)
		}
		for _, item := range list {
			var p struct {
				Text  string
				Image imagePart `json:"image_url"`
			}
			if err := json.Unmarshal(item, &p); err != nil {
				return nil, fmt.Errorf("message content part: %w", err)
			}
			one := part{text: p.Text, raw: item}
			if p.Image.URL != "" {
				one.image = &Image{URL: p.Image.URL}
			}
			out = append(out, one)
		}
	default:
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, fmt.Errorf("message content: %w", err)
		}
		out = append(out, part{text: text, raw: textPart{"text", text}})
	}
	for i, image := range m.Images {
		if image.url() == "" {
			return nil, errors.New("image has neither Data nor URL")
		}
		out = append(out, part{image: &m.Images[i]})
	}
	return out, nil
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func raws(parts []part) []any {
	out := make([]any, len(parts))
	for i, p := range parts {
		out[i] = p.raw
	}
	return out
}

// sent is a message as it is sent.
type sent struct {
	Role    string   `json:"role"`
	Content any      `json:"content"`
	Images  []string `json:"images,omitempty"` // Ollama
}

// messages gives the request's messages, or its prompt as one, as they are
// sent: a list that is never null, with roles that are never empty. Content of
// several parts is written by form; a text or null stays as it is.
func messages(r *Request, form func(role string, parts []part) (any, error)) ([]sent, error) {
	list := r.Messages
	if len(list) == 0 && r.Prompt != "" {
		content, err := json.Marshal(r.Prompt)
		if err != nil {
			return nil, err
		}
		list = []Message{{Content: content}}
	}
	if len(list) == 0 && (len(r.PromptIDs) > 0 || len(r.Inputs) > 0) {
		return nil, errors.New("a chat takes Messages or a Prompt, no PromptIDs or Inputs")
	}
	out := make([]sent, len(list))
	for i, m := range list {
		out[i] = sent{Role: m.Role, Content: m.Content}
		if m.Role == "" {
			out[i].Role = "user"
		}
		if raw := bytes.TrimSpace(m.Content); len(m.Images) == 0 && (len(raw) == 0 || raw[0] != '[') {
			continue
		}
		parts, err := m.parts()
		if err != nil {
			return nil, err
		}
		if out[i].Content, err = form(out[i].Role, parts); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// text gives the texts of a content, joined.
func (m Message) text() (string, error) {
	parts, err := m.parts()
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.text)
	}
	return b.String(), err
}
