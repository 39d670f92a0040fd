package live

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func start(t *testing.T) (s *Server, stops *atomic.Int64) {
	t.Helper()
	stops = new(atomic.Int64)
	s, err := Start("127.0.0.1:0", func() { stops.Add(1) })
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s, stops
}

// ask sends a request and gives the answer with its body.
func ask(t *testing.T, method, url string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	require.NoError(t, err)
	if change != nil {
		change(req)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Do(req)
	require.NoError(t, err)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res, string(body)
}

// Only the page itself ends the run: not another site, not a name that leads
// here, not a link, and nobody without the page's token.
func TestStop(t *testing.T) {
	s, stops := start(t)
	_, page := ask(t, "GET", s.URL(), nil)
	token := regexp.MustCompile(`name="stop-token" content="([A-Z2-7]{26})"`).FindStringSubmatch(page)
	require.NotNil(t, token)
	origin := strings.TrimSuffix(s.URL(), "/")
	set := func(pairs ...string) func(*http.Request) {
		return func(r *http.Request) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == "Host" {
					r.Host = pairs[i+1]
				} else {
					r.Header.Set(pairs[i], pairs[i+1])
				}
			}
		}
	}
	_, port, _ := strings.Cut(strings.TrimPrefix(origin, "http://"), ":")
	for name, c := range map[string]struct {
		method string
		change func(*http.Request)
		want   int
	}{
		"the page":          {"POST", set("X-Stop-Token", token[1], "Origin", origin, "Sec-Fetch-Site", "same-origin"), 204},
		"curl":              {"POST", set("X-Stop-Token", token[1]), 204},
		"localhost":         {"POST", set("X-Stop-Token", token[1], "Host", "localhost:"+port, "Origin", "http://localhost:"+port), 204},
		"no token":          {"POST", set("Origin", origin), 403},
		"another token":     {"POST", set("X-Stop-Token", strings.Repeat("A", 26)), 403},
		"another site":      {"POST", set("X-Stop-Token", token[1], "Origin", "http://evil.example"), 403},
		"no site":           {"POST", set("X-Stop-Token", token[1], "Origin", "null"), 403},
		"across sites":      {"POST", set("X-Stop-Token", token[1], "Sec-Fetch-Site", "cross-site"), 403},
		"another port":      {"POST", set("X-Stop-Token", token[1], "Origin", "http://127.0.0.1:1"), 403},
		"a name bound here": {"POST", set("X-Stop-Token", token[1], "Host", "evil.example:"+port, "Origin", "http://evil.example:"+port), 421},
		"a link":            {"GET", set("X-Stop-Token", token[1]), 405},
	} {
		t.Run(name, func(t *testing.T) {
			before := stops.Load()
			res, _ := ask(t, c.method, s.URL()+"stop", c.change)
			require.Equal(t, c.want, res.StatusCode)
			require.Equal(t, c.want == 204, stops.Load() == before+1)
		})
	}
	res, body := ask(t, "GET", s.URL(), set("Host", "evil.example:"+port))
	require.Equal(t, 421, res.StatusCode)
	require.NotContains(t, body, token[1])
}

// The page loads nothing, runs its own script alone, and cannot be framed.
func TestPage(t *testing.T) {
	s, _ := start(t)
	res, body := ask(t, "GET", s.URL(), nil)
	require.Equal(t, "text/html; charset=utf-8", res.Header.Get("Content-Type"))
	require.Equal(t, "DENY", res.Header.Get("X-Frame-Options"))
	require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
	policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(body)
	require.NotNil(t, policy)
	require.Regexp(t, `^default-src &#39;none&#39;; connect-src &#39;self&#39;; script-src &#39;sha256-[^ ]{40,60}&#39;; style-src &#39;sha256-`, policy[1])
	require.NotRegexp(t, `(src|href)="`, body)
	require.NotContains(t, body, "innerHTML")
	res, _ = ask(t, "GET", s.URL()+"other", nil)
	require.Equal(t, 404, res.StatusCode)
}

type text string

func (s text) MarshalJSON() ([]byte, error) { return json.Marshal(string(s)) }

// The states are the latest of each run; of many, the oldest that have ended go.
func TestState(t *testing.T) {
	s, _ := start(t)
	states := func() []string {
		res, body := ask(t, "GET", s.URL()+"state", nil)
		require.Equal(t, "application/json", res.Header.Get("Content-Type"))
		var all struct{ Runs []string }
		require.NoError(t, json.Unmarshal([]byte(body), &all))
		return all.Runs
	}
	require.Empty(t, states())
	s.Put("a", false, text("a goes on"))
	for i := range mostRuns {
		s.Put(string(rune('b'+i)), true, text("ended </script>"))
	}
	s.Put("a", false, text("a still goes on"))
	all := states()
	require.Len(t, all, mostRuns)
	require.Equal(t, "a still goes on", all[0])
	require.Equal(t, "ended </script>", all[1])
}

func TestCheckAddr(t *testing.T) {
	for addr, want := range map[string][2]string{
		"127.0.0.1:0":       {"", ""},
		"localhost:8088":    {"", ""},
		"[::1]:8088":        {"", ""},
		"0.0.0.0:8088":      {"other machines could reach it", ""},
		":8088":             {"other machines could reach it", ""},
		"host.example:8088": {"other machines could reach it", ""},
		"192.168.1.2:80":    {"other machines could reach it", ""},
		"8088":              {"no host:port", "no host:port"},
	} {
		for i, outside := range []bool{false, true} {
			err := CheckAddr(addr, outside)
			if want[i] == "" {
				require.NoError(t, err, addr)
			} else {
				require.ErrorContains(t, err, want[i], addr)
			}
		}
	}
}
