// Package live serves a small page that shows how runs stand while they go on,
// with a button that ends them. The page asks for their state once a second; who
// measures only puts it there.
//
// The button ends work that may cost much, so no other web site may press it: a
// request has to name this server as its host (which a name that was bound anew to
// this address does not), to come from the page itself, and to carry the token
// that only the page knows.
package live

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slogate/slogate/internal/report/page"
)

// mostRuns is how many runs a page shows; the oldest that have ended go first.
const mostRuns = 20

// Server is the page of all runs of a process.
type Server struct {
	stop  func()
	token string
	addr  string
	http  *http.Server
	done  chan struct{} // closed when it serves no more
	page  []byte

	mu   sync.Mutex
	runs []run
}

// run is one run's state, as JSON.
type run struct {
	key   string
	ended bool
	state json.RawMessage
}

// CheckAddr refuses an address that is no host and port, and one that other
// machines reach, unless outside says that they may.
func CheckAddr(addr string, outside bool) error {
	host, _, err := net.SplitHostPort(addr)
	switch {
	case err != nil:
		return fmt.Errorf("it is no host:port: set it to one such as 127.0.0.1:8088")
	case outside || host == "localhost":
		return nil
	}
	if ip, err := netip.ParseAddr(host); err != nil || !ip.IsLoopback() {
		return fmt.Errorf("other machines could reach it, and end the run: set it to a loopback address such as 127.0.0.1:8088")
	}
	return nil
}

// Start serves at an address that [CheckAddr] has taken; port 0 is a free one.
// The button calls stop, perhaps more than once.
func Start(addr string, stop func()) (*Server, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{stop: stop, token: rand.Text(), addr: l.Addr().String(), done: make(chan struct{})}
	if s.page, err = render(s.token); err != nil {
		l.Close()
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.servePage)
	mux.HandleFunc("GET /state", s.serveState)
	mux.HandleFunc("POST /stop", s.serveStop)
	s.http = &http.Server{Handler: s.guard(mux), ReadTimeout: 5 * time.Second, WriteTimeout: 5 * time.Second, IdleTimeout: 30 * time.Second, MaxHeaderBytes: 16 << 10}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l)
	}()
	return s, nil
}

// URL is where the page is.
func (s *Server) URL() string { return "http://" + s.addr + "/" }

// Put shows the state of a run, which marshals itself as JSON, in the place of
// the one before.
func (s *Server) Put(key string, ended bool, state json.Marshaler) {
	data, err := state.MarshalJSON()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.runs, func(r run) bool { return r.key == key })
	if i < 0 {
		s.runs = append(s.runs, run{key: key})
		i = len(s.runs) - 1
	}
	s.runs[i].ended, s.runs[i].state = ended, data
	if len(s.runs) > mostRuns {
		if old := slices.IndexFunc(s.runs, func(r run) bool { return r.ended }); old >= 0 {
			s.runs = slices.Delete(s.runs, old, old+1)
		}
	}
}

// Close ends the serving at once, and waits for it.
func (s *Server) Close() {
	_ = s.http.Close()
	<-s.done
}

// guard answers only who asks this server by its address.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		if !s.names(r.Host) {
			http.Error(w, "this is not the host that was asked for", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// names reports whether a host of a request is this server: an address, or
// localhost, with its port. A name of another's could lead here as well.
func (s *Server) names(host string) bool {
	name, port, err := net.SplitHostPort(host)
	_, mine, _ := net.SplitHostPort(s.addr)
	if err != nil {
		name, port = host, "80"
	}
	if port != mine {
		return false
	}
	_, err = netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil || name == "localhost"
}

func (s *Server) servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write(s.page)
}

func (s *Server) serveState(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	states := make([]json.RawMessage, len(s.runs))
	for i, r := range s.runs {
		states[i] = r.state
	}
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"runs": states})
}

func (s *Server) serveStop(w http.ResponseWriter, r *http.Request) {
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	token := []byte(r.Header.Get("X-Stop-Token"))
	switch {
	case origin != "" && origin != "http://"+r.Host, site != "" && site != "same-origin",
		subtle.ConstantTimeCompare(token, []byte(s.token)) != 1:
		http.Error(w, "only the page itself may end the run", http.StatusForbidden)
		return
	}
	s.stop()
	w.WriteHeader(http.StatusNoContent)
}

//go:embed assets/live.html
var pageHTML string

//go:embed assets/live.js
var pageJS string

//go:embed assets/live.css
var pageCSS string

var layout = template.Must(template.New("live").Parse(pageHTML))

// render makes the page, whose policy lets nothing run but its own script, and
// that speak to nobody but this server.
func render(token string) ([]byte, error) {
	style := page.Style() + "\n" + pageCSS
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var b bytes.Buffer
	err := layout.Execute(&b, struct {
		Policy, Token string
		Style         template.CSS
		Script        template.JS
	}{"default-src 'none'; connect-src 'self'; script-src " + hash(pageJS) + "; style-src " + hash(style) + "; base-uri 'none'; form-action 'none'",
		token, template.CSS(style), template.JS(pageJS)})
	return b.Bytes(), err
}
