package wire

import "strings"

// all are the dialects of this package. Where one path ends like another, the
// longer one comes first.
func all() []Dialect {
	return []Dialect{Chat, Completions, Responses, Anthropic, OllamaChat, OllamaGenerate, TGI, Embeddings, Rerank}
}

// Names are the names of this package's dialects.
func Names() (names []string) {
	for _, d := range all() {
		names = append(names, d.Name())
	}
	return names
}

// ByName gives the dialect of that name.
func ByName(name string) (Dialect, bool) {
	for _, d := range all() {
		if d.Name() == name {
			return d, true
		}
	}
	return nil, false
}

// ForPath gives the dialect of an endpoint by its path, such as
// "/v1/chat/completions", whatever is before it; ok is false for a path that
// is no endpoint, such as "/v1".
func ForPath(path string) (d Dialect, ok bool) {
	path = strings.TrimRight(path, "/")
	for _, d := range all() {
		if strings.HasSuffix(path, d.Path()) {
			return d, true
		}
	}
	return nil, false
}

// Base gives the path under which d's endpoint is on most servers: "/v1", or
// what a method Base() string of d says.
func Base(d Dialect) string {
	if own, ok := d.(interface{ Base() string }); ok {
		return own.Base()
	}
	return "/v1"
}

// Whole gives d for requests that are answered in one piece: their bodies do
// not ask for a stream, and the whole answer, which d reads as well, is one
// event. An answer in one piece has a latency and no time to first token.
func Whole(d Dialect) Dialect { return whole{d} }

type whole struct{ Dialect }

// IsWhole reports whether d is made by [Whole]: its answer then says that it is
// at its end, as a stream would.
func IsWhole(d Dialect) bool {
	_, is := d.(whole)
	return is
}

func (whole) Framing() Framing { return JSON }

func (w whole) Base() string { return Base(w.Dialect) }

// AppendBody implements [Dialect].
func (w whole) AppendBody(dst []byte, r *Request) ([]byte, error) {
	one := *r
	one.Stream = false
	return w.Dialect.AppendBody(dst, &one)
}
