package perftest_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slogate/slogate/fixtures/simserver"
	"github.com/slogate/slogate/perftest"
	"github.com/stretchr/testify/require"
)

// liveT is a test under way that tells where its live page is.
type liveT struct {
	replayT
	url chan string
}

func (t *liveT) Logf(f string, a ...any) {
	if m := regexp.MustCompile(`^live page: (\S+)$`).FindStringSubmatch(fmt.Sprintf(f, a...)); m != nil {
		t.url <- m[1]
	}
}

// The page follows a run, and its button ends it as Ctrl-C does: the result is
// partial, and no other run starts.
func TestLivePageStopsTheRun(t *testing.T) {
	inResults(t)
	t.Setenv("PERFTEST_LIVE", "127.0.0.1:0")
	t.Cleanup(perftest.ForgetInterrupt)
	s := simserver.Start(t, simserver.Profile{Model: "<b>", TTFT: 2 * time.Millisecond, TPOT: time.Millisecond})
	fake := &liveT{replayT: replayT{TB: t, name: "TestLive"}, url: make(chan string, 1)}
	results := make(chan *perftest.Result, 1)
	go func() {
		results <- perftest.Run(fake, perftest.Scenario{Target: s.Target(), Workload: eight, Load: perftest.Closed{Concurrency: 2, Requests: 1_000_000}})
	}()
	url := <-fake.url
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	get := func(path string, v any) string {
		res, err := client.Get(url + path)
		require.NoError(t, err)
		defer res.Body.Close()
		data, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		if v != nil {
			require.NoError(t, json.Unmarshal(data, v))
		}
		return string(data)
	}
	var state struct {
		Runs []struct {
			Name, About string
			Simulated   bool
			Ended       bool
			Live        struct {
				Done  int      `json:"done"`
				Asked int      `json:"asked"`
				TTFT  *float64 `json:"mean_ttft_s"`
			}
			Points []struct {
				Requests *float64 `json:"requests_per_s"`
			}
			Percentiles []struct{ Name string }
		}
	}
	require.Eventually(t, func() bool {
		get("state", &state)
		return len(state.Runs) == 1 && state.Runs[0].Live.Done > 10 && len(state.Runs[0].Points) > 0
	}, time.Minute, 50*time.Millisecond)
	run := state.Runs[0]
	require.Equal(t, "TestLive", run.Name)
	require.Contains(t, run.About, "<b> at http://127.0.0.1:")
	require.True(t, run.Simulated && !run.Ended)
	require.Equal(t, 1_000_000, run.Live.Asked)
	require.Positive(t, *run.Live.TTFT)
	require.Equal(t, "p50", run.Percentiles[0].Name)

	token := regexp.MustCompile(`content="([A-Z2-7]{26})"`).FindStringSubmatch(get("", nil))[1]
	req, err := http.NewRequest("POST", url+"stop", nil)
	require.NoError(t, err)
	req.Header.Set("X-Stop-Token", token)
	res, err := client.Do(req)
	require.NoError(t, err)
	res.Body.Close()
	require.Equal(t, http.StatusNoContent, res.StatusCode)
	r := <-results
	require.Equal(t, []any{true, "interrupted"}, []any{r.Partial, r.Ended})
	require.Len(t, fake.errors, 1)
	require.Contains(t, fake.errors[0], "TestLive: interrupted after ")
	require.Equal(t, []string{"not run: interrupted"}, as(t, "TestNext", func(t testing.TB) { perftest.Run(t, perftest.Scenario{}) }))
	for len(fake.cleanups) > 0 {
		last := len(fake.cleanups) - 1
		f := fake.cleanups[last]
		fake.cleanups = fake.cleanups[:last]
		f()
	}
	_, err = client.Get(url)
	require.Error(t, err, "the page ends with its tests")
}

// An address that others reach is refused before any load; one that is taken
// costs the page alone; and a bubble has none.
func TestLivePageAddress(t *testing.T) {
	inResults(t)
	scenario := func(s *simserver.Server) perftest.Scenario {
		return perftest.Scenario{Target: s.Target(), Workload: eight, Load: perftest.Closed{Concurrency: 1, Requests: 2}}
	}
	s := simserver.Start(t, simserver.Profile{})
	t.Setenv("PERFTEST_LIVE", "0.0.0.0:0")
	errors := as(t, "TestLive", func(t testing.TB) { perftest.Run(t, scenario(s)) })
	require.Equal(t, []string{`TestLive: PERFTEST_LIVE is "0.0.0.0:0": other machines could reach it, and end the run: set it to a loopback address such as 127.0.0.1:8088; or allow it with PERFTEST_LIVE_OUTSIDE=1`}, errors)
	require.Zero(t, s.Requests())

	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	t.Setenv("PERFTEST_LIVE", l.Addr().String())
	require.Empty(t, as(t, "TestLive", func(t testing.TB) { require.Equal(t, 2, perftest.Run(t, scenario(s)).Counts.Succeeded) }))

	t.Setenv("PERFTEST_LIVE", "127.0.0.1:0")
	synctest.Test(t, func(t *testing.T) {
		s := simserver.StartPipe(t, simserver.Profile{TTFT: time.Second})
		require.Equal(t, 2, perftest.Run(t, scenario(s)).Counts.Succeeded)
	})
}
