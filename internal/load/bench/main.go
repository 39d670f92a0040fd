//go:build linux

// Command bench measures what the client itself costs and how far its stamps
// are from the truth, over real sockets. It starts a server in a process of its
// own, which writes the time of each write (CLOCK_MONOTONIC, that of the whole
// machine) into the event, and each client in another one:
//
//	slogate  package client
//	raw      a goroutine a stream that only counts event ends: the limit
//	naive    net/http, bufio.Scanner and encoding/json: the usual client
//
// Figures of one run may be compared with each other, and with no other
// machine's. By default all streams get their tokens on one step, as a batching
// server sends them.
//
//	go run ./internal/load/bench
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"text/tabwriter"
	"time"
)

// job is what one client process does.
type job struct {
	Client  string
	Addr    string
	Streams int
	Rate    int           // tokens a second and stream; 0 means as fast as can be
	For     time.Duration // of the streams
	Delay   time.Duration // to the first token
	Spread  bool          // each stream has a step of its own
	Rounds  int           // bursts of one-token requests; 0 means one stream of Rate and For
}

func main() {
	role := flag.String("role", "", "server or client: what the command starts itself as")
	large := flag.Bool("large", false, "also 4000 streams x 20 tokens/s")
	spread := flag.Bool("spread", false, "give each stream a step of its own")
	seconds := flag.Float64("seconds", 3, "length of each paced run")
	only := flag.String("only", "", "paced, full or burst: only that part")
	flag.Parse()
	var err error
	switch *role {
	case "server":
		err = serve()
	case "client":
		err = clientProcess()
	default:
		err = all(*only, *large, *spread, time.Duration(*seconds*float64(time.Second)))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func all(only string, large, spread bool, length time.Duration) error {
	server := exec.Command(os.Args[0], "-role=server")
	server.Stderr = os.Stderr
	in, err := server.StdinPipe() // its end ends the server
	if err != nil {
		return err
	}
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() {
		in.Close()
		_ = server.Wait()
	}()
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return err
	}
	b := bench{addr: strings.TrimSpace(addr), spread: spread, length: length, large: large}
	for _, part := range []struct {
		name string
		run  func() error
	}{{"paced", b.paced}, {"full", b.full}, {"burst", b.burst}} {
		if only != "" && only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

type bench struct {
	addr   string
	spread bool
	large  bool
	length time.Duration
}

// client runs j in a process of its own.
func (b *bench) client(j job) (result, error) {
	j.Addr, j.Spread = b.addr, b.spread
	text, err := json.Marshal(j)
	if err != nil {
		return result{}, err
	}
	cmd := exec.Command(os.Args[0], "-role=client")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(text)), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return result{}, fmt.Errorf("%+v: %w", j, err)
	}
	var r result
	return r, json.Unmarshal(out, &r)
}

func table(title string) *tabwriter.Writer {
	fmt.Printf("\n%s\n", title)
	return tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// paced has streams as model servers send them.
func (b *bench) paced() error {
	w := table("Paced streams. Errors in us: arrival = stamp minus true write, of first tokens and of all; ITL = off the true gap.")
	fmt.Fprintln(w, "streams x tok/s\tclient\tCPU us/event\tover raw\tKiB/stream\tfirst p50\tp99\tmax\tall p50\tp99\tmax\tITL p50\tp99\tmax\tread lag p50\tp99\tmax\tcoalesced\t")
	cases := [][2]int{{20, 200}, {256, 100}, {1000, 50}}
	if b.large {
		cases = append(cases, [2]int{4000, 20})
	}
	for _, c := range cases {
		var raw float64
		for _, client := range []string{"raw", "naive", "slogate"} {
			r, err := b.client(job{Client: client, Streams: c[0], Rate: c[1], For: b.length, Delay: 200 * time.Millisecond})
			if err != nil {
				return err
			}
			if client == "raw" {
				raw = r.CPU
			}
			memory := "-" // what few streams take is lost in what the runtime takes
			if c[0] > 100 {
				memory = fmt.Sprintf("%.1f", r.Memory)
			}
			fmt.Fprintf(w, "%d x %d\t%s\t%.1f\t%.2f\t%s\t", c[0], c[1], client, r.CPU, r.CPU/raw, memory)
			if client != "raw" {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f %%\t", r.First, r.All, r.ITL, r.Lag, 100*r.Coalesced)
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

// full has a server that sends all it can.
func (b *bench) full() error {
	w := table("Full rate, the two cores shared with the server.")
	fmt.Fprintln(w, "streams\tclient\tM events/s\tCPU us/event\tover raw\t")
	for _, streams := range []int{1, 20, 256, 1000} {
		var raw float64
		for _, client := range []string{"raw", "naive", "slogate"} {
			r, err := b.client(job{Client: client, Streams: streams, For: b.length / 2})
			if err != nil {
				return err
			}
			if client == "raw" {
				raw = r.CPU
			}
			fmt.Fprintf(w, "%d\t%s\t%.2f\t%.2f\t%.2f\t\n", streams, client, r.Rate/1e6, r.CPU, r.CPU/raw)
		}
	}
	return w.Flush()
}

// burst has requests that start at once.
func (b *bench) burst() error {
	w := table("Bursts of requests at once on warm connections, true TTFT 50 ms. TTFT error in ms, against 50 ms and against what the server itself took; arrival error of the first token in us.")
	fmt.Fprintln(w, "requests\tclient\tTTFT mean\tp99\tserver's mean\tp99\tarrival p50\tp99\tmax\t")
	for _, n := range []int{20, 64, 256} {
		for _, client := range []string{"naive", "slogate"} {
			r, err := b.client(job{Client: client, Streams: n, Rounds: 8, Delay: 50 * time.Millisecond})
			if err != nil {
				return err
			}
			fmt.Fprintf(w, "%d\t%s\t%.2f\t%.2f\t%.2f\t%.2f\t%s\t\n", n, client, r.Sent.Mean/1e6, r.Sent.P99/1e6, r.Own.Mean/1e6, r.Own.P99/1e6, r.First)
		}
	}
	return w.Flush()
}
