package perftest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/slogate/slogate/internal/promtext"
	"github.com/slogate/slogate/internal/report"
)

// The bounds of one scrape. vLLM's and SGLang's metrics are some 100 KB.
const (
	scrapeBytes   = 8 << 20
	scrapeTimeout = 2 * time.Second // a busy server may need longer than the interval: the next scrape then waits
	tryTimeout    = 10 * time.Second
)

// scraper asks a server for its metrics. Its goroutine runs from start to stop.
type scraper struct {
	cfg    ServerMetrics
	client *http.Client
	header http.Header
	clean  func(string) string // of secrets
	epoch  time.Time
	log    *serverLog

	out    *os.File // nil before start
	outErr error
	cancel context.CancelFunc
	done   chan struct{}
}

// scrapes are made with the target's TLS, proxy and dialler.
func newScraper(cfg ServerMetrics, header http.Header, tls *tls.Config, proxy func(*http.Request) (*url.URL, error),
	dial func(context.Context, string, string) (net.Conn, error), clean func(string) string, epoch time.Time) *scraper {
	h := header.Clone()
	h.Set("Accept", "text/plain;version=0.0.4;q=1,*/*;q=0.1")
	for k, v := range cfg.Headers {
		h.Set(k, v)
	}
	return &scraper{
		cfg: cfg, header: h, clean: clean, epoch: epoch, log: newServerLog(),
		client: &http.Client{
			Transport: &http.Transport{TLSClientConfig: tls, Proxy: proxy, DialContext: dial, MaxIdleConns: 1, MaxResponseHeaderBytes: 64 << 10},
			// A redirect may lead to another host, which is not to see the key.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// try asks once, before the load, so that what is wrong shows there.
func (s *scraper) try(ctx context.Context) error {
	const remedy = "start the server with its metrics on (SGLang: --enable-metrics, llama-server: --metrics), or set ServerMetrics.URL"
	kept, names := 0, map[string]bool{}
	err := s.get(ctx, tryTimeout, func(name string) bool {
		if len(names) < maxSeries {
			names[name] = true
		}
		return s.cfg.wanted(name)
	}, func(promtext.Sample) { kept++ })
	switch {
	case err != nil:
		return fmt.Errorf("ServerMetrics: GET %s: %w: %s (no load was sent)", s.shown(), err, remedy)
	case kept == 0:
		some := make([]string, 0, len(names))
		for n := range names {
			some = append(some, n)
		}
		slices.Sort(some)
		return fmt.Errorf("ServerMetrics: GET %s: none of the metrics is one of vLLM's, SGLang's or llama.cpp's: set ServerMetrics.Names to some of %s (no load was sent)",
			s.shown(), report.Escape(strings.Join(some, ", ")))
	}
	return nil
}

// start asks for the state before the load, and then again and again. Neither
// a server that hangs nor a disk that is full holds up more than the start, and
// that for the time-out of one scrape.
func (s *scraper) start(ctx context.Context, file string) {
	s.out, s.outErr = os.Create(file)
	s.scrape(ctx, scrapeBefore)
	ctx, s.cancel = context.WithCancel(ctx)
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		tick := time.NewTicker(s.cfg.Interval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				s.scrape(ctx, scrapeDuring)
			case <-ctx.Done():
				return
			}
		}
	}()
}

// stop asks for the state after the load, and says what went wrong.
func (s *scraper) stop() (warnings []string) {
	s.cancel()
	<-s.done
	s.scrape(context.Background(), scrapeAfter) // also when the run was stopped
	s.client.CloseIdleConnections()
	if s.out != nil {
		s.outErr = joinErrors(s.outErr, s.out.Close())
	}
	if s.outErr != nil {
		warnings = append(warnings, fmt.Sprintf("%s is incomplete: %v", serverFile, s.outErr))
	}
	if s.log.failed > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of %d scrapes of the server's metrics failed, the first with: %s", s.log.failed, len(s.log.scrapes)+s.log.failed, s.log.failure))
	}
	if s.log.dropped > 0 {
		warnings = append(warnings, fmt.Sprintf("%d values of the server's metrics were not kept: there are more than %d series, or %d values: set fewer ServerMetrics.Names", s.log.dropped, maxSeries, maxPoints))
	}
	return warnings
}

// close ends what keeps a connection, where the run did not begin.
func (s *scraper) close() { s.client.CloseIdleConnections() }

// scrape asks once, and keeps what comes.
func (s *scraper) scrape(ctx context.Context, when string) {
	line := serverLine{When: when}
	err := s.get(ctx, scrapeTimeout, s.cfg.wanted, func(m promtext.Sample) {
		if len(line.Samples) < maxSeries && len(m.Series()) <= maxSeriesName {
			line.Samples = append(line.Samples, serverSampleOf(m))
		} else {
			s.log.dropped++
		}
	})
	if err != nil {
		if ctx.Err() != nil {
			return // the run has ended: the next scrape is the last
		}
		line.Error, line.Samples = err.Error(), nil
	}
	line.At = Value(time.Since(s.epoch).Seconds())
	s.log.add(&line)
	if s.out != nil && s.outErr == nil {
		s.outErr = line.write(s.out)
	}
}

// get reads the metrics and hands out the wanted ones. Its errors are safe to
// show.
func (s *scraper) get(ctx context.Context, timeout time.Duration, wanted func(string) bool, add func(promtext.Sample)) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.cfg.URL, nil)
	if err != nil {
		return errors.New("the URL cannot be used")
	}
	if req.Header = s.header.Clone(); s.header.Get("Authorization") != "" {
		req.URL.User = nil
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err // without the URL, which may hold a password
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("no answer within %v", timeout)
		}
		return errors.New(s.clean(err.Error()))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, scrapeBytes+1))
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("no whole answer within %v", timeout)
	case err != nil:
		return errors.New(s.clean(err.Error()))
	case len(body) > scrapeBytes:
		return fmt.Errorf("answer of more than %d bytes", scrapeBytes)
	}
	if err = promtext.Parse(body, wanted, add); err != nil {
		return errors.New(s.clean(err.Error()))
	}
	return nil
}

// shown is the URL without what may be secret.
func (s *scraper) shown() string {
	u, err := url.Parse(s.cfg.URL)
	if err != nil {
		return redacted
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return s.clean(u.String())
}

// stopScraper ends the scrapes with the load, and puts into res what they
// gave. A run that was stopped in its warm-up has none.
func (d *driver) stopScraper(res *Result) {
	s := d.scraper
	if s == nil || s.done == nil {
		return
	}
	res.Warnings = append(res.Warnings, s.stop()...)
	res.server = s.log
	res.Server = ServerInfo{URL: s.shown(), Interval: Value(s.cfg.Interval.Seconds())}
	res.Server.fill(s.log)
}
