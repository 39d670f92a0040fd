//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// spread sums up some figures, in nanoseconds.
type spread struct{ Mean, P50, P99, Max float64 }

func (s spread) String() string {
	return fmt.Sprintf("%.1f\t%.1f\t%.0f", s.P50/1e3, s.P99/1e3, s.Max/1e3)
}

func spreadOf(all []int64) (s spread) {
	if len(all) == 0 {
		return s
	}
	slices.Sort(all)
	var sum float64
	for _, x := range all {
		sum += float64(x)
	}
	rank := func(p float64) float64 { return float64(all[int(math.Ceil(p*float64(len(all))))-1]) }
	return spread{Mean: sum / float64(len(all)), P50: rank(0.5), P99: rank(0.99), Max: rank(1)}
}

// result is what a client process measured of itself.
type result struct {
	CPU       float64 // us an event
	Rate      float64 // events a second
	Memory    float64 // KiB a stream
	First     spread  // arrival error of first tokens
	All       spread  // of all tokens
	ITL       spread
	Lag       spread
	Coalesced float64 // share of events
	Sent      spread  // TTFT less the one asked for
	Own       spread  // TTFT less the one the server had

	Gap         spread  // of slots
	OpenLag     spread  // from the time a request was due to its first byte
	Requests    int     // sent
	Concurrency float64 // mean requests in flight
	Failed      int
	Failure     string // the first one's message
}

// tokens is how one stream came: the true time of each write and its stamp,
// both on the machine's clock.
type tokens struct {
	sent      int64
	asked     int64 // when the server had read the request
	wrotes    []int64
	stamps    []int64
	events    int
	coalesced int
	_         [64]byte // each stream's goroutine writes its own
}

// streamer sends one request a stream and reads the answer.
type streamer interface {
	// stream sends stream i's next request.
	stream(i int, body []byte, t *tokens) error
	// expect makes room for so many tokens, and gives what that takes, in
	// bytes a stream.
	expect(all []tokens, count int) int
	lag() spread
}

func clientProcess() error {
	var j job
	if err := json.NewDecoder(os.Stdin).Decode(&j); err != nil {
		return err
	}
	r, err := j.run()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func (j job) run() (r result, err error) {
	switch j.Kind {
	case "slots":
		return r, j.slots(&r)
	case "open":
		return r, j.open(&r)
	}
	var s streamer
	base := residentKiB()
	switch j.Client {
	case "raw":
		s = newRaw(j)
	case "naive":
		s = newNaive(j)
	default:
		if s, err = newOurs(j); err != nil {
			return r, err
		}
	}
	all := make([]tokens, j.Streams)
	warm := ask{Tokens: 1, Delay: int64(10 * time.Millisecond)}
	if err := j.each(s, all, warm); err != nil { // dials
		return r, err
	}
	if j.Rounds > 0 {
		return r, j.bursts(s, all, &r)
	}
	count, times, gap := 0, 1, time.Duration(0)
	if j.Rate > 0 {
		count, gap = int(j.For.Seconds()*float64(j.Rate)), time.Second/time.Duration(j.Rate)
	} else {
		count, times = j.fullRateCount()
	}
	kept := 0
	if j.Rate > 0 {
		kept = s.expect(all, count)
	}
	runtime.GC()
	peak := make(chan float64, 1)
	time.AfterFunc(j.For*3/4, func() { peak <- residentKiB() })
	events := 0
	cpu, begun := processCPU(), time.Now()
	for range times {
		if err := j.each(s, all, ask{Tokens: count, Gap: int64(gap), Delay: int64(j.Delay)}); err != nil {
			return r, err
		}
		for i := range all {
			events += all[i].events
		}
	}
	used, took := processCPU()-cpu, time.Since(begun)
	var first, arrivals, gaps []int64
	coalesced := 0
	for i := range all {
		t := &all[i]
		coalesced += t.coalesced
		for k := range min(len(t.wrotes), len(t.stamps)) {
			off := t.stamps[k] - t.wrotes[k]
			arrivals = append(arrivals, off)
			if k == 0 {
				first = append(first, off)
				continue
			}
			off = t.stamps[k] - t.stamps[k-1] - (t.wrotes[k] - t.wrotes[k-1])
			gaps = append(gaps, max(off, -off))
		}
	}
	r.CPU = float64(used.Nanoseconds()) / 1e3 / float64(events)
	r.Rate = float64(events) / took.Seconds()
	r.First, r.All, r.ITL, r.Lag = spreadOf(first), spreadOf(arrivals), spreadOf(gaps), s.lag()
	r.Coalesced = float64(coalesced) / float64(events)
	if j.Rate > 0 {
		r.Memory = (<-peak-base)/float64(j.Streams) - float64(kept)/1024
	}
	return r, nil
}

// fullRateCount is about what the run's time suffices for, as all streams
// together get one to three million events a second: so many in an answer, of
// which each stream has some. (The client takes no answer of a million events.)
func (j job) fullRateCount() (count, answers int) {
	n := int(2e6 * j.For.Seconds() / float64(j.Streams))
	if j.Client == "naive" {
		n /= 10
	}
	const most = 1 << 18
	answers = (n + most - 1) / most
	return max(n/answers, blockOf) / blockOf * blockOf, answers
}

// each sends a request in every stream at once, and waits for the answers.
func (j job) each(s streamer, all []tokens, a ask) error {
	var wg sync.WaitGroup
	errs := make(chan error, len(all))
	a.Padding = strings.Repeat("x", 200)
	for i := range all {
		a.Stream = uint16(i)
		if j.Spread {
			a.Phase = float64(i) / float64(len(all))
		}
		body, err := json.Marshal(a)
		if err != nil {
			return err
		}
		wg.Go(func() {
			if err := s.stream(i, body, &all[i]); err != nil {
				errs <- err
			}
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// bursts repeats a burst of one-token requests.
func (j job) bursts(s streamer, all []tokens, r *result) error {
	var sent, own, first []int64
	for range j.Rounds {
		for i := range all {
			all[i] = tokens{}
		}
		if err := j.each(s, all, ask{Tokens: 1, Delay: int64(j.Delay)}); err != nil {
			return err
		}
		for i := range all {
			t := &all[i]
			ttft := t.stamps[0] - t.sent
			sent = append(sent, ttft-int64(j.Delay))
			own = append(own, ttft-(t.wrotes[0]-t.asked))
			first = append(first, t.stamps[0]-t.wrotes[0])
		}
	}
	r.Sent, r.Own, r.First = spreadOf(sent), spreadOf(own), spreadOf(first)
	return nil
}

func processCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for oneself
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func residentKiB() float64 {
	status, _ := os.ReadFile("/proc/self/status") // 0 KiB where it cannot be read
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return n
		}
	}
	return 0
}
