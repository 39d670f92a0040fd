//go:build linux

package main

import (
	"fmt"
	"os"
	"text/tabwriter"
	"time"
)

func table(title string) *tabwriter.Writer {
	fmt.Printf("\n%s\n", title)
	return tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
}

// paced has streams as model servers send them.
func (b *bench) paced() error {
	w := table("Paced streams. Errors in us: arrival = stamp minus true write, of first tokens and of all; ITL = off the true gap.")
	fmt.Fprintln(w, "streams x tok/s\tclient\tCPU us/event\tover raw\tover naive\tKiB/stream\tfirst p50\tp99\tmax\tall p50\tp99\tmax\tITL p50\tp99\tmax\tread lag p50\tp99\tmax\tcoalesced\t")
	cases := [][2]int{{20, 200}, {256, 100}, {1000, 50}}
	if b.large {
		cases = append(cases, [2]int{4000, 20}, [2]int{10_000, 2})
	}
	for _, c := range cases {
		var raw, naive float64
		for _, client := range []string{"raw", "naive", "slogate"} {
			r, err := b.client(job{Client: client, Streams: c[0], Rate: c[1], For: b.length, Delay: 200 * time.Millisecond})
			if err != nil {
				return err
			}
			memory := "-" // what few streams take is lost in what the runtime takes
			if c[0] > 100 {
				memory = fmt.Sprintf("%.1f", r.Memory)
			}
			fmt.Fprintf(w, "%d x %d\t%s\t%.1f\t", c[0], c[1], client, r.CPU)
			switch client {
			case "raw":
				raw = r.CPU
				fmt.Fprintf(w, "1\t\t%s\t\n", memory)
				continue
			case "naive":
				naive = r.CPU
				fmt.Fprintf(w, "%.2f\t1\t%s\t%s\t%s\t%s\t", r.CPU/raw, memory, r.First, r.All, r.ITL)
			default:
				if c[0] == 10_000 {
					memory = atMost("%.1f", r.Memory, 32)
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\t", atMost("%.2f", r.CPU/raw, 1), atMost("%.2f", r.CPU/naive, 0.6), memory,
					r.First.against(15), r.All.against(20), r.ITL.against(20))
			}
			fmt.Fprintf(w, "%s\t%.2f %%\t\n", r.Lag, 100*r.Coalesced)
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
			rate, over := fmt.Sprintf("%.2f", r.Rate/1e6), fmt.Sprintf("%.2f", r.CPU/raw)
			if client == "slogate" {
				rate = atLeast("%.2f", r.Rate/1e6, 2.5)
				if streams == 20 {
					over = atMost("%.2f", r.CPU/raw, 3)
				}
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%.2f\t%s\t\n", streams, client, rate, r.CPU, over)
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
			mean := fmt.Sprintf("%.2f", r.Sent.Mean/1e6)
			if client == "slogate" {
				mean = atMost("%.2f", r.Sent.Mean/1e6, 1)
			}
			fmt.Fprintf(w, "%d\t%s\t%s\t%.2f\t%.2f\t%.2f\t%s\t\n", n, client, mean, r.Sent.P99/1e6, r.Own.Mean/1e6, r.Own.P99/1e6, r.First)
		}
	}
	return w.Flush()
}
