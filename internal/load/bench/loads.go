//go:build linux

package main

import (
	"fmt"
	"slices"
	"time"
)

// turns is how often the clients of a closed or open loop are measured, one after
// the other, so that a machine that is busy for a moment disturbs them alike. Shown
// are the medians of their figures, and of the ratios within each turn.
const turns = 5

// slots has closed loops.
func (b *bench) slots() error {
	w := table("Closed loops: slot gap by the server's clock, in us. Over raw: a client that only looks for the end of the answer.")
	fmt.Fprintln(w, "slots\tclient\tgap p50\tp99\tp50 over raw\tp99 over raw\tp50 over unwritten\tp99 over unwritten\t")
	clients := []struct {
		name, client string
		writes       bool
	}{{"raw", "raw", false}, {"slogate", "slogate", false}, {"slogate, results written", "slogate", true}}
	for _, n := range []int{1, 20, 64} {
		p50, p99 := make([][]float64, len(clients)), make([][]float64, len(clients))
		for range turns {
			for i, c := range clients {
				// About 2,000 requests a second, whatever the number of slots.
				delay := max(2*time.Millisecond, time.Duration(n)*500*time.Microsecond)
				r, err := b.client(job{Kind: "slots", Client: c.client, Writes: c.writes, Streams: n, Delay: delay, For: b.length / 6})
				if err != nil {
					return err
				}
				if r.Failed > 0 {
					return fmt.Errorf("%d of %d requests failed: %s", r.Failed, r.Requests, r.Failure)
				}
				p50[i], p99[i] = append(p50[i], r.Gap.P50), append(p99[i], r.Gap.P99)
			}
		}
		for i, c := range clients {
			fmt.Fprintf(w, "%d\t%s\t%.0f\t%.0f\t", n, c.name, median(p50[i])/1e3, median(p99[i])/1e3)
			if i > 0 {
				fmt.Fprintf(w, "%s\t%.2f\t", atMost("%.2f", over(p50[i], p50[0]), 1.5), over(p99[i], p99[0]))
			}
			if i > 1 {
				fmt.Fprintf(w, "%s\t%.2f\t", atMost("%.2f", over(p50[i], p50[1]), 1.1), over(p99[i], p99[1]))
			}
			fmt.Fprintln(w)
		}
	}
	return w.Flush()
}

// over is the median of the ratios of a to b.
func over(a, b []float64) float64 {
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = a[i] / b[i]
	}
	return median(ratios)
}

func median(all []float64) float64 {
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// open has open loops, with answers of one token after 2 ms.
func (b *bench) open() error {
	w := table("Open loops at a constant rate: from the time a request was due to its first byte on the wire, in us.")
	fmt.Fprintln(w, "asked req/s\tclient\tsent req/s\tlag p50\tp99\tmax\tp50 over time.Sleep\tp99 over time.Sleep\t")
	clients := []string{"sleep", "slogate"}
	for _, rate := range []int{100, 1000, 5000} {
		var sent, p50, p99, worst [2][]float64
		for range turns {
			for i, client := range clients {
				r, err := b.client(job{Kind: "open", Client: client, Streams: 128, PerSecond: rate, Delay: 2 * time.Millisecond, For: b.length / 6})
				if err != nil {
					return err
				}
				if r.Failed > 0 {
					return fmt.Errorf("%d of %d requests failed: %s", r.Failed, r.Requests, r.Failure)
				}
				sent[i], worst[i] = append(sent[i], r.Rate), append(worst[i], r.OpenLag.Max)
				p50[i], p99[i] = append(p50[i], r.OpenLag.P50), append(p99[i], r.OpenLag.P99)
			}
		}
		for i, client := range clients {
			fmt.Fprintf(w, "%d\t%s\t%.1f\t%.0f\t%.0f\t%.0f\t", rate, client, median(sent[i]), median(p50[i])/1e3, median(p99[i])/1e3, median(worst[i])/1e3)
			ratio := fmt.Sprintf("%.2f", over(p50[i], p50[0]))
			if i == 1 && rate == 1000 {
				ratio = atMost("%.2f", over(p50[i], p50[0]), 0.15)
			}
			fmt.Fprintf(w, "%s\t%.2f\t\n", ratio, over(p99[i], p99[0]))
		}
	}
	return w.Flush()
}

// many has a closed loop of more streams than most systems let a process open
// by default, dialled at once.
func (b *bench) many() error {
	if !b.large {
		return nil
	}
	w := table("A closed loop of 4,000 streams of 40 tokens, 20 a second, with results written.")
	fmt.Fprintln(w, "streams\trequests\tmean in flight\tfailed\tKiB/stream\t")
	r, err := b.client(job{Kind: "slots", Client: "slogate", Writes: true, Streams: 4000, Tokens: 40, Rate: 20, Delay: 200 * time.Millisecond, For: 2 * b.length})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%d\t%d\t%.0f\t%s\t%.1f\t\n", 4000, r.Requests, r.Concurrency, atMost("%.0f", float64(r.Failed), 0), r.Memory)
	if r.Failed > 0 {
		fmt.Fprintf(w, "the first failure: %s\n", r.Failure)
	}
	return w.Flush()
}
