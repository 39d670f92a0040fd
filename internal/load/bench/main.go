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
// By default all streams get their tokens on one step, as a batching server sends
// them. The parts, of which -only runs one:
//
//	paced  streams as model servers send them: CPU, memory, and errors of stamps
//	full   a server that sends all it can: events a second, CPU an event
//	burst  requests that start at once on warm connections: errors of TTFT
//	slots  a closed loop: the gap between an answer's last byte, by the server's
//	       clock, and its receipt of the slot's next request, over that of the raw
//	       client, and with results written over without
//	open   an open loop: how late requests reach the wire, over time.Sleep
//	many   (with -large) a closed loop of 4,000 streams, and what of it failed
//
// In parentheses beside a figure stands the aim for it, and an exclamation mark
// where it is missed. Figures of one run may be compared with each other, and
// with no other machine's; the ratios are what to look at, and on a machine that
// does other work only those over several runs. The whole takes under two
// minutes, with -large about four:
//
//	go run ./internal/load/bench
//	go run ./internal/load/bench -only=slots
//	go run ./internal/load/bench -large
//
// README.md says where the client stands, and what was tried to bring it there.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
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

	Kind      string // "slots" or "open": a closed or an open loop in place of the above
	Tokens    int    // of an answer of the closed loop; 0 means 1
	Writes    bool   // its records are written as a run writes them
	PerSecond int    // requests of the open loop
}

func main() {
	role := flag.String("role", "", "server or client: what the command starts itself as")
	large := flag.Bool("large", false, "also 4,000 and 10,000 streams, for some minutes more")
	spread := flag.Bool("spread", false, "give each stream a step of its own")
	seconds := flag.Float64("seconds", 3, "length of each paced run")
	only := flag.String("only", "", "paced, full, burst, slots, open or many: only that part")
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
	}{
		{"paced", b.paced}, {"full", b.full}, {"burst", b.burst}, {"slots", b.slots}, {"open", b.open}, {"many", b.many},
	} {
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
