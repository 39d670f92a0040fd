package perftest

import (
	"context"
	"net"
)

// Target is the server to measure.
type Target struct {
	// URL is the server's address with its scheme: "http://host:8000", the
	// same with "/v1", or with the whole path of the API's endpoint.
	URL string
	// API is how the server is spoken to; nil means [Chat], or the API whose
	// path the URL ends in.
	API API
	// NoStream asks for answers in one piece. They have a latency, and no
	// time to first token.
	NoStream bool
	// Model is the name to send; empty means the first that the server lists
	// under /v1/models.
	Model string
	// APIKey is sent as "Authorization: Bearer …", to [AnthropicMessages] as
	// "X-Api-Key: …"; empty sends none.
	APIKey Secret
	// Headers are sent with each request and win over the ones that are sent
	// anyhow. Their values are treated as secrets.
	Headers Headers
	// Params are further top-level fields of each body, such as
	// {"temperature": 0}. A request's own Fields win over them.
	Params map[string]any
	// MaxTokensField is the name under which the output limit is sent; empty
	// means "max_tokens". OpenAI's reasoning models want
	// "max_completion_tokens".
	MaxTokensField string
	// TLS is for https URLs; zero means the system's roots.
	TLS TLS
	// Accelerators is how many serve the model, for figures per accelerator;
	// 0 means unknown, and no such figures.
	Accelerators int
	// Labels say what the server is as far as runs have to be alike in it to be
	// compared, such as {"gpu": "H200", "engine": "vLLM 0.11.1"}: a result with
	// others is INCOMPARABLE, see [Baseline]. Leave out what a comparison is to
	// be about. They are written as they are, so nothing secret belongs there.
	Labels map[string]string
	// UsageOptional goes on with a server that does not count tokens (no usage in
	// the stream). Token rates and TPOT are then absent.
	UsageOptional bool
	// Simulated says that the server is a simulation, which every output
	// then repeats.
	Simulated bool
	// Dial opens connections in place of the network's; nil means TCP, by way
	// of the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error) `json:"-"`
}

// TLS is how an https server is trusted and what this client shows it.
type TLS struct {
	CAFile   string // PEM certificates to trust in place of the system's; empty means the system's
	CertFile string // PEM client certificate; empty means none
	KeyFile  string // PEM key of CertFile
	Insecure bool   // trust any certificate: for tests only
}
